/** Ids begin with their time of creation, so only their end distinguishes ids of one hour. */
const LEAST = 4;
const WHOLE = 36;
const SHORT = /^[0-9a-f-]{4,35}$/;

/** Returns a function that shortens an id to its end, as short as these ids stay distinct. */
export function shortIds(ids: string[]): (id: string) => string {
  const distinct = new Set(ids);
  let length = LEAST;
  while (length < WHOLE && new Set([...distinct].map((id) => id.slice(-length))).size < distinct.size) length++;
  return (id) => id.slice(-length);
}

/** Shortens a single id; whoever uses it looks for the only id with this end. */
export function shortId(id: string): string {
  return id.slice(-LEAST);
}

/** Returns whether this may be the end of an id, not a whole one. */
export function isShortId(given: string): boolean {
  return SHORT.test(given);
}
