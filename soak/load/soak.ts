import { FAULTS } from "../faults/faults.ts";
import { FULL, findingLines, isBroken } from "../faults/finding.ts";
import { reportLines } from "../ledger/report.ts";
import { type DayOptions, liveThroughDay } from "./day.ts";
import { flatnessLines, hasGrown } from "./watch.ts";

const CHILDREN = 200;
const ASKS_PER_SECOND = 20;
const RESTARTS_PER_MINUTE = 2;

type Common = Pick<DayOptions, "seed" | "program" | "stopped">;
type Report = { lines: string[]; violations: string[] };

/** Runs a day of requests in this many minutes; returns a table and the violations. */
export async function soakDay(common: Common, minutes: number): Promise<Report> {
  const size = { children: CHILDREN, asksPerSecond: ASKS_PER_SECOND };
  const restarts = Math.ceil(RESTARTS_PER_MINUTE * minutes);
  const report = await liveThroughDay({ ...common, ...size, durationMs: minutes * 60_000, restarts });
  const grown = report.flatness.filter(hasGrown).map(({ what, warm, end }) => `${what} went from ${warm} to ${end}`);
  return {
    lines: [...reportLines(report), "", ...flatnessLines(report.flatness)],
    violations: [...report.violations, ...grown],
  };
}

/** Tests every fault in full size, one after the other. */
export async function soakFaults(): Promise<Report> {
  const report: Report = { lines: [], violations: [] };
  for (const [name, fault] of Object.entries(FAULTS)) {
    try {
      const findings = await fault(FULL);
      report.lines.push(...findingLines(name, findings), "");
      report.violations.push(...findings.filter(isBroken).map(({ promised }) => `${name}: ${promised}`));
    } catch (cause) {
      report.violations.push(`${name}: ${String(cause)}`);
    }
  }
  return report;
}
