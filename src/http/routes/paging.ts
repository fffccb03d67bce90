import { fitting, listedChars } from "../../contract/text/fit.ts";

const MAX_BYTES = 8 * 1024 * 1024;

/** The fields of a last page, for examples. */
export const lastPage = { has_more: false, cursor: null };

/** The fields with which every page of a list refers to the next one. */
export function pageOf({ cursor }: { cursor: string | null }) {
  return { has_more: cursor !== null, cursor };
}

/** Returns as many items from the front as fit in one answer; the first one always fits. */
export function onOnePage<T>(items: T[]): T[] {
  return fitting(items, MAX_BYTES, listedChars);
}
