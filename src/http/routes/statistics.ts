import type { App } from "../../app.ts";
import { getStatistics } from "../../contract/routes/statistics.ts";
import { ASKED_AT, SESSION_ID } from "../../contract/samples.ts";
import { type Served, serve } from "../serve.ts";

export type StatisticsApp = Pick<App, "statistics">;

const SHARE = { cost_usd: 1.25, turns: 3, failed_turns: 1, decisions: 24, automatic: 20 };
const BUDGET = { session_id: SESSION_ID, name: "worker", owner: "operator", spent_usd: 4.5, max_usd: 5 };

export function statisticsRoutes({ statistics }: StatisticsApp): Served[] {
  return [
    serve(getStatistics, {
      tag: "Statistics",
      summary: "What was spent and decided over time, by whom, and what needs attention",
      details:
        "In buckets of an hour (`24h`), six hours (`7d`) or a day (`30d`), of which the last one is not over yet. A named token is told of its own sessions alone. What is older than `--retention-days` is forgotten.",
      answer: {
        says: "The sums.",
        example: {
          type: "ok",
          range: "24h",
          from: ASKED_AT - 86_400,
          to: ASKED_AT,
          bucket_secs: 3600,
          at: ASKED_AT - 600,
          present: { pending: 1, running: 2, queued: 0 },
          totals: {
            cost_usd: 1.25,
            input_tokens: 120_000,
            output_tokens: 9_000,
            turns: 3,
            failed_turns: 1,
            cancelled_turns: 0,
            asked: 3,
            automatic: 20,
            unanswered: 1,
            unasked: 0,
            sessions: 1,
          },
          waiting: { p50_secs: 4.2, p95_secs: 38 },
          buckets: [{ at: ASKED_AT - 3600, cost_usd: 1.25, turns: 3, asked: 3, automatic: 20, unanswered: 1 }],
          deciders: [
            { by: "rule", allowed: 20, denied: 0, timed_out: 0, abandoned: 0, p50_secs: 0, p95_secs: 0 },
            { by: "operator", allowed: 2, denied: 1, timed_out: 0, abandoned: 0, p50_secs: 4.2, p95_secs: 38 },
            { by: "timeout", allowed: 0, denied: 0, timed_out: 1, abandoned: 0, p50_secs: 290, p95_secs: 290 },
          ],
          sessions: [{ session_id: SESSION_ID, name: "worker", owner: "operator", ...SHARE }],
          owners: [{ owner: "operator", sessions: 1, ...SHARE }],
          budgets: [BUDGET],
          attention: [
            { kind: "pending", count: 1, oldest_secs: 42 },
            { kind: "budget", ...BUDGET },
            { kind: "timed_out", count: 1 },
          ],
        },
      },
    }).by(({ principal, query }) =>
      statistics.read(principal, { range: query.range, utcOffsetMins: query.utc_offset_mins }),
    ),
  ];
}
