import { z } from "zod";
import { fitting, listedChars } from "../../contract/fit.ts";
import { Id } from "../../contract/values.ts";

const MAX_BYTES = 8 * 1024 * 1024;

/** A page, newest first, beginning after the cursor of the one before. */
export const PageQuery = z.strictObject({
  limit: z.coerce.number().int().min(1).max(1000).default(100),
  cursor: Id.optional(),
});

/** As many from the front as one answer should hold; the first one always. */
export function onOnePage<T>(items: T[]): T[] {
  return fitting(items, MAX_BYTES, listedChars);
}
