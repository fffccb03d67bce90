import { and, eq, sql } from "drizzle-orm";
import type { Orm } from "../statements/orm.ts";
import { given } from "../statements/parameters.ts";
import { turns } from "../tables.ts";

const isRunning = sql`status = 'running'`;

/** Requests from servers of other data dirs to stop a turn. */
export function stopRequestQueries(orm: Orm, dataDirId: string) {
  const at = sql.placeholder;
  const ask = orm
    .update(turns)
    .set({ stopReason: given("reason", turns.stopReason) })
    .where(and(eq(turns.id, at("id")), isRunning, sql`data_dir_id IS NOT ${dataDirId}`))
    .returning({ id: turns.id })
    .prepare();
  const asked = orm
    .select({ id: turns.id, reason: sql<string>`stop_reason` })
    .from(turns)
    .where(and(isRunning, eq(turns.dataDirId, dataDirId), sql`stop_reason IS NOT NULL`))
    .prepare();

  return {
    stopElsewhere: (id: string, reason: string): boolean => ask.get({ id, reason }) !== undefined,
    stopsAskedFor: (): { id: string; reason: string }[] => asked.all(),
  };
}
