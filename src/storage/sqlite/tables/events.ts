import { sql } from "drizzle-orm";
import { index, integer, primaryKey, sqliteTable, text } from "drizzle-orm/sqlite-core";
import type { ChangeKind } from "../../../contract/change.ts";

/** What watchers are told, in order; AUTOINCREMENT, so that an id is never given twice. */
export const changes = sqliteTable(
  "changes",
  {
    id: integer().primaryKey({ autoIncrement: true }),
    kind: text().$type<ChangeKind>().notNull(),
    owner: text().notNull(),
    sessionId: text("session_id").notNull(),
    /** The approval or the turn that it tells of. */
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
 * Up to which change each reader has been told of the turns that ended: a client of an owner, or a name that it gave
 * itself, in one session or, where that is empty, in all. The row without an owner is where everybody began at an upgrade.
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

/** How far each webhook has been told; its URL may be a secret, so a hash of it stands here. */
export const webhooks = sqliteTable("webhooks", {
  id: text().primaryKey(),
  /** The last change that it has been told of, or will not be. */
  position: integer().notNull(),
});
