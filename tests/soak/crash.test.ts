import { describe, expect, setDefaultTimeout, test } from "bun:test";
import { killFirstStarts } from "../../soak/crash/first-starts.ts";
import { crashRounds } from "../../soak/crash/rounds.ts";
import { killDuringTurns } from "../../soak/crash/turns.ts";
import { reportLines } from "../../soak/ledger/report.ts";
import { PROGRAM } from "../support/server/program.ts";

setDefaultTimeout(300_000);

/** Covers every kind of moment once or twice; `npm run soak` runs a thousand rounds. */
const ROUNDS = 10;
const FIRST_STARTS = 3;
const TURN_KILLS = 8;
/** The same seed gives the same plan. */
const seed = process.env["CRASH_SEED"] ?? String(Date.now());

describe("kill -9", () => {
  test(`${ROUNDS} times under load: nothing acknowledged is lost, nothing decided twice, nothing allowed without a row`, async () => {
    const report = await crashRounds({ rounds: ROUNDS, seed, program: PROGRAM });
    console.log(`CRASH_SEED=${seed}: ${reportLines(report).join("\n")}`);
    expect(report.violations).toEqual([]);
    const neverCompared = Object.entries(report.promises).filter(([, { checked }]) => checked === 0);
    expect(neverCompared).toEqual([]);
  });

  test("during the first start: the next start works", async () => {
    const { killed, violations } = await killFirstStarts({ times: FIRST_STARTS, seed, program: PROGRAM });
    expect(violations).toEqual([]);
    expect(killed).toBe(FIRST_STARTS);
  });

  test(`${TURN_KILLS} times while children write: everything they wrote is recorded once, in order`, async () => {
    const { killed, messages, violations } = await killDuringTurns({ kills: TURN_KILLS, seed, program: PROGRAM });
    expect({ seed, violations }).toEqual({ seed, violations: [] });
    expect(killed).toBe(TURN_KILLS);
    expect(messages).toBeGreaterThan(TURN_KILLS);
  });
});
