/** Returns as many items from the front as fit in `room` together; the first one always fits. */
export function fitting<T>(items: Iterable<T>, room: number, sizeOf: (item: T) => number): T[] {
  const found: T[] = [];
  let left = room;
  for (const item of items) {
    left -= sizeOf(item);
    if (left < 0 && found.length > 0) break;
    found.push(item);
  }
  return found;
}

/** The size of an item in a JSON list, with the comma after it. */
export function listedChars(item: unknown): number {
  return JSON.stringify(item).length + 1;
}

/** Returns the longest beginning of a text that takes at most `room` characters as JSON. */
export function fittingText(text: string, room: number): string {
  const fits = (length: number) => JSON.stringify(text.slice(0, length)).length <= room;
  if (fits(text.length)) return text;
  let longest = 0;
  let tooLong = text.length;
  while (tooLong - longest > 1) {
    const middle = Math.floor((longest + tooLong) / 2);
    if (fits(middle)) longest = middle;
    else tooLong = middle;
  }
  return text.slice(0, longest);
}
