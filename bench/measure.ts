/** Returns the value below which this share of the samples lies. */
export function percentile(samples: number[], share: number): number {
  const sorted = samples.toSorted((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? Number.NaN;
}

export type Latency = { p50: number; p99: number; samples: number };

export function latency(samples: number[]): Latency {
  return { p50: percentile(samples, 0.5), p99: percentile(samples, 0.99), samples: samples.length };
}

export async function timed(work: () => Promise<unknown>): Promise<number> {
  const start = performance.now();
  await work();
  return performance.now() - start;
}

export const ms = (value: number): string => `${value.toFixed(value < 10 ? 2 : 0)} ms`;
export const times = (value: number): string => `${value.toFixed(2)} ×`;

export type Row = { what: string; measured: string; goal?: string; met?: boolean };

/** Formats a table with the goals and whether they were met. */
export function table(title: string, rows: Row[]): string {
  const cells = rows.map(({ what, measured, goal = "", met }) => [
    what,
    measured,
    goal,
    met === undefined ? "" : met ? "met" : "MISSED",
  ]);
  const widths = [0, 1, 2, 3].map((column) => Math.max(...cells.map((row) => row[column]?.length ?? 0)));
  const lines = cells.map((row) =>
    `  ${row.map((cell, column) => cell.padEnd(widths[column] ?? 0)).join("  ")}`.trimEnd(),
  );
  return `${title}\n${lines.join("\n")}\n`;
}
