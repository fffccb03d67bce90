import type { ApprovalRow } from "../approvals.ts";

/** The texts of a decision that a search looks at; inputs as JSON, as they are stored. */
export type SearchedTexts = Pick<
  ApprovalRow,
  "toolName" | "sessionName" | "status" | "responseMessage" | "resolvedBy"
> & { input: string; updatedInput: string | null };

/**
 * Returns a function that tells whether a decision contains the text, ignoring case; in inputs it searches the values,
 * not the keys.
 */
export function createTextSearch(search: string): (texts: SearchedTexts) => boolean {
  const wanted = search.toLowerCase();
  // The text as it appears inside of a JSON string.
  const escaped = JSON.stringify(search).slice(1, -1).toLowerCase();
  const isIn = (text: string | null) => text?.toLowerCase().includes(wanted) === true;
  const isInJson = (json: string | null) =>
    json?.toLowerCase().includes(escaped) === true && isInValue(JSON.parse(json), isIn);
  return ({ toolName, sessionName, responseMessage, resolvedBy, input, updatedInput }) =>
    [toolName, sessionName, responseMessage, resolvedBy].some(isIn) || isInJson(input) || isInJson(updatedInput);
}

function isInValue(value: unknown, isIn: (text: string) => boolean): boolean {
  if (typeof value !== "object" || value === null) return isIn(String(value));
  return Object.values(value).some((one) => isInValue(one, isIn));
}
