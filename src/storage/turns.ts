import { and, asc, desc, eq, gte, inArray, lt, sql } from "drizzle-orm";
import type { TurnEvent, Usage } from "../schema/turn.ts";
import type { Orm } from "./database.ts";
import { readPositions, turnEvents, turns } from "./tables.ts";

export type TurnRow = typeof turns.$inferSelect;
export type NumberedTurnEvent = { seq: number; event: TurnEvent };
export type TurnEnd = {
  status: "complete" | "failed" | "cancelled";
  error: string | null;
  usage: Usage | null;
  endedAt: number;
};

const isRunning = sql`status = 'running'`;

/** Queries on turns and their events. What writes is called inside a transaction of the writer. */
export function turnQueries(orm: Orm) {
  const at = sql.placeholder;
  const byId = orm
    .select()
    .from(turns)
    .where(eq(turns.id, at("id")))
    .prepare();
  const running = orm
    .select()
    .from(turns)
    .where(and(eq(turns.sessionId, at("sessionId")), isRunning))
    .prepare();
  const latest = orm
    .select()
    .from(turns)
    .where(eq(turns.sessionId, at("sessionId")))
    .orderBy(desc(turns.id))
    .limit(1)
    .prepare();
  const take = orm
    .update(turns)
    .set({ eventCount: sql`event_count + ${at("count")}` })
    .where(and(eq(turns.id, at("id")), isRunning))
    .returning({ next: turns.eventCount })
    .prepare();
  const insertEvent = orm
    .insert(turnEvents)
    .values({ turnId: at("turnId"), seq: at("seq"), event: at("event") })
    .prepare();
  const countRunning = orm.select({ count: sql<number>`count(*)` }).from(turns).where(isRunning).prepare();

  return {
    get: (id: string): TurnRow | undefined => byId.get({ id }),
    running: (sessionId: string): TurnRow | undefined => running.get({ sessionId }),
    latest: (sessionId: string): TurnRow | undefined => latest.get({ sessionId }),
    countRunning: (): number => countRunning.get()?.count ?? 0,
    listRunning: (): TurnRow[] => orm.select().from(turns).where(isRunning).orderBy(asc(turns.id)).all(),
    /** Newest first. */
    list: (scope: { owner?: string | undefined; sessionId?: string | undefined }, limit: number): TurnRow[] =>
      orm
        .select()
        .from(turns)
        .where(
          and(
            scope.owner === undefined ? undefined : eq(turns.owner, scope.owner),
            scope.sessionId === undefined ? undefined : eq(turns.sessionId, scope.sessionId),
          ),
        )
        .orderBy(desc(turns.id))
        .limit(limit)
        .all(),
    /** Returns `undefined` when the session has a turn that runs. */
    createIfNoneRuns: (
      turn: Pick<TurnRow, "id" | "sessionId" | "owner" | "ephemeral" | "startedAt">,
    ): TurnRow | undefined =>
      orm
        .insert(turns)
        .values({ ...turn, status: "running" })
        .onConflictDoNothing()
        .returning()
        .get(),
    setProcess: (id: string, process: { pid: number; processStart: string }): void =>
      void orm.update(turns).set(process).where(eq(turns.id, id)).run(),
    setOutputOffset: (id: string, outputOffset: number): void =>
      void orm.update(turns).set({ outputOffset }).where(eq(turns.id, id)).run(),
    /** Numbers the events without a gap; what comes after the end of a turn is not taken. */
    appendIfRunning: (id: string, events: TurnEvent[]): boolean => {
      const taken = take.get({ id, count: events.length });
      if (!taken) return false;
      const first = taken.next - events.length;
      for (const [index, event] of events.entries()) insertEvent.run({ turnId: id, seq: first + index, event });
      return true;
    },
    endIfRunning: (id: string, end: TurnEnd): TurnRow | undefined =>
      orm
        .update(turns)
        .set(end)
        .where(and(eq(turns.id, id), isRunning))
        .returning()
        .get(),
    events: (turnId: string, fromSeq: number, limit: number): NumberedTurnEvent[] =>
      orm
        .select({ seq: turnEvents.seq, event: turnEvents.event })
        .from(turnEvents)
        .where(and(eq(turnEvents.turnId, turnId), gte(turnEvents.seq, fromSeq)))
        .orderBy(asc(turnEvents.seq))
        .limit(limit)
        .all(),
    position: (turnId: string, consumer: string): number =>
      orm
        .select({ position: readPositions.position })
        .from(readPositions)
        .where(and(eq(readPositions.turnId, turnId), eq(readPositions.consumer, consumer)))
        .get()?.position ?? 0,
    /** A position only moves forward. */
    advance: (turnId: string, consumer: string, position: number): void =>
      void orm
        .insert(readPositions)
        .values({ turnId, consumer, position })
        .onConflictDoUpdate({
          target: [readPositions.turnId, readPositions.consumer],
          set: { position: sql`max(position, excluded.position)` },
        })
        .run(),
    /** Forgets up to `limit` of those that ended before `before`; tells how many. */
    removeEndedBefore: (before: number, limit: number): number => {
      const old = orm
        .select({ id: turns.id })
        .from(turns)
        .where(and(sql`status <> 'running'`, lt(turns.endedAt, before)))
        .limit(limit);
      return orm.delete(turns).where(inArray(turns.id, old)).returning({ id: turns.id }).all().length;
    },
  };
}
