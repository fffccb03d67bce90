import { z } from "zod";
import { Id, UnixSeconds } from "./values.ts";

/** The time range of statistics, up to now. */
export const StatisticsRange = z.enum(["24h", "7d", "30d"]);
export type StatisticsRange = z.infer<typeof StatisticsRange>;

const Count = z.int().nonnegative();
const Dollars = z.number().nonnegative();
const Seconds = z.number().nonnegative();

/** What happened in one interval of the range. */
const Bucket = z.strictObject({
  at: UnixSeconds,
  cost_usd: Dollars,
  turns: Count,
  /** Decided by somebody who was asked: a person or an agent. */
  asked: Count,
  /** Decided without asking anybody: by a rule, a built-in rule, or the limit on repeated denied calls. */
  automatic: Count,
  /** Timed out, or abandoned because the child was gone. */
  unanswered: Count,
});
export type StatisticsBucket = z.infer<typeof Bucket>;

/** The median and the 95th percentile of how long requests waited; null if there were none. */
const Waiting = z.strictObject({ p50_secs: Seconds.nullable(), p95_secs: Seconds.nullable() });

const Outcomes = z.strictObject({ allowed: Count, denied: Count, timed_out: Count, abandoned: Count });

/** `by` is a name as in `resolved_by`, but `rule` stands for every rule, and `builtin` for every built-in one. */
const Decider = z.strictObject({ by: z.string(), ...Outcomes.shape, ...Waiting.shape });
export type StatisticsDecider = z.infer<typeof Decider>;

/** The number of a decider's requests, whatever their outcome. */
export function decisionsOf({ allowed, denied, timed_out, abandoned }: StatisticsDecider): number {
  return allowed + denied + timed_out + abandoned;
}

const Share = { cost_usd: Dollars, turns: Count, failed_turns: Count, decisions: Count, automatic: Count };
const SessionShare = z.strictObject({ session_id: Id, name: z.string(), owner: z.string(), ...Share });
const OwnerShare = z.strictObject({ owner: z.string(), sessions: Count, ...Share });
const Budget = z.strictObject({
  session_id: Id,
  name: z.string(),
  owner: z.string(),
  spent_usd: Dollars,
  max_usd: Dollars,
});

/** Something that somebody should look at. */
export const Attention = z.discriminatedUnion("kind", [
  z.strictObject({ kind: z.literal("pending"), count: Count, oldest_secs: Seconds }),
  z.strictObject({ kind: z.literal("unasked"), count: Count }),
  z.strictObject({ kind: z.literal("timed_out"), count: Count }),
  z.strictObject({ kind: z.literal("failed_turns"), count: Count }),
  z.strictObject({ kind: z.literal("budget"), ...Budget.shape }),
  /** Only the operator sees these two. */
  z.strictObject({ kind: z.literal("rules_file"), problems: Count }),
  z.strictObject({ kind: z.literal("webhook"), host: z.string(), is_gone: z.boolean() }),
]);
export type Attention = z.infer<typeof Attention>;

export const Statistics = z.strictObject({
  type: z.literal("ok"),
  range: StatisticsRange,
  from: UnixSeconds,
  /** The end of the last bucket, which may be in the future. */
  to: UnixSeconds,
  bucket_secs: z.int().positive(),
  /** When the statistics were computed. */
  at: UnixSeconds,
  present: z.strictObject({ pending: Count, running: Count, queued: Count }),
  totals: z.strictObject({
    cost_usd: Dollars,
    input_tokens: Count,
    output_tokens: Count,
    turns: Count,
    failed_turns: Count,
    cancelled_turns: Count,
    asked: Count,
    automatic: Count,
    unanswered: Count,
    unasked: Count,
    sessions: Count,
  }),
  /** For requests that somebody decided. */
  waiting: Waiting,
  buckets: z.array(Bucket),
  /** The decider with the most decisions comes first. */
  deciders: z.array(Decider),
  /** The most expensive sessions, then those with the most requests. */
  sessions: z.array(SessionShare),
  /** By the sessions' creator: the operator, or a token. */
  owners: z.array(OwnerShare),
  /** The sessions that have spent the largest share of their `max_budget_usd`. */
  budgets: z.array(Budget),
  attention: z.array(Attention),
});
export type Statistics = z.infer<typeof Statistics>;
