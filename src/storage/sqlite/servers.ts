import { and, eq, lte, ne, type SQL, sql } from "drizzle-orm";
import type { ServerStorage } from "../servers.ts";
import type { Orm } from "./statements/orm.ts";
import { approvals, servers } from "./tables.ts";
import type { Write } from "./writer.ts";

type ServersNeed = {
  orm: Orm;
  write: Write;
  serverId: string;
  now: () => number;
  /** True for the process that has locked the data dir: all other servers are gone, whatever their leases say. */
  isAlone: boolean;
};

export function serverCommands({ orm, write, serverId, now, isAlone }: ServersNeed): ServerStorage {
  const isOther = ne(servers.id, serverId);
  let hasJoined = false;

  return {
    id: serverId,
    renew: (forMs) =>
      write(() => {
        const at = now();
        orm
          .delete(servers)
          .where(isAlone ? isOther : and(isOther, lte(servers.leaseUntil, at)))
          .run();
        const before = orm.select().from(servers).where(eq(servers.id, serverId)).get();
        const leaseUntil = at + forMs;
        orm
          .insert(servers)
          .values({ id: serverId, leaseUntil })
          .onConflictDoUpdate({ target: servers.id, set: { leaseUntil } })
          .run();
        const hasLapsed = hasJoined && !isAlone && (before?.leaseUntil ?? 0) <= at;
        hasJoined = true;
        return hasLapsed ? "lapsed" : "renewed";
      }),
    leave: () => write(() => void orm.delete(servers).where(eq(servers.id, serverId)).run()),
  };
}

/** The condition for pending requests held by servers that are gone; takes the parameters `serverId` and `now`. */
export function heldByGone(isAlone: boolean): SQL {
  const [serverId, now] = [sql.placeholder("serverId"), sql.placeholder("now")];
  const isOthers = sql`${approvals.heldBy} IS NOT ${serverId}`;
  const lives = sql`SELECT 1 FROM ${servers} WHERE ${servers.id} = ${approvals.heldBy} AND ${servers.leaseUntil} > ${now}`;
  return isAlone ? sql`(${isOthers} AND ${now} IS NOT NULL)` : sql`(${isOthers} AND NOT EXISTS (${lives}))`;
}
