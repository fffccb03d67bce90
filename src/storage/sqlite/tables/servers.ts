import { integer, sqliteTable, text } from "drizzle-orm/sqlite-core";

/** One row: the id of the data dir that contains this database. */
export const dataDir = sqliteTable("data_dir", { id: text().primaryKey() });

/** The servers that use this database, each until its lease runs out. */
export const servers = sqliteTable("servers", {
  id: text().primaryKey(),
  leaseUntil: integer("lease_until").notNull(),
});
