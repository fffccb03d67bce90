import type { Database } from "bun:sqlite";
import { and, asc, desc, eq, inArray, isNull, lt, notInArray, sql } from "drizzle-orm";
import type { TokenRow } from "../../access.ts";
import { createMemory } from "../memory.ts";
import type { Orm } from "../statements/orm.ts";
import { tokens } from "../tables.ts";

export type TokenQueries = ReturnType<typeof tokenQueries>;

/** The cache is cleared when it holds this many tokens. */
const MAX_REMEMBERED = 10_000;

/** Every request looks up its caller's token, so tokens are cached until one may have been deleted. */
export function tokenQueries(orm: Orm, sqlite: Database, isAlone: boolean) {
  const byId = orm
    .select()
    .from(tokens)
    .where(eq(tokens.id, sql.placeholder("id")))
    .prepare();
  const { get, forget } = createMemory({ sqlite, isAlone, read: (id) => byId.get({ id }), most: MAX_REMEMBERED });
  /** Clears the cache before a change. If the transaction fails, the tokens are just read again. */
  const changing = () => {
    forget();
    return orm;
  };

  return {
    get,
    /** Call when something else has deleted tokens, such as the deletion of a session. */
    forget,
    /** Returns whether the caller's token was revoked; a caller without one of our tokens never is. */
    isRevoked: (id: string | undefined): boolean => id !== undefined && !byId.get({ id }),
    /** Returns `undefined` if another named token has this name. */
    createIfNameFree: (token: TokenRow): TokenRow | undefined =>
      orm.insert(tokens).values(token).onConflictDoNothing().returning().get(),
    findNamed: (name: string): TokenRow | undefined =>
      orm
        .select()
        .from(tokens)
        .where(and(eq(tokens.kind, "named"), eq(tokens.name, name)))
        .get(),
    listNamed: (): TokenRow[] =>
      orm.select().from(tokens).where(eq(tokens.kind, "named")).orderBy(asc(tokens.id)).all(),
    missing: (ids: string[]): string[] => {
      const found = new Set(
        orm
          .select({ id: tokens.id })
          .from(tokens)
          .where(inArray(tokens.id, ids))
          .all()
          .map(({ id }) => id),
      );
      return ids.filter((id) => !found.has(id));
    },
    noteUsed: (ids: string[], usedAt: number): void =>
      void changing().update(tokens).set({ usedAt }).where(inArray(tokens.id, ids)).run(),
    removeOfSession: (sessionId: string): void =>
      void changing().delete(tokens).where(eq(tokens.sessionId, sessionId)).run(),
    removeNamed: (id: string): TokenRow | undefined =>
      changing()
        .delete(tokens)
        .where(and(eq(tokens.kind, "named"), eq(tokens.id, id)))
        .returning()
        .get(),
    removeWeb: (id: string): void =>
      void changing()
        .delete(tokens)
        .where(and(eq(tokens.kind, "web"), eq(tokens.id, id)))
        .run(),
    /**
     * Deletes all but the `kept` newest web tokens that act as this named token, or as the operator; returns their ids.
     */
    removeOlderWebOf: (namedId: string | null, kept: number): string[] => {
      const own = and(eq(tokens.kind, "web"), namedId === null ? isNull(tokens.name) : eq(tokens.name, namedId));
      const newest = orm
        .select({ id: tokens.id })
        .from(tokens)
        .where(own)
        .orderBy(desc(tokens.createdAt), desc(sql`rowid`))
        .limit(kept);
      return changing()
        .delete(tokens)
        .where(and(own, notInArray(tokens.id, newest)))
        .returning({ id: tokens.id })
        .all()
        .map(({ id }) => id);
    },
    /** Deletes all web tokens that act as this named token; returns their ids. */
    removeWebOf: (namedId: string): string[] =>
      changing()
        .delete(tokens)
        .where(and(eq(tokens.kind, "web"), eq(tokens.name, namedId)))
        .returning({ id: tokens.id })
        .all()
        .map(({ id }) => id),
    /** Returns their ids. */
    removeEveryWeb: (): string[] =>
      changing()
        .delete(tokens)
        .where(eq(tokens.kind, "web"))
        .returning({ id: tokens.id })
        .all()
        .map(({ id }) => id),
    /** Deletes up to `limit` web tokens created before `before`; returns how many. */
    removeWebBefore: (before: number, limit: number): number => {
      const old = orm
        .select({ id: tokens.id })
        .from(tokens)
        .where(and(eq(tokens.kind, "web"), lt(tokens.createdAt, before)))
        .limit(limit);
      return changing().delete(tokens).where(inArray(tokens.id, old)).returning({ id: tokens.id }).all().length;
    },
  };
}
