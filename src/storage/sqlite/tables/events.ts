import { sql } from "drizzle-orm";
import { index, integer, primaryKey, sqliteTable, text } from "drizzle-orm/sqlite-core";
import type { ChangeKind } from "../../../contract/change.ts";

/** Notifications for watchers, in order. AUTOINCREMENT makes sure that no id is used twice. */
export const changes = sqliteTable(
  "changes",
  {
    id: integer().primaryKey({ autoIncrement: true }),
    kind: text().$type<ChangeKind>().notNull(),
    owner: text().notNull(),
    sessionId: text("session_id").notNull(),
    /** The approval or turn that the change is about. */
    subjectId: text("subject_id").notNull(),
    at: integer().notNull(),
  },
  (table) => [
    index("changes_of_owner").on(table.owner, table.id).where(sql`owner <> 'operator'`),
    index("changes_turn_ended").on(table.id).where(sql`kind = 'turn_ended'`),
    index("changes_turn_ended_of_owner").on(table.owner, table.id).where(sql`kind = 'turn_ended'`),
    index("changes_turn_ended_of_session").on(table.sessionId, table.id).where(sql`kind = 'turn_ended'`),
  ],
);

/**
 * The last change that each reader of ended turns has seen. A reader is an MCP client of an owner, or a name that the
 * caller chose; its position is for one session, or for all if `sessionId` is empty. The row without an owner holds the
 * position at which all readers began after an upgrade.
 */
export const readers = sqliteTable(
  "readers",
  {
    owner: text().notNull(),
    consumer: text().notNull(),
    sessionId: text("session_id").notNull(),
    position: integer().notNull(),
    usedAt: integer("used_at").notNull(),
  },
  (table) => [
    primaryKey({ columns: [table.owner, table.consumer, table.sessionId] }),
    index("readers_used").on(table.usedAt),
  ],
);

/** The last change delivered to each webhook. The id is a hash of the URL, because the URL may contain a secret. */
export const webhooks = sqliteTable("webhooks", {
  id: text().primaryKey(),
  /** The last change that was delivered or skipped. */
  position: integer().notNull(),
});
