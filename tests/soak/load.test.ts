import { expect, setDefaultTimeout, test } from "bun:test";
import { reportLines } from "../../soak/ledger/report.ts";
import { liveThroughDay } from "../../soak/load/day.ts";
import { flatnessLines, hasGrown } from "../../soak/load/watch.ts";

setDefaultTimeout(240_000);

/** The same seed gives the same plan. */
const seed = process.env["CRASH_SEED"] ?? String(Date.now());

test("ten seconds of 40 children, with a restart of each kind: nothing lost, nothing decided twice, nothing grows", async () => {
  const day = { seed, durationMs: 10_000, children: 40, asksPerSecond: 20, restarts: 3 };
  const report = await liveThroughDay(day);
  console.log([...reportLines(report), "", ...flatnessLines(report.flatness)].join("\n"));
  expect(report.violations).toEqual([]);
  expect(report.flatness.length).toBeGreaterThan(0);
  expect(report.flatness.filter(hasGrown)).toEqual([]);
  expect(report.rounds).toBe(day.restarts + 1);
});
