import { JsonObject } from "../../contract/values.ts";
import { applyEdit, type Edited } from "../../review/edit.ts";

/** Parses an input that the person has edited, checking it as the server will; the reasons follow "it". */
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
  // Return it as typed, with its null values, by which the server removes keys.
  return edited.kind === "invalid" ? edited : { kind: "input", input };
}

/** Returns the input with another command and everything else unchanged. */
export function editedCommand(command: string, original: JsonObject): Edited {
  if (command.trim() === "") return { kind: "invalid", reason: "is empty" };
  return { kind: "input", input: { ...original, command } };
}
