/** `npm run soak` sets it: then rows that are much alike are all tested, and counts are higher. */
export const IS_SOAK = process.env["TEST_EVERY_ROW"] !== undefined;

/** The first and the last of rows that are much alike and cost much; `npm run soak` tests all of them. */
export function firstAndLast<T>(rows: readonly T[]): T[] {
  return rows.filter((_, index) => IS_SOAK || index === 0 || index === rows.length - 1);
}
