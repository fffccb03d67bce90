import { useSignal } from "@preact/signals";
import { useUser } from "../context.ts";
import { Dialog } from "../shared/elements/dialog.tsx";
import { visibleText } from "../shared/elements/visible.tsx";
import { RememberFields } from "./remember-fields.tsx";
import { ArmedNote } from "./request-card.tsx";

/** Allows a request, and similar calls from now on. */
export function RememberDialog() {
  const { allowRemembered, armed, dialog, disarm, isDeciding, rule: current } = useUser().deciding;
  const refusal = useSignal("");
  const rule = current.value;
  if (!rule) return null;
  const { approval } = rule;
  const submit = async (event: Event) => {
    event.preventDefault();
    refusal.value = (await allowRemembered()) ?? "";
  };
  const change = () => {
    refusal.value = "";
    disarm();
  };
  return (
    <Dialog
      title={`Allow ${visibleText(approval.tool_name)} of ${approval.session_name}, and remember it`}
      onClose={() => (dialog.value = "none")}
    >
      <form onSubmit={submit}>
        <RememberFields rule={rule} refusal={refusal.value} onChange={change} />
        <ArmedNote />
        <div class="dialog-actions">
          <button
            type="submit"
            class={armed.value ? "button danger" : "button primary"}
            disabled={isDeciding.value || rule.match.trim() === ""}
          >
            {armed.value ? "Allow and remember anyway" : "Allow and remember"}
          </button>
          <button type="button" class="button" onClick={() => (dialog.value = "none")}>
            Cancel
          </button>
        </div>
      </form>
    </Dialog>
  );
}
