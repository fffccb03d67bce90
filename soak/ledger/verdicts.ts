/** The server's promises to callers, each compared with what these saw. */
export const PROMISES = {
  kept: "A decision that was answered ok is on disk after the kill, word for word",
  served: "… and the API tells the same after the restart",
  delivered: "… and the child that asked gets exactly that",
  once: "An approval is decided once; everybody who comes later is told the same",
  meant: "What is decided on disk is what somebody sent, or a deadline that has passed",
  allowed: "No child is told allow without a row that says allowed",
  remembered: "An ask that a child was told of exists after the kill, as it was asked",
  attached: "Who comes back finds the same approval and answer, or a new one once that was used up",
  woken: "The decision itself wakes who waits for it, not the net below",
  answered: "Every ask whose child stays gets an answer",
  deadlines: "A restart neither extends nor forgets a deadline",
  events: "The event stream has no gap and no repeat, and its ids only grow",
  sessions: "Tokens and MCP sessions that were given out outlive the server",
  intact: "The database passes its integrity check after every kill",
  chained: "Every decision fits its place in the hash chain",
  up: "The server fails only when it is killed, and logs no error",
} as const;
export type Promised = keyof typeof PROMISES;

export type Verdicts = {
  /** Counts one comparison; `what` describes the difference if it failed. */
  check(promised: Promised, holds: boolean, what: () => string): void;
  /** How often each promise was compared, and how often it was broken. */
  counts(): Record<Promised, { checked: number; broken: number }>;
  /** The violations in order; only the first few of each kind have a description. */
  violations: string[];
  /** Resolves at the first violation. */
  broken: Promise<void>;
};

const TOLD_OF_EACH = 10;

export function createVerdicts(): Verdicts {
  const counts = Object.fromEntries(Object.keys(PROMISES).map((key) => [key, { checked: 0, broken: 0 }])) as Record<
    Promised,
    { checked: number; broken: number }
  >;
  const violations: string[] = [];
  const first = Promise.withResolvers<void>();
  return {
    check(promised, holds, what) {
      const count = counts[promised];
      count.checked++;
      if (holds) return;
      count.broken++;
      first.resolve();
      if (count.broken <= TOLD_OF_EACH) violations.push(`${promised}: ${what()}`);
      if (count.broken === TOLD_OF_EACH + 1) violations.push(`${promised}: … and more`);
    },
    counts: () => structuredClone(counts),
    violations,
    broken: first.promise,
  };
}
