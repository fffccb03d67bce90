import type { Database } from "bun:sqlite";
import { and, desc, eq, getTableColumns, lt, or, type SQL, sql } from "drizzle-orm";
import type { SessionStatus } from "../../../contract/sessions/turn.ts";
import type { ListedSession, SessionRow, SessionSize } from "../../sessions.ts";
import { createMemory } from "../memory.ts";
import type { Orm } from "../statements/orm.ts";
import { given } from "../statements/parameters.ts";
import { sessions } from "../tables.ts";

export type SessionQueries = ReturnType<typeof sessionQueries>;
type SessionPage = { status?: SessionStatus | undefined; cursor?: string | undefined; limit: number };

/** Short compared with the time that a sighting counts for, and long compared with the time between two requests. */
const SEEN_AGAIN_MS = 1_000;

/** The cache holds this many sessions; those with longer settings are not cached. */
const MAX_REMEMBERED = 1_000;
const MAX_REMEMBERED_CHARS = 16_000;

export function sessionQueries(orm: Orm, sqlite: Database, isAlone: boolean) {
  const at = sql.placeholder;
  const byId = orm
    .select()
    .from(sessions)
    .where(eq(sessions.id, at("id")))
    .prepare();
  /** Every request reads its session, which hardly ever changes. */
  const memory = createMemory({
    ...{ sqlite, isAlone, most: MAX_REMEMBERED },
    read: (id) => byId.get({ id }),
    isSmall: ({ config, nextConfig }) => JSON.stringify([config, nextConfig]).length <= MAX_REMEMBERED_CHARS,
  });
  const byIdOrName = orm
    .select()
    .from(sessions)
    .where(or(eq(sessions.id, at("key")), and(eq(sessions.owner, at("owner")), eq(sessions.name, at("key")))))
    .orderBy(desc(eq(sessions.id, at("key"))))
    .prepare();
  const byName = orm
    .select()
    .from(sessions)
    .where(and(eq(sessions.owner, at("owner")), eq(sessions.name, at("name"))))
    .prepare();
  const newestNames = orm
    .select({ name: sessions.name })
    .from(sessions)
    .where(eq(sessions.owner, at("owner")))
    .orderBy(desc(sessions.id))
    .limit(at("limit"))
    .prepare();
  const { config: _, nextConfig: __, ...columns } = getTableColumns(sessions);
  const listed = orm
    .select({ ...columns, workingDir: sql<string | null>`json_extract(config, '$.working_dir')` })
    .from(sessions)
    .where(eq(sessions.id, at("id")))
    .prepare();
  const sizeOf = orm
    .select({ count: sql<number>`count(*)`, bytes: sql<number>`coalesce(sum(${configBytes}), 0)` })
    .from(sessions)
    .where(eq(sessions.owner, at("owner")))
    .prepare();
  const onTree = orm
    .select({ id: sessions.id })
    .from(sessions)
    .where(eq(sessions.treeId, at("treeId")))
    .limit(1)
    .prepare();
  const noteSeen = orm
    .update(sessions)
    .set({ seenAt: given("at", sessions.seenAt) })
    .where(and(eq(sessions.id, at("id")), sql`seen_at < ${at("at")} - ${SEEN_AGAIN_MS}`))
    .returning({ id: sessions.id })
    .prepare();
  const setHead = orm
    .update(sessions)
    .set({ headNodeId: given("headNodeId", sessions.headNodeId) })
    .where(eq(sessions.id, at("id")))
    .prepare();

  /** Removes the session from the cache before a change. If the transaction fails, it is just read again. */
  function changing(id: string): Orm {
    memory.forget(id);
    return orm;
  }

  return {
    get: (id: string): SessionRow | undefined => byId.get({ id }),
    /** The same from the cache, for use outside of transactions. */
    remembered: memory.get,
    /** Finds a session by id, or by the name that this owner gave it. */
    find: (owner: string, key: string): SessionRow | undefined => byIdOrName.get({ owner, key }),
    named: (owner: string, name: string): SessionRow | undefined => byName.get({ owner, name }),
    names: (owner: string, limit: number): string[] => newestNames.all({ owner, limit }).map(({ name }) => name),
    create: (session: SessionRow): void => void orm.insert(sessions).values(session).run(),
    listed: (id: string): ListedSession | undefined => listed.get({ id }),
    /** Returns the size of this owner's sessions; the cost grows with their number. */
    sizeOf: (owner: string): SessionSize => sizeOf.get({ owner }) ?? { count: 0, bytes: 0 },
    /** Lists ids, newest first, beginning after `cursor`, each with the size of its settings, without reading these. */
    list: (owner: string | undefined, { status, cursor, limit }: SessionPage): { id: string; configBytes: number }[] =>
      orm
        .select({ id: sessions.id, configBytes: sql<number>`${configBytes}` })
        .from(sessions)
        .where(
          and(
            cursor === undefined ? undefined : lt(sessions.id, cursor),
            owner === undefined ? undefined : eq(sessions.owner, owner),
            status && hasStatus[status],
          ),
        )
        .orderBy(desc(sessions.id))
        .limit(limit)
        .all(),
    set: (
      id: string,
      change: Partial<Pick<SessionRow, "config" | "nextConfig" | "loopbackTimeoutSecs" | "serversFrom">>,
    ): void => void changing(id).update(sessions).set(change).where(eq(sessions.id, id)).run(),
    setConversation: (id: string, conversation: { claudeSessionId: string; totalCostUsd: number }): void =>
      void changing(id)
        .update(sessions)
        .set({ ...conversation, forkedFrom: null })
        .where(eq(sessions.id, id))
        .run(),
    addCost: (id: string, costUsd: number): void =>
      void changing(id)
        .update(sessions)
        .set({ ownCostUsd: sql`own_cost_usd + ${costUsd}` })
        .where(eq(sessions.id, id))
        .run(),
    setHead(id: string, headNodeId: string): void {
      memory.forget(id);
      setHead.run({ id, headNodeId });
    },
    /** Records that a claude started by hand was configured or made a request, at most once per `SEEN_AGAIN_MS`. */
    noteSeen(id: string, at: number): void {
      const seenAt = memory.known(id)?.seenAt;
      const isNoted = seenAt !== undefined && (seenAt === null || seenAt >= at - SEEN_AGAIN_MS);
      if (!isNoted && noteSeen.get({ id, at })) memory.forget(id);
    },
    isTreeUsed: (treeId: string): boolean => onTree.get({ treeId }) !== undefined,
    remove: (id: string): void => void changing(id).delete(sessions).where(eq(sessions.id, id)).run(),
  };
}

