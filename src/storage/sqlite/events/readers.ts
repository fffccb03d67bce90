import { and, asc, desc, eq, inArray, lt, lte, sql } from "drizzle-orm";
import type { FirstTold, Reader, ReaderStanding } from "../../readers.ts";
import type { Orm } from "../statements/orm.ts";
import { changes, readers } from "../tables.ts";

export type ReaderQueries = ReturnType<typeof readerQueries>;

const IN_ALL = "";
/**
 * A reader in constant use is saved again only after this time; its age only decides which readers are deleted first.
 */
const NOTED_AGAIN_MS = 60_000;
/** The row with the position at which all readers began after an upgrade. */
const EVERYBODY = { owner: "", consumer: "", sessionId: IN_ALL };

export function readerQueries(orm: Orm) {
  const at = sql.placeholder;
  const byKey = orm
    .select({ position: readers.position, usedAt: readers.usedAt })
    .from(readers)
    .where(
      and(eq(readers.owner, at("owner")), eq(readers.consumer, at("consumer")), eq(readers.sessionId, at("sessionId"))),
    )
    .prepare();
  const countOf = orm
    .select({ count: sql<number>`count(*)` })
    .from(readers)
    .where(eq(readers.owner, at("owner")))
    .prepare();
  const furthestOf = orm
    .select({ position: sql<number | null>`max(position)` })
    .from(readers)
    .where(and(eq(readers.owner, at("owner")), eq(readers.sessionId, at("sessionId"))))
    .prepare();
  const save = orm
    .insert(readers)
    .values({
      owner: at("owner"),
      consumer: at("consumer"),
      sessionId: at("sessionId"),
      position: at("position"),
      usedAt: at("usedAt"),
    })
    .onConflictDoUpdate({
      target: [readers.owner, readers.consumer, readers.sessionId],
      set: { position: sql`max(position, excluded.position)`, usedAt: sql`excluded.used_at` },
    })
    .prepare();

  const find = ({ owner, consumer }: Reader, sessionId = IN_ALL) => byKey.get({ owner, consumer, sessionId });
  const furthest = (owner: string, sessionId: string) => furthestOf.get({ owner, sessionId })?.position ?? 0;
  const start = () => find(EVERYBODY)?.position ?? 0;

  /** Returns the position before the recently ended turns that other readers have already seen. */
  function beforeRecent(told: number, visible: string | undefined, { endedSince, limit }: FirstTold): number {
    const recent = orm
      .select({ id: changes.id, at: changes.at })
      .from(changes)
      .where(
        and(
          lte(changes.id, told),
          sql`kind = 'turn_ended'`,
          visible === undefined ? undefined : eq(changes.owner, visible),
        ),
      )
      .orderBy(desc(changes.id))
      .limit(limit)
      .all()
      .filter((change) => change.at >= endedSince);
    return (recent.at(-1)?.id ?? told + 1) - 1;
  }

  return {
    standing: (reader: Reader, visible: string | undefined, first: FirstTold): ReaderStanding => {
      const { owner, sessionId } = reader;
      // What a reader has seen in one session says nothing about other sessions.
      const told = Math.max(start(), furthest(owner, IN_ALL));
      const toldHere = sessionId === undefined ? told : Math.max(told, furthest(owner, sessionId));
      const all = find(reader)?.position;
      const own = sessionId === undefined ? undefined : find(reader, sessionId)?.position;
      const inAll = all ?? Math.max(start(), beforeRecent(told, visible, first));
      return {
        position: Math.max(inAll, own ?? 0),
        isKnown: all !== undefined || own !== undefined,
        furthest: toldHere,
      };
    },
    /** Advances a reader, never back. Returns whether the reader is new. */
    advance: ({ owner, consumer, sessionId = IN_ALL }: Reader, position: number, now: number): boolean => {
      const known = byKey.get({ owner, consumer, sessionId });
      if (known && known.position >= position && known.usedAt > now - NOTED_AGAIN_MS) return false;
      save.run({ owner, consumer, sessionId, position, usedAt: now });
      return known === undefined;
    },
    /** Keeps only the `most` recently used readers of this owner. */
    removeOldestOf: (owner: string, most: number): void => {
      const excess = (countOf.get({ owner })?.count ?? 0) - most;
      if (excess <= 0) return;
      const old = orm
        .select({ rowid: sql<number>`rowid` })
        .from(readers)
        .where(eq(readers.owner, owner))
        .orderBy(asc(readers.usedAt), sql`rowid`)
        .limit(excess);
      orm.delete(readers).where(inArray(sql`rowid`, old)).run();
    },
    removeOwned: (owner: string): void => void orm.delete(readers).where(eq(readers.owner, owner)).run(),
    removeUnusedSince: (before: number, limit: number): number => {
      const old = orm
        .select({ rowid: sql<number>`rowid` })
        .from(readers)
        .where(lt(readers.usedAt, before))
        .limit(limit);
      return orm.delete(readers).where(inArray(sql`rowid`, old)).returning({ owner: readers.owner }).all().length;
    },
  };
}
