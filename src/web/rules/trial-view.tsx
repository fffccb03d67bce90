import { useSignal } from "@preact/signals";
import { useEffect } from "preact/hooks";
import type { RuleTrial } from "../../client/deciding/remember.ts";
import type { Approval } from "../../contract/approvals/approval.ts";
import { getApproval } from "../../contract/routes/approvals.ts";
import type { Contradiction, RuleTested } from "../../contract/rules/history-test.ts";
import { summaryOf } from "../../review/kinds.ts";
import { usePage } from "../context.ts";
import { DecisionDialog } from "../history/decision-dialog.tsx";
import { StatusBadge } from "../shared/elements/status-badge.tsx";
import { visibleText } from "../shared/elements/visible.tsx";
import { linkTo } from "../shared/route.ts";

const SHOWN = 8;
const SUMMARY_CHARS = 120;

/** What a rule would have decided in the past, and each decision that it contradicts. */
export function TrialView({ state }: { state: RuleTrial }) {
  return (
    <div class="trial" role="status">
      {state.kind === "trying" && <p class="note">Trying it on past requests…</p>}
      {state.kind === "tried" && <Tested tested={state.tested} />}
    </div>
  );
}

function Tested({ tested }: { tested: RuleTested }) {
  const { decided, contradictions, has_more, note } = tested;
  const shown = contradictions.slice(0, SHOWN);
  const more = contradictions.length - shown.length;
  return (
    <>
      <p class={contradictions.length > 0 ? "verdict otherwise" : "verdict"}>{wordsFor(tested)}</p>
      {shown.length > 0 && (
        <ul class="contradictions">
          {shown.map((one) => (
            <ContradictionView key={one.approval_id} contradiction={one} />
          ))}
        </ul>
      )}
      {(more > 0 || has_more) && (
        <p class="note">
          and {more}
          {has_more ? " or more" : ""} others
        </p>
      )}
      {decided === 0 && <p class="note">It may still decide requests to come.</p>}
      {note !== undefined && <p class="verdict limits">{note}</p>}
    </>
  );
}

function wordsFor({ decided, contradictions, has_more, tested }: RuleTested): string {
  const of = tested === undefined ? "past requests" : `${tested.toLocaleString()} past requests`;
  if (decided === 0) return tested === 0 ? "There are no past requests to try it on." : `It matches none of ${of}.`;
  const would = `It would have decided ${decided.toLocaleString()} of ${of}`;
  const others = `${contradictions.length}${has_more ? " or more" : ""}`;
  return contradictions.length === 0
    ? `${would}, none otherwise than somebody did.`
    : `${would}, ${others} of them otherwise than somebody did:`;
}

/** Opens the decision over the form: leaving the page would lose the form's content. */
function ContradictionView({ contradiction: { approval_id, was } }: { contradiction: Contradiction }) {
  const { api } = usePage();
  const found = useSignal<Approval | undefined>(undefined);
  const isOpen = useSignal(false);
  useEffect(() => {
    const answer = api.call(getApproval, { params: { id: approval_id } });
    void answer.then(({ approval }) => (found.value = approval)).catch(() => undefined);
  }, [approval_id]);
  const approval = found.value;
  const open = (event: MouseEvent) => {
    if (!approval || event.ctrlKey || event.metaKey || event.shiftKey) return;
    event.preventDefault();
    isOpen.value = true;
  };
  return (
    <li>
      <StatusBadge status={was} />
      <a href={linkTo.decision(approval_id)} onClick={open}>
        {approval ? wordsOf(approval) : `decision ${approval_id}`}
      </a>
      {isOpen.value && approval && <DecisionDialog listed={approval} onClose={() => (isOpen.value = false)} />}
    </li>
  );
}

function wordsOf(approval: Approval): string {
  const summary = visibleText(summaryOf(approval).slice(0, SUMMARY_CHARS)).replaceAll("\n", " ⏎ ");
  return `${visibleText(approval.tool_name)} ${summary}`;
}
