import { sql } from "drizzle-orm";
import { index, integer, sqliteTable, text, uniqueIndex } from "drizzle-orm/sqlite-core";
import type { ApprovalStatus } from "../schema/approval.ts";
import type { ChangeKind } from "../schema/change.ts";
import type { SessionKind } from "../schema/session.ts";
import type { JsonObject } from "../schema/values.ts";

/** Times are Unix milliseconds; ids are UUIDv7, so that the order of ids is the order of creation. */
export const sessions = sqliteTable(
  "sessions",
  {
    id: text().primaryKey(),
    name: text().notNull(),
    owner: text().notNull(),
    kind: text().$type<SessionKind>().notNull(),
    loopbackTimeoutSecs: integer("loopback_timeout_secs"),
    createdAt: integer("created_at").notNull(),
  },
  (table) => [uniqueIndex("sessions_owner_name").on(table.owner, table.name)],
);

/** An approval carries its session's name and owner, so that the record of a decision outlives the session. */
export const approvals = sqliteTable(
  "loopback_approvals",
  {
    id: text().primaryKey(),
    sessionId: text("session_id").notNull(),
    sessionName: text("session_name").notNull(),
    owner: text().notNull(),
    toolName: text("tool_name").notNull(),
    toolUseId: text("tool_use_id"),
    input: text({ mode: "json" }).$type<JsonObject>().notNull(),
    askHash: text("ask_hash").notNull(),
    status: text().$type<ApprovalStatus>().notNull(),
    responseMessage: text("response_message"),
    updatedInput: text("updated_input", { mode: "json" }).$type<JsonObject>(),
    interrupt: integer({ mode: "boolean" }).notNull().default(false),
    createdAt: integer("created_at").notNull(),
    expiresAt: integer("expires_at").notNull(),
    resolvedAt: integer("resolved_at"),
    resolvedBy: text("resolved_by"),
  },
  (table) => [
    index("approvals_pending_by_session").on(table.sessionId, table.id).where(sql`status = 'pending'`),
    index("approvals_pending_by_deadline").on(table.expiresAt).where(sql`status = 'pending'`),
    index("approvals_resolved").on(table.resolvedAt).where(sql`status <> 'pending'`),
    uniqueIndex("approvals_same_ask")
      .on(table.sessionId, table.toolUseId, table.askHash)
      .where(sql`tool_use_id IS NOT NULL AND status <> 'abandoned'`),
  ],
);

export const tokens = sqliteTable(
  "tokens",
  {
    id: text().primaryKey(),
    kind: text().$type<"named" | "child">().notNull(),
    name: text(),
    sessionId: text("session_id").references(() => sessions.id, { onDelete: "cascade" }),
    hash: text().notNull(),
    createdAt: integer("created_at").notNull(),
  },
  (table) => [
    uniqueIndex("tokens_name").on(table.name).where(sql`kind = 'named'`),
    index("tokens_session").on(table.sessionId),
  ],
);

/** What watchers are told, in order; AUTOINCREMENT, so that an id is never given twice. */
export const changes = sqliteTable("changes", {
  id: integer().primaryKey({ autoIncrement: true }),
  kind: text().$type<ChangeKind>().notNull(),
  owner: text().notNull(),
  sessionId: text("session_id").notNull(),
  approvalId: text("approval_id").notNull(),
  at: integer().notNull(),
});

/** MCP clients that were told a session id: what they set up with us is replayed when the process that knew it is gone. */
export const mcpClients = sqliteTable(
  "mcp_clients",
  {
    id: text().primaryKey(),
    owner: text().notNull(),
    setup: text({ mode: "json" }).$type<JsonObject[]>().notNull(),
    usedAt: integer("used_at").notNull(),
  },
  (table) => [index("mcp_clients_used").on(table.usedAt), index("mcp_clients_owner").on(table.owner)],
);
