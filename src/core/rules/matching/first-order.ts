/** The first of the rules that were found, by the order in which they were given. */
export function firstOf(found: Iterable<number | undefined>): number | undefined {
  let first: number | undefined;
  for (const order of found) if (order !== undefined && (first === undefined || order < first)) first = order;
  return first;
}
