import type { RulesFileStatus } from "../../contract/rules/rule.ts";
import type { StatisticsBucket, StatisticsRange, Statistics as StatisticsView } from "../../contract/statistics.ts";
import { dollars, seconds } from "../../contract/values.ts";
import type { ActivityOutcome, ActivitySum, Hours, SessionActivity } from "../../storage/activity.ts";
import { HOUR_MS } from "../../storage/record/activity-record.ts";
import type { Storage } from "../../storage/storage.ts";
import { ownerName } from "../access/owner-name.ts";
import { type Principal, visibleOwner } from "../access/principals.ts";
import { attentionTo } from "./attention.ts";
import { createDeciderSums, kindOf } from "./deciders.ts";
import { bucketsOf, slicesOf } from "./range.ts";

export type Statistics = ReturnType<typeof createStatistics>;
type StatisticsNeed = {
  storage: Pick<Storage, "activity" | "tokens">;
  now: () => number;
  rulesFile: () => RulesFileStatus | undefined;
  /** Webhooks whose deliveries fail at present. */
  failingWebhooks: () => { host: string; is_gone: boolean }[];
};
type StatisticsQuery = { range: StatisticsRange; utcOffsetMins: number };

const MAX_SESSIONS = 20;
const MAX_OWNERS = 20;
const MAX_BUDGETS = 20;
/** How long an answer is reused, so that many pages cost as much as one. */
const FRESH_MS = 2_000;
/**
 * An answer is also reused for this multiple of its computing time: even a long history takes at most a twentieth of
 * the server.
 */
const KEPT_TIMES = 20;
const MAX_REMEMBERED = 100;

const DECISIONS = ["allowed", "denied", "timed_out", "abandoned"] as const;

/** Activity over time, added up from hourly sums, a few hours per read. */
export function createStatistics({ storage, now, rulesFile, failingWebhooks }: StatisticsNeed) {
  const remembered = new Map<string, { until: number; answer: Promise<StatisticsView> }>();

  async function addUp(principal: Principal, { range, utcOffsetMins }: StatisticsQuery): Promise<StatisticsView> {
    const at = now();
    const owner = visibleOwner(principal);
    const buckets = bucketsOf(range, at, utcOffsetMins);
    const deciders = createDeciderSums();
    const sessions = new Map<string, SessionActivity>();
    const totals = { ...NOTHING };
    const filled: StatisticsBucket[] = [];
    for (const bucket of buckets) {
      const counted = emptyBucket(bucket);
      for (const slice of slicesOf(bucket)) {
        for (const sum of await storage.activity.sums(owner, slice)) {
          if (isDecision(sum)) {
            deciders.add(sum);
            counted[kindOf(sum.by)] += sum.count;
          } else addTurns(counted, totals, sum);
        }
        for (const session of await storage.activity.sessions(owner, slice)) addSession(sessions, session);
        // Let decisions go first.
        await new Promise(setImmediate);
      }
      counted.cost_usd = dollars(counted.cost_usd);
      filled.push(counted);
    }
    const decided = deciders.list();
    const present = await storage.activity.present(owner);
    const budgets = await Promise.all(
      (await storage.activity.budgets(owner, MAX_BUDGETS)).map(async (row) => ({
        session_id: row.sessionId,
        name: row.sessionName,
        owner: await ownerName(storage, row.owner),
        spent_usd: dollars(row.spentUsd),
        max_usd: row.maxUsd,
      })),
    );
    const sum = (part: "cost_usd" | "turns" | "asked" | "automatic" | "unanswered") =>
      filled.reduce((total, bucket) => total + bucket[part], 0);
    const whole = {
      ...totals,
      cost_usd: dollars(sum("cost_usd")),
      turns: sum("turns"),
      asked: sum("asked"),
      automatic: sum("automatic"),
      unanswered: sum("unanswered"),
      sessions: sessions.size,
    };
    return {
      type: "ok",
      range,
      from: startOf(buckets[0]),
      to: seconds((buckets.at(-1)?.to ?? 0) * HOUR_MS),
      bucket_secs: ((buckets[0]?.to ?? 0) - (buckets[0]?.from ?? 0)) * (HOUR_MS / 1000),
      at: seconds(at),
      present: { pending: present.pending, running: present.running, queued: present.queued },
      totals: whole,
      waiting: deciders.waiting(),
      buckets: filled,
      deciders: decided,
      sessions: await Promise.all(largest([...sessions.values()], MAX_SESSIONS).map(sessionShare)),
      owners: await Promise.all(largest(ownersOf(sessions), MAX_OWNERS).map(ownerShare)),
      budgets,
      attention: attentionTo({
        present,
        totals: whole,
        timedOut: decided.reduce((total, { timed_out }) => total + timed_out, 0),
        budgets,
        server: owner === undefined ? { rulesFile: rulesFile(), webhooks: failingWebhooks() } : undefined,
        now: at,
      }),
    };
  }

  async function sessionShare(session: SessionActivity) {
    const { sessionId, sessionName } = session;
    return {
      session_id: sessionId,
      name: sessionName,
      owner: await ownerName(storage, session.owner),
      ...shareOf(session),
    };
  }

  async function ownerShare(share: OwnerActivity) {
    return { owner: await ownerName(storage, share.owner), sessions: share.sessions, ...shareOf(share) };
  }

  return {
    /** Covers the caller's own sessions; for the operator, all. */
    read(principal: Principal, query: StatisticsQuery): Promise<StatisticsView> {
      const key = JSON.stringify([visibleOwner(principal) ?? null, query.range, query.utcOffsetMins]);
      const known = remembered.get(key);
      if (known && performance.now() < known.until) return known.answer;
      if (remembered.size >= MAX_REMEMBERED) remembered.clear();
      const answer = addUp(principal, query);
      const started = performance.now();
      const entry = { until: Number.POSITIVE_INFINITY, answer };
      remembered.set(key, entry);
      answer.then(
        () => {
          const tookMs = performance.now() - started;
          entry.until = started + Math.max(FRESH_MS, tookMs * KEPT_TIMES);
        },
        () => remembered.delete(key),
      );
      return answer;
    },
  };
}

