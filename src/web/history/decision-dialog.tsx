import { useSignal } from "@preact/signals";
import { useEffect } from "preact/hooks";
import type { Approval } from "../../contract/approvals/approval.ts";
import { getApproval } from "../../contract/routes/approvals.ts";
import { duration } from "../../contract/text/duration.ts";
import { answersIn, INPUT_REMOVED } from "../../review/kinds.ts";
import { usePage } from "../context.ts";
import { CallBody } from "../shared/call/call-body.tsx";
import { moment } from "../shared/clock.ts";
import { DecidedByView } from "../shared/elements/decided-by.tsx";
import { Dialog } from "../shared/elements/dialog.tsx";
import { Dangers, WorkingDir } from "../shared/elements/judged.tsx";
import { LongText } from "../shared/elements/long-text.tsx";
import { StatusBadge } from "../shared/elements/status-badge.tsx";
import { Visible, visibleText } from "../shared/elements/visible.tsx";
import { reasonOf } from "../shared/reason.ts";

/** The decision that the address links to. */
export function LinkedDecision({ id, onClose }: { id: string; onClose: () => void }) {
  const { api, announcer } = usePage();
  const found = useSignal<Approval | undefined>(undefined);
  useEffect(() => {
    const fail = (cause: unknown) => {
      announcer.complain(`This decision can't be shown: ${reasonOf(cause)}`);
      onClose();
    };
    api.call(getApproval, { params: { id } }).then(({ approval }) => (found.value = approval), fail);
  }, []);
  return found.value ? <DecisionDialog listed={found.value} onClose={onClose} /> : null;
}

/** A decision in full, with its request. */
export function DecisionDialog({ listed, onClose }: { listed: Approval; onClose: () => void }) {
  const { api } = usePage();
  const whole = useSignal(listed);
  useEffect(() => {
    const answer = api.call(getApproval, { params: { id: listed.id } });
    void answer.then(({ approval }) => (whole.value = approval)).catch(() => undefined);
  }, [listed.id]);
  const approval = whole.value;
  const answers = answersIn(approval);
  return (
    <Dialog title={`${visibleText(approval.tool_name)} of ${approval.session_name}`} isRead onClose={onClose}>
      <p class="decided">
        <StatusBadge status={approval.status} /> by <DecidedByView by={approval.resolved_by ?? ""} isLong />
        {approval.resolved_at &&
          `, ${moment(approval.resolved_at)}, ${duration(approval.resolved_at - approval.created_at)} after the request`}
      </p>
      {approval.response_message && (
        <p class="reason">
          <Visible text={approval.response_message} />
        </p>
      )}
      {answers.length > 0 && (
        <dl class="answers">
          {answers.map(({ question, answer }) => (
            <div key={question}>
              <dt>
                <Visible text={question} />
              </dt>
              <dd>
                <Visible text={answer} />
              </dd>
            </div>
          ))}
        </dl>
      )}
      <Dangers reasons={(approval.dangers ?? []).map(({ text }) => text)} />
      {answers.length === 0 && <CallBody approval={approval} context={undefined} />}
      <WorkingDir path={approval.cwd ?? null} />
      {answers.length === 0 && approval.updated_input && (
        <>
          <h3>It ran with this instead</h3>
          {approval.input_removed_at === undefined ? (
            <LongText text={JSON.stringify(approval.updated_input, null, 2)} label="The input that it ran with" />
          ) : (
            <p class="note">{INPUT_REMOVED}</p>
          )}
        </>
      )}
      <form method="dialog" class="dialog-actions">
        <button type="submit" class="button">
          Close
        </button>
      </form>
    </Dialog>
  );
}
