import { useSignal } from "@preact/signals";
import { useEffect } from "preact/hooks";
import { MAX_UPDATED_INPUT_CHARS } from "../../contract/approvals/approval.ts";
import { isJsonObject, type JsonObject } from "../../contract/values.ts";
import { useUser } from "../context.ts";
import { Dialog } from "../shared/elements/dialog.tsx";
import { reasonOf } from "../shared/reason.ts";
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
  const parsed = parseInput(text.value);
  const submit = (event: Event) => {
    event.preventDefault();
    if (typeof parsed !== "string") void allowEdited(parsed);
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
          aria-invalid={typeof parsed === "string"}
          value={text}
          onInput={({ currentTarget }) => {
            text.value = currentTarget.value;
            disarm();
          }}
        />
        <p id="input-problem" class="problem" role="status">
          {typeof parsed === "string" ? parsed : ""}
        </p>
        <ArmedNote />
        <div class="dialog-actions">
          <button
            type="submit"
            class={armed.value ? "button danger" : "button primary"}
            disabled={isDeciding.value || typeof parsed === "string"}
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

/** The object, or what is wrong with it. */
function parseInput(text: string): JsonObject | string {
  try {
    const value: unknown = JSON.parse(text);
    if (!isJsonObject(value)) return "It must be a JSON object.";
    if (Object.keys(value).length === 0) return "It must not be empty: an empty one would run the original input.";
    const size = JSON.stringify(value).length;
    if (size > MAX_UPDATED_INPUT_CHARS) {
      return `Claude Code takes ${MAX_UPDATED_INPUT_CHARS.toLocaleString()} characters at most, and this has ${size.toLocaleString()}: deny it, and say what to change.`;
    }
    return value;
  } catch (cause) {
    return text === "" ? "" : `This is not JSON yet: ${reasonOf(cause)}`;
  }
}
