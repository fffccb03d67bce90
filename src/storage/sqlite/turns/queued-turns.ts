import { and, eq, getTableColumns, sql } from "drizzle-orm";
import type { JsonObject } from "../../../contract/values.ts";
import type { QueuedTurn, QueueSize, TurnRow } from "../../turns.ts";
import type { Orm } from "../statements/orm.ts";
import { given } from "../statements/parameters.ts";
import { turns } from "../tables.ts";

const isQueued = sql`status = 'queued'`;

/** Queries on turns that wait for a slot. Those that write run inside a transaction of the writer. */
export function queuedTurnQueries(orm: Orm, dataDirId: string) {
  const at = sql.placeholder;
  const { checkpoint: _, prompt, stopReason: __, ...columns } = getTableColumns(turns);
  const isQueuedHere = and(isQueued, eq(turns.dataDirId, dataDirId));
  const list = orm
    .select({ id: turns.id, owner: turns.owner })
    .from(turns)
    .where(isQueuedHere)
    .orderBy(sql`+id`)
    .prepare();
  const listOf = orm
    .select({ id: turns.id })
    .from(turns)
    .where(and(isQueued, eq(turns.owner, at("owner"))))
    .prepare();
  const any = orm.select({ id: turns.id }).from(turns).where(isQueuedHere).limit(1).prepare();
  const size = { count: sql<number>`count(*)`, bytes: sql<number>`coalesce(sum(octet_length(prompt)), 0)` };
  const sizeOfAll = orm.select(size).from(turns).where(isQueued).prepare();
  const sizeOf = orm
    .select(size)
    .from(turns)
    .where(and(isQueued, eq(turns.owner, at("owner"))))
    .prepare();
  const promptOf = orm
    .select({ prompt })
    .from(turns)
    .where(and(isQueued, eq(turns.id, at("id"))))
    .prepare();
  const start = orm
    .update(turns)
    .set({
      status: "running",
      prompt: null,
      startedAt: given("startedAt", turns.startedAt),
      isBorrowed: given("isBorrowed", turns.isBorrowed),
    })
    .where(and(isQueued, eq(turns.id, at("id"))))
    .returning(columns)
    .prepare();

  return {
    /** Only in this data dir. */
    isAnyQueued: (): boolean => any.get() !== undefined,
    queuedPrompt: (id: string): string | undefined => promptOf.get({ id })?.prompt ?? undefined,
    /** Only of this data dir, in the order in which they were queued. */
    listQueued: (): QueuedTurn[] => list.all(),
    /** Of all data dirs. */
    queuedIdsOf: (owner: string): string[] => listOf.all({ owner }).map(({ id }) => id),
    /** Returns what is queued in all data dirs, of one owner or of all. */
    queueSize: (owner?: string): QueueSize =>
      (owner === undefined ? sizeOfAll.get() : sizeOf.get({ owner })) ?? { count: 0, bytes: 0 },
    /** The caller must make sure that the session has no running or queued turn. */
    createQueued: (
      turn: Pick<TurnRow, "id" | "sessionId" | "owner" | "ephemeral" | "startedAt"> & {
        checkpoint: JsonObject;
        prompt: string;
      },
    ): TurnRow =>
      orm
        .insert(turns)
        .values({ ...turn, status: "queued", isAccounted: true, dataDirId })
        .returning(columns)
        .get(),
    /** Returns the turn, now running, and its prompt; `undefined` if it is not queued. */
    startIfQueued: (
      id: string,
      startedAt: number,
      isBorrowed = false,
    ): { turn: TurnRow; prompt: string } | undefined => {
      const prompt = promptOf.get({ id })?.prompt;
      const turn = start.get({ id, startedAt, isBorrowed });
      return turn && { turn, prompt: prompt ?? "" };
    },
  };
}
