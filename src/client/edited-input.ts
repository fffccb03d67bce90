import { Decision } from "../contract/approvals/approval.ts";
import { JsonObject } from "../contract/values.ts";

/** An input that can be sent, or why it can't be, in words that follow "it". */
export type EditedInput = { kind: "input"; input: JsonObject } | { kind: "invalid"; reason: string };

/** What the person has typed as the input of a request, checked as the server will check it. */
export function editedInput(text: string): EditedInput {
  const invalid = (reason = ""): EditedInput => ({ kind: "invalid", reason });
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (cause) {
    return invalid(`is not valid JSON: ${cause instanceof Error ? cause.message : cause}`);
  }
  const { data: input, error } = JsonObject.safeParse(value);
  if (!input) return invalid(error?.issues[0]?.message);
  const refused = Decision.safeParse({ approve: true, updated_input: input }).error;
  return refused ? invalid(refused.issues[0]?.message) : { kind: "input", input };
}
