import { JsonObject } from "../../contract/values.ts";
import { applyEdit, type Edited } from "../../review/edit.ts";

/** What the person has typed in place of this input, to be sent, checked as the server will check it; reasons follow "it". */
export function editedInput(text: string, original: JsonObject): Edited {
  const invalid = (reason = ""): Edited => ({ kind: "invalid", reason });
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (cause) {
    return invalid(`is not valid JSON: ${cause instanceof Error ? cause.message : cause}`);
  }
  const { data: input, error } = JsonObject.safeParse(value);
  if (!input) return invalid(error?.issues[0]?.message);
  const edited = applyEdit(original, input, false);
  // As it was typed: the server takes a key out only where it is told to.
  return edited.kind === "invalid" ? edited : { kind: "input", input };
}

/** The same input with another command, all else as it was. */
export function editedCommand(command: string, original: JsonObject): Edited {
  if (command.trim() === "") return { kind: "invalid", reason: "is empty" };
  return { kind: "input", input: { ...original, command } };
}
