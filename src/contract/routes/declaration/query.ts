import { z } from "zod";

const YES = ["true", "1", "yes", "on", "y", "enabled"];
const NO = ["false", "0", "no", "off", "n", "disabled"];

/** A number in a query, where it arrives as text. `z.coerce` would add every other coercion to the page's bundle. */
export function queryNumber(): z.ZodNumber {
  return new z.ZodNumber({ type: "number", coerce: true, checks: [] });
}

/** A boolean in a query, accepting the words of `z.stringbool`, which would add its encoder to the page's bundle. */
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
