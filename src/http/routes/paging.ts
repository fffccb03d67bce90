import { z } from "zod";
import { Id } from "../../contract/values.ts";

const MAX_BYTES = 8 * 1024 * 1024;

/** A page, newest first, beginning after the cursor of the one before. */
export const PageQuery = z.strictObject({
  limit: z.coerce.number().int().min(1).max(1000).default(100),
  cursor: Id.optional(),
});

/** As many from the front as one answer should hold; the first one always. */
export function fitting<T>(items: T[]): T[] {
  let bytes = 0;
  const end = items.findIndex((item, index) => {
    bytes += JSON.stringify(item).length;
    return index > 0 && bytes > MAX_BYTES;
  });
  return end < 0 ? items : items.slice(0, end);
}
