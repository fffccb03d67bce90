/** How many there are of something, and how large they are together. */
type Size = { count: number; bytes: number };

/** So many keys are remembered before all are counted anew. */
const MAX_REMEMBERED = 10_000;

/**
 * Counts what is stored under each key, in memory, because one process writes. Additions count at once and removals do
 * not, so a count is never too low. When it reaches a bound it is counted again, at most once for each removal.
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
    /** No less than what is stored. */
    atMost: (key: string): Size => sizeOf(known.get(key) ?? recount(key)),
    /** What is stored, but for what was removed within this transaction. */
    counted(key: string): Size {
      const size = known.get(key);
      return sizeOf(size?.countedAt === removals ? size : recount(key));
    },
    /** Something is about to be stored. */
    add(key: string, bytes: number, count = 1): void {
      const size = known.get(key) ?? recount(key);
      size.count += count;
      size.bytes += bytes;
    },
    /** Something was removed, or what was added was not stored after all. */
    loosen(): void {
      removals++;
    },
  };
}

/** A copy: what is known goes on changing. */
function sizeOf({ count, bytes }: Size): Size {
  return { count, bytes };
}
