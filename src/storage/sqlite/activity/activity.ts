import { and, gte, inArray, lt, type SQL, sql } from "drizzle-orm";
import type { SQLiteColumn } from "drizzle-orm/sqlite-core";
import type {
  ActivityOutcome,
  ActivityStorage,
  ActivitySum,
  BudgetRow,
  Hours,
  SessionActivity,
} from "../../activity.ts";
import type { ApprovalHead, ApprovalOutcome } from "../../approvals.ts";
import { deciderOf, hourOf, waitStepOf } from "../../record/activity-record.ts";
import type { SessionRow } from "../../sessions.ts";
import type { TurnEnd } from "../../turns.ts";
import type { Orm } from "../statements/orm.ts";
import { activityHours, approvals, sessions, turns } from "../tables.ts";
import type { Write } from "../writer.ts";

export type ActivityQueries = ReturnType<typeof activityQueries>;
/** What a turn has cost, counting only what earlier turns have not counted. */
type TurnCost = { costUsd: number; inputTokens: number; outputTokens: number };

/** Queries on the hourly sums. Those that write run inside a transaction of the writer. */
export function activityQueries(orm: Orm) {
  const at = sql.placeholder;
  const add = orm
    .insert(activityHours)
    .values({
      hour: at("hour"),
      sessionId: at("sessionId"),
      by: at("by"),
      outcome: at("outcome"),
      waitStep: at("waitStep"),
      owner: at("owner"),
      sessionName: at("sessionName"),
      count: 1,
      costUsd: at("costUsd"),
      inputTokens: at("inputTokens"),
      outputTokens: at("outputTokens"),
    })
    .onConflictDoUpdate({
      target: [
        activityHours.hour,
        activityHours.sessionId,
        activityHours.by,
        activityHours.outcome,
        activityHours.waitStep,
      ],
      set: {
        count: sql`${activityHours.count} + 1`,
        costUsd: sql`${activityHours.costUsd} + excluded.cost_usd`,
        inputTokens: sql`${activityHours.inputTokens} + excluded.input_tokens`,
        outputTokens: sql`${activityHours.outputTokens} + excluded.output_tokens`,
      },
    })
    .prepare();
  const isWithin = and(
    gte(activityHours.hour, at("from")),
    lt(activityHours.hour, at("to")),
    isOf(activityHours.owner),
  );
  const sums = orm
    .select({
      outcome: activityHours.outcome,
      by: activityHours.by,
      waitStep: activityHours.waitStep,
      count: sum(activityHours.count),
      costUsd: sum(activityHours.costUsd),
      inputTokens: sum(activityHours.inputTokens),
      outputTokens: sum(activityHours.outputTokens),
    })
    .from(activityHours)
    .where(isWithin)
    .groupBy(activityHours.outcome, activityHours.by, activityHours.waitStep)
    .prepare();
  const countOf = (which: SQL) => sql<number>`coalesce(sum(${activityHours.count}) FILTER (WHERE ${which}), 0)`;
  const bySession = orm
    .select({
      sessionId: activityHours.sessionId,
      sessionName: sql<string>`max(${activityHours.sessionName})`,
      owner: sql<string>`max(${activityHours.owner})`,
      decisions: countOf(sql`${activityHours.by} <> ''`),
      byRules: countOf(sql`${activityHours.by} IN ('rule', 'builtin')`),
      turns: countOf(sql`${activityHours.outcome} IN ('complete', 'failed', 'cancelled')`),
      failedTurns: countOf(sql`${activityHours.outcome} = 'failed'`),
      costUsd: sum(activityHours.costUsd),
    })
    .from(activityHours)
    .where(isWithin)
    .groupBy(activityHours.sessionId)
    .prepare();
  const pending = orm
    .select({ count: sql<number>`count(*)`, oldestAt: sql<number | null>`min(created_at)` })
    .from(approvals)
    .where(and(sql`status = 'pending'`, isOf(approvals.owner)))
    .prepare();
  const countTurns = (status: "running" | "queued") =>
    orm
      .select({ count: sql<number>`count(*)` })
      .from(turns)
      .where(and(sql`status = '${sql.raw(status)}'`, isOf(turns.owner)))
      .prepare();
  const [running, queued] = [countTurns("running"), countTurns("queued")];
  const budgets = orm
    .select({
      sessionId: sessions.id,
      sessionName: sessions.name,
      owner: sessions.owner,
      spentUsd: sessions.ownCostUsd,
      maxUsd: sql<number>`(config ->> 'max_budget_usd')`,
    })
    .from(sessions)
    .where(and(sql`(config ->> 'max_budget_usd') > 0`, isOf(sessions.owner)))
    .orderBy(sql`own_cost_usd / (config ->> 'max_budget_usd') DESC`)
    .limit(at("limit"))
    .prepare();

  function note(
    happened: { outcome: ActivityOutcome; by: string; waitStep: number } & TurnCost,
    session: { sessionId: string; sessionName: string; owner: string },
    when: number,
  ): void {
    add.run({ ...happened, ...session, hour: hourOf(when) });
  }

  return {
    sums: (owner: string | undefined, hours: Hours): ActivitySum[] => sums.all({ ...hours, owner: owner ?? null }),
    sessions: (owner: string | undefined, hours: Hours): SessionActivity[] =>
      bySession.all({ ...hours, owner: owner ?? null }),
    present(owner: string | undefined): Awaited<ReturnType<ActivityStorage["present"]>> {
      const of = { owner: owner ?? null };
      const { count = 0, oldestAt = null } = pending.get(of) ?? {};
      return {
        pending: count,
        oldestPendingAt: oldestAt,
        running: running.get(of)?.count ?? 0,
        queued: queued.get(of)?.count ?? 0,
      };
    },
    budgets: (owner: string | undefined, limit: number): BudgetRow[] => budgets.all({ owner: owner ?? null, limit }),
    /** Counts a request that was decided or abandoned. */
    decided(approval: ApprovalHead, outcome: ApprovalOutcome): void {
      const { sessionId, sessionName, owner } = approval;
      note(
        {
          outcome: outcome.status,
          by: deciderOf(outcome.resolvedBy),
          waitStep: waitStepOf(approval, outcome),
          ...NO_COST,
        },
        { sessionId, sessionName, owner },
        outcome.resolvedAt,
      );
    },
    turnEnded: (session: SessionRow, status: TurnEnd["status"], cost: TurnCost, when: number): void =>
      note({ outcome: status, by: "", waitStep: 0, ...cost }, placeOf(session), when),
    /** Counts a call that ran although Plexus had not allowed it. */
    unasked: (session: SessionRow, when: number): void =>
      note({ outcome: "unasked", by: "", waitStep: 0, ...NO_COST }, placeOf(session), when),
    removeBefore: (before: number, limit: number): number => {
      const old = orm
        .select({ row: sql`rowid` })
        .from(activityHours)
        .where(lt(activityHours.hour, hourOf(before)))
        .limit(limit);
      return orm.delete(activityHours).where(inArray(sql`rowid`, old)).returning({ hour: activityHours.hour }).all()
        .length;
    },
  };
}

export function activityStorageCommands(
  write: Write,
  activity: ActivityQueries,
): Pick<ActivityStorage, "removeBefore"> {
  return { removeBefore: (before, limit) => write(() => activity.removeBefore(before, limit)) };
}

const NO_COST: TurnCost = { costUsd: 0, inputTokens: 0, outputTokens: 0 };

function placeOf({ id, name, owner }: SessionRow) {
  return { sessionId: id, sessionName: name, owner };
}

/** Without an owner, the rows of all owners. */
function isOf(owner: SQLiteColumn): SQL {
  return sql`(${sql.placeholder("owner")} IS NULL OR ${owner} = ${sql.placeholder("owner")})`;
}

function sum(column: SQLiteColumn): SQL<number> {
  return sql<number>`sum(${column})`;
}
