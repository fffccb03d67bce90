import { sql } from "drizzle-orm";
import { index, integer, primaryKey, sqliteTable, text } from "drizzle-orm/sqlite-core";
import type { AuditChain } from "../../../contract/audit.ts";

/** The hash chains over decisions: each entry's hash covers the hash before it. */
export const audit = sqliteTable(
  "audit",
  {
    chain: text().$type<AuditChain>().notNull(),
    seq: integer().notNull(),
    /** The decision that the entry records; null for an entry about the chain itself. */
    approvalId: text("approval_id"),
    at: integer().notNull(),
    /** JSON, exactly as it was hashed. */
    entry: text().notNull(),
    hash: text().notNull(),
  },
  (table) => [
    primaryKey({ columns: [table.chain, table.seq] }),
    index("audit_of_the_chain").on(table.chain, table.seq).where(sql`approval_id IS NULL`),
  ],
);

/** The last deleted entry of each chain: the first remaining entry builds on this hash. */
export const auditCheckpoints = sqliteTable("audit_checkpoints", {
  chain: text().$type<AuditChain>().primaryKey(),
  seq: integer().notNull(),
  hash: text().notNull(),
  /** When the chain began. */
  chainedSince: integer("chained_since").notNull(),
});
