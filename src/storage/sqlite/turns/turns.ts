import { and, asc, desc, eq, getTableColumns, gt, lt, sql } from "drizzle-orm";
import type { Usage } from "../../../contract/sessions/turn.ts";
import type { JsonObject } from "../../../contract/values.ts";
import type { ApprovalOutcome } from "../../approvals.ts";
import type { RunningTurn, TurnRow } from "../../turns.ts";
import type { Orm } from "../statements/orm.ts";
import { given } from "../statements/parameters.ts";
import { turns } from "../tables.ts";
import { endedTurnQueries } from "./ended-turns.ts";
import { queuedTurnQueries } from "./queued-turns.ts";
import { stopRequestQueries } from "./stop-requests.ts";
import { turnEventQueries } from "./turn-events.ts";

export type TurnQueries = ReturnType<typeof turnQueries>;
type EndedAs = {
  status: "complete" | "failed" | "cancelled";
  error: string | null;
  usage: Usage | null;
  endedAt: number;
};

type CountedRequest = ApprovalOutcome["status"] | "builtin";

const isRunning = sql`status = 'running'`;

/**
 * Queries on turns and their events, for the server of this data dir. Those that write run inside a transaction of the
 * writer.
 */
export function turnQueries(orm: Orm, dataDirId: string) {
  const at = sql.placeholder;
  // Leave out the long columns: only the reader of a child needs its checkpoint, and only the start of a turn needs its
  // prompt.
  const { checkpoint, prompt: _, stopReason: __, ...columns } = getTableColumns(turns);
  const isOurs = eq(turns.dataDirId, dataDirId);
  const byId = orm
    .select(columns)
    .from(turns)
    .where(eq(turns.id, at("id")))
    .prepare();
  const checkpointOf = orm
    .select({ checkpoint })
    .from(turns)
    .where(eq(turns.id, at("id")))
    .prepare();
  const running = orm
    .select(columns)
    .from(turns)
    .where(and(eq(turns.sessionId, at("sessionId")), isRunning))
    .prepare();
  const latest = orm
    .select(columns)
    .from(turns)
    .where(eq(turns.sessionId, at("sessionId")))
    .orderBy(desc(turns.id))
    .limit(1)
    .prepare();
  const firstAfter = orm
    .select(columns)
    .from(turns)
    .where(and(eq(turns.sessionId, at("sessionId")), gt(turns.id, at("turnId"))))
    .orderBy(asc(turns.id))
    .limit(1)
    .prepare();
  const setProcess = orm
    .update(turns)
    .set({ pid: given("pid", turns.pid), processStart: given("processStart", turns.processStart) })
    .where(eq(turns.id, at("id")))
    .prepare();
  const setCheckpoint = orm
    .update(turns)
    .set({ checkpoint: given("checkpoint", turns.checkpoint) })
    .where(eq(turns.id, at("id")))
    .prepare();
  const end = orm
    .update(turns)
    .set({
      status: given("status", turns.status),
      error: given("error", turns.error),
      usage: given("usage", turns.usage),
      endedAt: given("endedAt", turns.endedAt),
      // Long, and no longer needed.
      checkpoint: null,
    })
    .where(and(eq(turns.id, at("id")), isRunning))
    .returning(columns)
    .prepare();
  const isOne = (outcome: CountedRequest) => sql`(${at("outcome")} = ${outcome})`;
  const countRequest = orm
    .update(turns)
    .set({
      allowed: sql`allowed + ${isOne("allowed")}`,
      denied: sql`denied + ${isOne("denied")}`,
      timedOut: sql`timed_out + ${isOne("timed_out")}`,
      abandoned: sql`abandoned + ${isOne("abandoned")}`,
      builtin: sql`builtin + ${isOne("builtin")}`,
    })
    .where(eq(turns.id, at("id")))
    .prepare();
  const runningOwners = orm
    .select({ id: turns.id, owner: turns.owner, sessionId: turns.sessionId, isBorrowed: turns.isBorrowed })
    .from(turns)
    .where(and(isRunning, isOurs))
    .prepare();
  const countInSlots = orm
    .select({ count: sql<number>`count(*)` })
    .from(turns)
    .where(and(isRunning, isOurs, eq(turns.isBorrowed, false)))
    .prepare();

  return {
    ...turnEventQueries(orm),
    ...endedTurnQueries(orm),
    ...queuedTurnQueries(orm, dataDirId),
    ...stopRequestQueries(orm, dataDirId),
    get: (id: string): TurnRow | undefined => byId.get({ id }),
    running: (sessionId: string): TurnRow | undefined => running.get({ sessionId }),
    latest: (sessionId: string): TurnRow | undefined => latest.get({ sessionId }),
    /** Returns whether the session has a running or queued turn; such a turn is always its newest. */
    isBusy: (sessionId: string): boolean => latest.get({ sessionId })?.endedAt === null,
    /** Only of this data dir. */
    runningOwners: (): RunningTurn[] => runningOwners.all(),
    /** Counts the slots of this data dir that are taken. */
    countInSlots: (): number => countInSlots.get()?.count ?? 0,
    /** Only of this data dir, in start order. */
    listRunning: (): TurnRow[] =>
      orm.select(columns).from(turns).where(and(isRunning, isOurs)).orderBy(asc(turns.id)).all(),
    /** Returns the newest first, beginning after `cursor`. */
    list: (
      scope: { owner?: string | undefined; sessionId?: string | undefined },
      limit: number,
      cursor?: string,
    ): TurnRow[] =>
      orm
        .select(columns)
        .from(turns)
        .where(
          and(
            cursor === undefined ? undefined : lt(turns.id, cursor),
            scope.owner === undefined ? undefined : eq(turns.owner, scope.owner),
            // SQLite uses the partial index only if the condition has the index's exact wording.
            scope.owner === undefined || scope.owner === "operator" ? undefined : sql`owner <> 'operator'`,
            scope.sessionId === undefined ? undefined : eq(turns.sessionId, scope.sessionId),
          ),
        )
        .orderBy(desc(turns.id))
        .limit(limit)
        .all(),
    /** Returns the session's next turn after this one. */
    firstAfter: (sessionId: string, turnId: string): TurnRow | undefined => firstAfter.get({ sessionId, turnId }),
    /** Returns `undefined` if the session already has a running turn. */
    createIfNoneRuns: (
      turn: Pick<TurnRow, "id" | "sessionId" | "owner" | "ephemeral" | "startedAt"> & {
        checkpoint: JsonObject;
        isBorrowed?: boolean;
      },
    ): TurnRow | undefined =>
      orm
        .insert(turns)
        .values({ ...turn, status: "running", isAccounted: true, dataDirId })
        .onConflictDoNothing()
        .returning(columns)
        .get(),
    /** Counts the outcome of one of the turn's requests. */
    countRequest: (id: string, outcome: CountedRequest): void => void countRequest.run({ id, outcome }),
    setProcess: (id: string, process: { pid: number; processStart: string }): void =>
      void setProcess.run({ id, ...process }),
    /** Returns the position in the child's output up to which it is stored, and the parser's state there. */
    checkpoint: (id: string): JsonObject | undefined => checkpointOf.get({ id })?.checkpoint ?? undefined,
    setCheckpoint: (id: string, checkpoint: JsonObject): void => void setCheckpoint.run({ id, checkpoint }),
    endIfRunning: (id: string, ended: EndedAs): TurnRow | undefined => end.get({ id, ...ended }),
  };
}
