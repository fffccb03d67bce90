/** Random numbers from a seed. The same seed repeats the plan, but not how the machine interleaves it. */
export type Random = {
  /** From 0 up to 1, without 1. */
  next(): number;
  /** A whole number, including both ends. */
  between(low: number, high: number): number;
  chance(probability: number): boolean;
  pick<T>(items: readonly T[]): T;
  /** Up to `count` different items. */
  sample<T>(items: readonly T[], count: number): T[];
  /** Separate numbers for one actor, so that the draws of others do not change them. */
  of(actor: string): Random;
};

export function createRandom(seed: string): Random {
  const next = mulberry32(Number(Bun.hash(seed) & 0xffff_ffffn));
  const between = (low: number, high: number) => low + Math.floor(next() * (high - low + 1));
  const sample = <T>(items: readonly T[], count: number): T[] => {
    const left = [...items];
    const taken: T[] = [];
    while (taken.length < count && left.length > 0) taken.push(...left.splice(between(0, left.length - 1), 1));
    return taken;
  };
  return {
    next,
    between,
    chance: (probability) => next() < probability,
    pick(items) {
      const [item] = items.slice(between(0, items.length - 1));
      if (item === undefined) throw new Error("there is nothing to pick from");
      return item;
    },
    sample,
    of: (actor) => createRandom(`${seed}/${actor}`),
  };
}

function mulberry32(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}
