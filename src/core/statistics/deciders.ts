import { decisionsOf, type StatisticsDecider } from "../../contract/statistics.ts";
import type { ActivitySum } from "../../storage/activity.ts";
import type { ApprovalOutcome } from "../../storage/approvals.ts";
import { waitedSecs } from "../../storage/record/activity-record.ts";

type Decision = ApprovalOutcome["status"];
/** The number of requests per step of waiting time. */
type Waits = Map<number, number>;
/** Decided by somebody, by a rule, or by nobody. */
export type DecisionKind = "asked" | "automatic" | "unanswered";

const AUTOMATIC = ["rule", "builtin", "brake"];
const NOBODY = ["timeout", "plexus"];

export function kindOf(by: string): DecisionKind {
  if (AUTOMATIC.includes(by)) return "automatic";
  return NOBODY.includes(by) ? "unanswered" : "asked";
}

/** Adds up the decisions per decider, and how long they took. */
export function createDeciderSums() {
  const deciders = new Map<string, { outcomes: Record<Decision, number>; waits: Waits }>();
  const asked: Waits = new Map();

  return {
    add({ by, outcome, waitStep, count }: ActivitySum & { outcome: Decision }): void {
      const known = deciders.get(by) ?? {
        outcomes: { allowed: 0, denied: 0, timed_out: 0, abandoned: 0 },
        waits: new Map(),
      };
      deciders.set(by, known);
      known.outcomes[outcome] += count;
      addTo(known.waits, waitStep, count);
      if (kindOf(by) === "asked") addTo(asked, waitStep, count);
    },
    /** Ordered by the number of decisions, most first. */
    list: (): StatisticsDecider[] =>
      [...deciders]
        .map(([by, { outcomes, waits }]) => ({ by, ...outcomes, ...waitingOf(waits) }))
        .sort((a, b) => decisionsOf(b) - decisionsOf(a) || (a.by < b.by ? -1 : 1)),
    /** The waiting times of requests that somebody decided. */
    waiting: () => waitingOf(asked),
  };
}

function addTo(waits: Waits, step: number, count: number): void {
  waits.set(step, (waits.get(step) ?? 0) + count);
}

function waitingOf(waits: Waits) {
  return { p50_secs: percentile(waits, 0.5), p95_secs: percentile(waits, 0.95) };
}

/** The percentile of the waiting times, rounded to the precision of the steps. */
function percentile(waits: Waits, part: number): number | null {
  const total = [...waits.values()].reduce((sum, count) => sum + count, 0);
  let seen = 0;
  for (const [step, count] of [...waits].sort(([a], [b]) => a - b)) {
    seen += count;
    if (seen >= total * part) return Number(waitedSecs(step).toPrecision(2));
  }
  return null;
}
