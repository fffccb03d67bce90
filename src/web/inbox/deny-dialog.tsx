import { useSignal } from "@preact/signals";
import { useState } from "preact/hooks";
import { MAX_MESSAGE_CHARS } from "../../contract/values.ts";
import { useUser } from "../context.ts";
import { Dialog } from "../shared/elements/dialog.tsx";
import { RememberFields } from "./remember-fields.tsx";

/** Asks for the reason, which the agent reads, and whether to deny such calls from now on. */
export function DenyDialog() {
  const { requests, deciding } = useUser();
  const { deny, dialog, isDeciding, targets, canRemember, remembering, rule } = deciding;
  const reason = useSignal("");
  const interrupt = useSignal(false);
  const isRemembered = useSignal(false);
  const refusal = useSignal("");
  // The requests for which the dialog was opened, whatever happens to them meanwhile.
  const [chosen] = useState(targets);
  const [mayRemember] = useState(canRemember);
  const count = chosen.length;
  const isIncomplete = isRemembered.value && !rule.value?.match.trim();
  const submit = async (event: Event) => {
    event.preventDefault();
    if (!isIncomplete) refusal.value = (await deny(chosen, reason.value.trim(), interrupt.value)) ?? "";
  };
  const submitByKey = (event: KeyboardEvent) => {
    if (event.key === "Enter" && !event.shiftKey && !event.isComposing) void submit(event);
  };
  const remember = async (isWanted: boolean) => {
    isRemembered.value = isWanted;
    const [approval] = chosen;
    if (!isWanted || !approval) return remembering.leave();
    const review = await requests.reviews.review(approval);
    if (isRemembered.peek() && dialog.peek() === "deny") remembering.begin(review.approval, "deny");
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
        {mayRemember && (
          <label class="check">
            <input
              type="checkbox"
              checked={isRemembered}
              onChange={({ currentTarget }) => void remember(currentTarget.checked)}
            />
            Deny and remember: such calls are denied from now on, with the same reason
          </label>
        )}
        {isRemembered.value && rule.value && (
          <RememberFields rule={rule.value} refusal={refusal.value} onChange={() => (refusal.value = "")} />
        )}
        <div class="dialog-actions">
          <button type="submit" class="button danger" disabled={isDeciding.value || isIncomplete}>
            {isRemembered.value ? "Deny and remember" : "Deny"} <kbd>↵</kbd>
          </button>
          <button type="button" class="button" onClick={() => (dialog.value = "none")}>
            Cancel
          </button>
        </div>
      </form>
    </Dialog>
  );
}