/** The size of a session's present and future settings. */
const configBytes = sql`(coalesce(octet_length(config), 0) + coalesce(octet_length(next_config), 0))`;

/** A session's status is derived from its newest turn and its pending requests, as in the rest of Plexus. */
const newestTurn = sql`(SELECT status FROM turns WHERE session_id = sessions.id ORDER BY id DESC LIMIT 1)`;
const isAsking = sql`EXISTS (SELECT 1 FROM loopback_approvals WHERE session_id = sessions.id AND status = 'pending')`;
/** These subqueries come first, because few turns run or are queued, while there may be many sessions. */
const isRunning = sql`${sessions.id} IN (SELECT session_id FROM turns WHERE status = 'running')`;
const isQueued = sql`${sessions.id} IN (SELECT session_id FROM turns WHERE status = 'queued')`;
const hasStatus: Record<SessionStatus, SQL> = {
  idle: sql`${newestTurn} IS NULL`,
  queued: sql`${isQueued} AND ${newestTurn} = 'queued'`,
  running: sql`${isRunning} AND ${newestTurn} = 'running' AND NOT ${isAsking}`,
  awaiting_permission: sql`${isRunning} AND ${newestTurn} = 'running' AND ${isAsking}`,
  complete: sql`${newestTurn} = 'complete'`,
  failed: sql`${newestTurn} = 'failed'`,
  cancelled: sql`${newestTurn} = 'cancelled'`,
};
