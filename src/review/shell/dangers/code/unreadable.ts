import { hidesSomething } from "../../../../contract/unprintable.ts";
import type { Rule } from "../rule.ts";

/** Can't be taken apart in full. */
export const unreadable: Rule = { rule: "unreadable", testWhole: ({ problems }) => problems };

/** Shows less than there is. */
export const hidden: Rule = {
  rule: "hidden",
  testWhole: ({ source }) => (hidesSomething(source) ? "has characters that do not show" : undefined),
};
