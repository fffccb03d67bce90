import { useSignal } from "@preact/signals";
import { useEffect } from "preact/hooks";
import { editedCommand, editedInput } from "../../client/deciding/edited-input.ts";
import type { Approval } from "../../contract/approvals/approval.ts";
import type { JsonObject } from "../../contract/values.ts";
import { kindOf } from "../../review/kinds.ts";
import { useUser } from "../context.ts";
import { Dialog } from "../shared/elements/dialog.tsx";
import { RememberFields } from "./remember-fields.tsx";
import { ArmedNote } from "./request-card.tsx";

/** Edits the input before allowing it: a command as plain text, anything else as JSON. */
export function EditDialog() {
  const { requests, deciding } = useUser();
  const { allowEdited, armed, dialog, disarm, isDeciding, rememberEdited, remembering, rule } = deciding;
  const text = useSignal("");
  const original = useSignal<JsonObject>({});
  /** Whether the input is a command, edited as plain text instead of JSON. */
  const isCommand = useSignal(false);
  const isRemembered = useSignal(false);
  /** Why there can be no rule, or why the server refused it. */
  const problem = useSignal("");
  const item = requests.selected.value;
  useEffect(() => {
    const show = (approval: Approval) => {
      const kind = kindOf(approval);
      original.value = approval.input;
      isCommand.value = kind.kind === "command";
      text.value = kind.kind === "command" ? kind.command : JSON.stringify(approval.input, null, 2);
    };
    if (item) void requests.reviews.review(item.approval).then(({ approval }) => show(approval));
  }, [item?.approval.id]);
  const edited = isCommand.value ? editedCommand(text.value, original.value) : editedInput(text.value, original.value);
  const isInvalid = edited.kind === "invalid";
  const isIncomplete = isRemembered.value && !rule.value?.match.trim();
  const submit = async (event: Event) => {
    event.preventDefault();
    if (edited.kind === "input" && !isIncomplete) problem.value = (await allowEdited(edited.input)) ?? "";
  };
  const forget = () => {
    isRemembered.value = false;
    problem.value = "";
    remembering.leave();
  };
  const remember = async (isWanted: boolean) => {
    forget();
    if (!isWanted || edited.kind !== "input") return;
    isRemembered.value = true;
    const why = await rememberEdited(edited.input, () => isRemembered.peek());
    if (why === undefined) return;
    isRemembered.value = false;
    problem.value = why;
  };
  return (
    <Dialog title="Edit the input, and allow it" onClose={() => (dialog.value = "none")}>
      <form onSubmit={submit}>
        <label for="input">{isCommand.value ? "Command" : "Input as JSON"}</label>
        <textarea
          id="input"
          class="json"
          rows={isCommand.value ? 6 : 14}
          spellcheck={false}
          aria-describedby="input-problem"
          aria-invalid={isInvalid}
          value={text}
          onInput={({ currentTarget }) => {
            text.value = currentTarget.value;
            // The rule was for the earlier text.
            forget();
            disarm();
          }}
        />
        <p id="input-problem" class="problem" role="status">
          {edited.kind === "invalid" && text.value !== "" && `It ${edited.reason}.`}
        </p>
        <label class="check">
          <input
            type="checkbox"
            disabled={isInvalid}
            checked={isRemembered}
            onChange={({ currentTarget }) => void remember(currentTarget.checked)}
          />
          Allow and remember: such calls as it is now are allowed from now on
        </label>
        {isRemembered.value && rule.value && (
          <RememberFields
            rule={rule.value}
            refusal={problem.value}
            onChange={() => {
              problem.value = "";
              disarm();
            }}
          />
        )}
        {!isRemembered.value && problem.value !== "" && (
          <p class="problem" role="status">
            {problem}
          </p>
        )}
        <ArmedNote />
        <div class="dialog-actions">
          <button
            type="submit"
            class={armed.value ? "button danger" : "button primary"}
            disabled={isDeciding.value || isInvalid || isIncomplete}
          >
            {labelOf(isRemembered.value, armed.value !== undefined)}
          </button>
          <button type="button" class="button" onClick={() => (dialog.value = "none")}>
            Cancel
          </button>
        </div>
      </form>
    </Dialog>
  );
}

function labelOf(isRemembered: boolean, isArmed: boolean): string {
  if (isRemembered) return isArmed ? "Allow and remember anyway" : "Allow as edited and remember";
  return isArmed ? "Allow anyway" : "Allow as edited";
}
