import { fitting, listedChars } from "../../contract/text/fit.ts";

const MAX_BYTES = 8 * 1024 * 1024;

/** How a page ends, in an example. */
export const lastPage = { has_more: false, cursor: null };

/** What every page of a list says of the next one. */
export function pageOf({ cursor }: { cursor: string | null }) {
  return { has_more: cursor !== null, cursor };
}

/** As many from the front as one answer should hold; the first one always. */
export function onOnePage<T>(items: T[]): T[] {
  return fitting(items, MAX_BYTES, listedChars);
}
