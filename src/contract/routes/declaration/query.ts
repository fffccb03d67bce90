import { z } from "zod";

const YES = ["true", "1", "yes", "on", "y", "enabled"];
const NO = ["false", "0", "no", "off", "n", "disabled"];

/** A number in a query, which is text there. `z.coerce` would bring every other coercion into the page's bundle. */
export function queryNumber(): z.ZodNumber {
  return new z.ZodNumber({ type: "number", coerce: true, checks: [] });
}

/** Yes or no in a query, in the words of `z.stringbool`, which would bring its encoder into the page's bundle. */
export function queryFlag() {
  return z.string().transform((text, context) => {
    const word = text.toLowerCase();
    if (YES.includes(word)) return true;
    if (NO.includes(word)) return false;
    context.issues.push({
      code: "invalid_value",
      values: [...YES, ...NO],
      input: text,
      message: "must be true or false",
    });
    return z.NEVER;
  });
}
