import { describe, expect, setDefaultTimeout, test } from "bun:test";
import { reportLines } from "./report.ts";
import { crashRounds } from "./rounds.ts";

setDefaultTimeout(300_000);

const ROUNDS = 50;

describe(`${ROUNDS} times kill -9, under load`, () => {
  test("lose nothing that was acknowledged, decide nothing twice, allow nothing without a row", async () => {
    const seed = process.env["CRASH_SEED"] ?? String(Date.now());
    const report = await crashRounds({ rounds: ROUNDS, seed });
    console.log(`${reportLines(report).join("\n")}\n\n  The same plan again: CRASH_SEED=${seed}`);
    expect(report.violations).toEqual([]);
    const neverCompared = Object.entries(report.promises).filter(([, { checked }]) => checked === 0);
    expect(neverCompared).toEqual([]);
  });
});
