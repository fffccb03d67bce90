/** What a fault was promised to do, and what it did; `kept` is left out where it could not be tried. */
export type Finding = { promised: string; happened: string; kept?: boolean };
export type Fault = (size: Size) => Promise<Finding[]>;

/** How much of it: some tests run always, the whole in a soak. */
export type Size = { idleConnections: number; wrongTokens: number; dribblers: number };
export const SHORT: Size = { idleConnections: 2_000, wrongTokens: 10_000, dribblers: 100 };
export const FULL: Size = { idleConnections: 10_000, wrongTokens: 100_000, dribblers: 1_000 };

/** A table for a person, fault by fault. */
export function findingLines(fault: string, findings: Finding[]): string[] {
  const lines = findings.flatMap(({ promised, happened, kept }) => {
    const outcome = kept === undefined ? "not tried" : kept ? "kept" : "BROKEN";
    return [`  ${outcome.padEnd(9)}  promised: ${promised}`, `             happened: ${happened}`];
  });
  return [fault, ...lines];
}

export function isBroken({ kept }: Finding): boolean {
  return kept === false;
}
