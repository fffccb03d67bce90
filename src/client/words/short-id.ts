/** Ids begin with the time of their creation; only their end tells those of one hour apart. */
const LEAST = 4;
const WHOLE = 36;
const SHORT = /^[0-9a-f-]{4,35}$/;

/** The end of an id, as short as still tells these ids apart. */
export function shortIds(ids: string[]): (id: string) => string {
  const distinct = new Set(ids);
  let length = LEAST;
  while (length < WHOLE && new Set([...distinct].map((id) => id.slice(-length))).size < distinct.size) length++;
  return (id) => id.slice(-length);
}

/** The same of one id alone: whoever reads it back looks for the only one that ends like this. */
export function shortId(id: string): string {
  return id.slice(-LEAST);
}

/** Whether this may be the end of an id, rather than a whole one. */
export function isShortId(given: string): boolean {
  return SHORT.test(given);
}
