import { hasInvisibleCharacters } from "../../../../contract/text/unprintable.ts";
import type { Rule } from "../rule.ts";

/** Can't be parsed or checked completely. */
export const unreadable: Rule = { rule: "unreadable", testAll: ({ problems }) => problems };

/** Has invisible characters. */
export const hidden: Rule = {
  rule: "hidden",
  testAll: ({ source }) => (hasInvisibleCharacters(source) ? "has invisible characters" : undefined),
};
