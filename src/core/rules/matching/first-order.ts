/** The lowest order among the rules that were found. */
export function firstOf(found: Iterable<number | undefined>): number | undefined {
  let first: number | undefined;
  for (const order of found) if (order !== undefined && (first === undefined || order < first)) first = order;
  return first;
}
