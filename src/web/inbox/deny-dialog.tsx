import { useSignal } from "@preact/signals";
import { useState } from "preact/hooks";
import { MAX_MESSAGE_CHARS } from "../../contract/approvals/approval.ts";
import { useUser } from "../context.ts";
import { Dialog } from "../shared/elements/dialog.tsx";

/** Asks for the reason, which the agent reads. */
export function DenyDialog() {
  const { deny, dialog, isDeciding, targets } = useUser().deciding;
  const reason = useSignal("");
  const interrupt = useSignal(false);
  // Those that the dialog was opened for, whatever becomes of them meanwhile.
  const [chosen] = useState(targets);
  const count = chosen.length;
  const submit = (event: Event) => {
    event.preventDefault();
    void deny(chosen, reason.value.trim(), interrupt.value);
  };
  const submitByKey = (event: KeyboardEvent) => {
    if (event.key === "Enter" && !event.shiftKey && !event.isComposing) submit(event);
  };
  return (
    <Dialog title={count > 1 ? `Deny ${count} requests` : "Deny this request"} onClose={() => (dialog.value = "none")}>
      <form onSubmit={submit}>
        <label for="reason">Reason (shown to the agent): say what to do instead</label>
        <textarea
          id="reason"
          rows={3}
          maxLength={MAX_MESSAGE_CHARS}
          value={reason}
          onInput={({ currentTarget }) => (reason.value = currentTarget.value)}
          onKeyDown={submitByKey}
        />
        <label class="check">
          <input
            type="checkbox"
            checked={interrupt}
            onChange={({ currentTarget }) => (interrupt.value = currentTarget.checked)}
          />
          Also end the agent's turn
        </label>
        <div class="dialog-actions">
          <button type="submit" class="button danger" disabled={isDeciding}>
            Deny <kbd>↵</kbd>
          </button>
          <button type="button" class="button" onClick={() => (dialog.value = "none")}>
            Cancel
          </button>
        </div>
      </form>
    </Dialog>
  );
}
