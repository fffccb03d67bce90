import { asc, eq, inArray, isNull, lte, sql } from "drizzle-orm";
import type { SignInCodeRow } from "../../access.ts";
import type { Orm } from "../statements/orm.ts";
import { signInCodes } from "../tables.ts";

export type SignInCodeQueries = ReturnType<typeof signInCodeQueries>;

export function signInCodeQueries(orm: Orm) {
  return {
    create: (code: SignInCodeRow): void => void orm.insert(signInCodes).values(code).run(),
    /** Keeps only the `kept` newest codes of this creator. */
    removeOldestOf: (tokenId: string | null, kept: number): void => {
      const own = tokenId === null ? isNull(signInCodes.tokenId) : eq(signInCodes.tokenId, tokenId);
      const found = orm.select({ hash: signInCodes.hash }).from(signInCodes).where(own).orderBy(asc(sql`rowid`)).all();
      const excess = found.slice(0, Math.max(0, found.length - kept)).map(({ hash }) => hash);
      if (excess.length > 0) orm.delete(signInCodes).where(inArray(signInCodes.hash, excess)).run();
    },
    removeExpired: (now: number): void => void orm.delete(signInCodes).where(lte(signInCodes.expiresAt, now)).run(),
    take: (hash: string): SignInCodeRow | undefined =>
      orm.delete(signInCodes).where(eq(signInCodes.hash, hash)).returning().get(),
    removeAll: (): void => void orm.delete(signInCodes).run(),
  };
}
