import { and, asc, desc, eq, inArray, isNull, lt, notInArray, sql } from "drizzle-orm";
import type { TokenRow } from "../../access.ts";
import type { Orm } from "../database.ts";
import { tokens } from "../tables.ts";

export type TokenQueries = ReturnType<typeof tokenQueries>;

export function tokenQueries(orm: Orm) {
  const byId = orm
    .select()
    .from(tokens)
    .where(eq(tokens.id, sql.placeholder("id")))
    .prepare();
  return {
    get: (id: string): TokenRow | undefined => byId.get({ id }),
    /** Returns `undefined` when another named token has that name. */
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
    removeOfSession: (sessionId: string): void => void orm.delete(tokens).where(eq(tokens.sessionId, sessionId)).run(),
    removeNamed: (id: string): TokenRow | undefined =>
      orm
        .delete(tokens)
        .where(and(eq(tokens.kind, "named"), eq(tokens.id, id)))
        .returning()
        .get(),
    removeWeb: (id: string): void =>
      void orm
        .delete(tokens)
        .where(and(eq(tokens.kind, "web"), eq(tokens.id, id)))
        .run(),
    /** Those that act as this named token, or as the operator, but for the newest; tells their ids. */
    removeOlderWebOf: (namedId: string | null, kept: number): string[] => {
      const own = and(eq(tokens.kind, "web"), namedId === null ? isNull(tokens.name) : eq(tokens.name, namedId));
      const newest = orm
        .select({ id: tokens.id })
        .from(tokens)
        .where(own)
        .orderBy(desc(tokens.createdAt), desc(sql`rowid`))
        .limit(kept);
      return orm
        .delete(tokens)
        .where(and(own, notInArray(tokens.id, newest)))
        .returning({ id: tokens.id })
        .all()
        .map(({ id }) => id);
    },
    /** Those that act as this named token; tells their ids. */
    removeWebOf: (namedId: string): string[] =>
      orm
        .delete(tokens)
        .where(and(eq(tokens.kind, "web"), eq(tokens.name, namedId)))
        .returning({ id: tokens.id })
        .all()
        .map(({ id }) => id),
    /** Tells their ids. */
    removeEveryWeb: (): string[] =>
      orm
        .delete(tokens)
        .where(eq(tokens.kind, "web"))
        .returning({ id: tokens.id })
        .all()
        .map(({ id }) => id),
    /** Forgets up to `limit` of those made before `before`; returns how many. */
    removeWebBefore: (before: number, limit: number): number => {
      const old = orm
        .select({ id: tokens.id })
        .from(tokens)
        .where(and(eq(tokens.kind, "web"), lt(tokens.createdAt, before)))
        .limit(limit);
      return orm.delete(tokens).where(inArray(tokens.id, old)).returning({ id: tokens.id }).all().length;
    },
  };
}
