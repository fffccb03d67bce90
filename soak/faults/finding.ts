/** The promised and the actual behaviour under a fault; `kept` is absent if it could not be tested. */
export type Finding = { promised: string; happened: string; kept?: boolean };
export type Fault = (size: Size) => Promise<Finding[]>;

/** The size of the faults: a small one in every test run, the full one in a soak. */
export type Size = { idleConnections: number; wrongTokens: number; dribblers: number };
export const SHORT: Size = { idleConnections: 2_000, wrongTokens: 10_000, dribblers: 100 };
export const FULL: Size = { idleConnections: 10_000, wrongTokens: 100_000, dribblers: 1_000 };

/** Formats the findings of one fault. */
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
