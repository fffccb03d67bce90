/** A number of items, and their total size. */
type Size = { count: number; bytes: number };

/** The cache is cleared when it holds this many keys. */
const MAX_REMEMBERED = 10_000;

/**
 * Counts the stored items of each key in memory, which works because only one process writes. Additions are counted at
 * once, removals are not, so a count is never too low. A count that reaches its limit is read again, at most once per
 * removal.
 */
export function createTally(count: (key: string) => Size) {
  const known = new Map<string, Size & { countedAt: number }>();
  let removals = 0;

  function recount(key: string) {
    const counted = { ...count(key), countedAt: removals };
    if (known.size >= MAX_REMEMBERED) known.clear();
    known.set(key, counted);
    return counted;
  }

  return {
    /** Returns an upper bound of what is stored. */
    atMost: (key: string): Size => sizeOf(known.get(key) ?? recount(key)),
    /** Returns what is stored, except for removals within this transaction. */
    counted(key: string): Size {
      const size = known.get(key);
      return sizeOf(size?.countedAt === removals ? size : recount(key));
    },
    /** Counts an item that is about to be stored. */
    add(key: string, bytes: number, count = 1): void {
      const size = known.get(key) ?? recount(key);
      size.count += count;
      size.bytes += bytes;
    },
    /** Call when an item was removed, or was counted but not stored. */
    loosen(): void {
      removals++;
    },
  };
}

/** Returns a copy, because the counts continue to change. */
function sizeOf({ count, bytes }: Size): Size {
  return { count, bytes };
}
