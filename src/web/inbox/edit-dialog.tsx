import { useSignal } from "@preact/signals";
import { useEffect } from "preact/hooks";
import { editedInput } from "../../client/edited-input.ts";
import type { JsonObject } from "../../contract/values.ts";
import { useUser } from "../context.ts";
import { Dialog } from "../shared/elements/dialog.tsx";
import { ArmedNote } from "./request-card.tsx";

/** The input as JSON, to be allowed as it is then. */
export function EditDialog() {
  const { requests, deciding } = useUser();
  const { allowEdited, armed, dialog, disarm, isDeciding } = deciding;
  const text = useSignal("");
  const item = requests.selected.value;
  useEffect(() => {
    const show = (input: JsonObject) => (text.value = JSON.stringify(input, null, 2));
    if (item) void requests.reviews.review(item.approval).then(({ approval }) => show(approval.input));
  }, [item?.approval.id]);
  const edited = editedInput(text.value);
  const isInvalid = edited.kind === "invalid";
  const submit = (event: Event) => {
    event.preventDefault();
    if (!isInvalid) void allowEdited(edited.input);
  };
  return (
    <Dialog title="Edit the input, and allow it" onClose={() => (dialog.value = "none")}>
      <form onSubmit={submit}>
        <label for="input">Input as JSON</label>
        <textarea
          id="input"
          class="json"
          rows={14}
          spellcheck={false}
          aria-describedby="input-problem"
          aria-invalid={isInvalid}
          value={text}
          onInput={({ currentTarget }) => {
            text.value = currentTarget.value;
            disarm();
          }}
        />
        <p id="input-problem" class="problem" role="status">
          {isInvalid && text.value !== "" && `It ${edited.reason}.`}
        </p>
        <ArmedNote />
        <div class="dialog-actions">
          <button
            type="submit"
            class={armed.value ? "button danger" : "button primary"}
            disabled={isDeciding.value || isInvalid}
          >
            {armed.value ? "Allow anyway" : "Allow as edited"}
          </button>
          <button type="button" class="button" onClick={() => (dialog.value = "none")}>
            Cancel
          </button>
        </div>
      </form>
    </Dialog>
  );
}