const NOTHING = { input_tokens: 0, output_tokens: 0, failed_turns: 0, cancelled_turns: 0, unasked: 0 };

type Share = Pick<SessionActivity, "decisions" | "byRules" | "turns" | "failedTurns" | "costUsd">;
type OwnerActivity = Share & { owner: string; sessions: number };

function isDecision(sum: ActivitySum): sum is ActivitySum & { outcome: (typeof DECISIONS)[number] } {
  return DECISIONS.some((outcome) => outcome === sum.outcome);
}

function addTurns(bucket: StatisticsBucket, totals: typeof NOTHING, sum: ActivitySum): void {
  if (sum.outcome === "unasked") {
    totals.unasked += sum.count;
    return;
  }
  bucket.turns += sum.count;
  bucket.cost_usd += sum.costUsd;
  totals.input_tokens += sum.inputTokens;
  totals.output_tokens += sum.outputTokens;
  const ended: Partial<Record<ActivityOutcome, "failed_turns" | "cancelled_turns">> = {
    failed: "failed_turns",
    cancelled: "cancelled_turns",
  };
  const counter = ended[sum.outcome];
  if (counter) totals[counter] += sum.count;
}

function addSession(sessions: Map<string, SessionActivity>, more: SessionActivity): void {
  const known = sessions.get(more.sessionId);
  if (known) addShare(known, more);
  else sessions.set(more.sessionId, { ...more });
}

function ownersOf(sessions: Map<string, SessionActivity>): OwnerActivity[] {
  const owners = new Map<string, OwnerActivity>();
  for (const { owner, decisions, byRules, turns, failedTurns, costUsd } of sessions.values()) {
    const share = { decisions, byRules, turns, failedTurns, costUsd };
    const known = owners.get(owner);
    if (!known) owners.set(owner, { owner, sessions: 1, ...share });
    else {
      known.sessions++;
      addShare(known, share);
    }
  }
  return [...owners.values()];
}

function addShare(to: Share, more: Share): void {
  to.decisions += more.decisions;
  to.byRules += more.byRules;
  to.turns += more.turns;
  to.failedTurns += more.failedTurns;
  to.costUsd += more.costUsd;
}

/** Sorted by cost, then by number of decisions. */
function largest<T extends Share>(shares: T[], limit: number): T[] {
  return shares.sort((a, b) => b.costUsd - a.costUsd || b.decisions - a.decisions).slice(0, limit);
}

function shareOf({ costUsd, turns, failedTurns, decisions, byRules }: Share) {
  return { cost_usd: dollars(costUsd), turns, failed_turns: failedTurns, decisions, automatic: byRules };
}

function emptyBucket(bucket: Hours): StatisticsBucket {
  return { at: startOf(bucket), cost_usd: 0, turns: 0, asked: 0, automatic: 0, unanswered: 0 };
}

function startOf(hours: Hours | undefined): number {
  return seconds((hours?.from ?? 0) * HOUR_MS);
}
