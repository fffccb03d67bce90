import { useSignal } from "@preact/signals";
import type { Rule, RuleDecision } from "../../contract/rules/rule.ts";
import { useUser } from "../context.ts";
import { Dialog } from "../shared/elements/dialog.tsx";
import { Visible } from "../shared/elements/visible.tsx";
import { reasonOf } from "../shared/reason.ts";
import { DecisionBadge } from "./decision-badge.tsx";

const THEN: Record<RuleDecision, string> = {
  allow: "Calls that it allows need approval again, unless another rule decides them.",
  ask: "Calls that it asks about may run without asking, if another rule allows them.",
  deny: "Calls that it denies need approval again, or may run if another rule allows them.",
};

export function RemoveDialog({ rule, onClose }: { rule: Rule; onClose: () => void }) {
  const { remove } = useUser().rules;
  const problem = useSignal("");
  const submit = async (event: Event) => {
    event.preventDefault();
    await remove(rule.id).then(onClose, (cause) => {
      problem.value = reasonOf(cause);
    });
  };
  return (
    <Dialog title="Remove this rule?" onClose={onClose}>
      <form onSubmit={submit}>
        <p class="rule-head">
          <DecisionBadge decision={rule.decision} />
          <code class="match-text">
            <Visible text={rule.match} />
          </code>
        </p>
        <p>{THEN[rule.decision]} What it has decided stays on record.</p>
        <p class="problem" role="alert">
          {problem}
        </p>
        <div class="dialog-actions">
          <button type="submit" class="button danger">
            Remove
          </button>
          <button type="button" class="button" onClick={onClose}>
            Cancel
          </button>
        </div>
      </form>
    </Dialog>
  );
}
