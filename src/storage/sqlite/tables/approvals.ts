import { sql } from "drizzle-orm";
import { index, integer, sqliteTable, text, uniqueIndex } from "drizzle-orm/sqlite-core";
import type { ApprovalStatus } from "../../../contract/approvals/approval.ts";
import type { LinkVerdict } from "../../../contract/link.ts";
import type { JsonObject } from "../../../contract/values.ts";

/** An approval stores its session's name and owner, so the record of a decision outlives the session. */
export const approvals = sqliteTable(
  "loopback_approvals",
  {
    id: text().primaryKey(),
    sessionId: text("session_id").notNull(),
    sessionName: text("session_name").notNull(),
    /** The turn whose child made the request; for a claude started by hand, its session. */
    askedIn: text("asked_in").notNull().default(""),
    /** How many events the turn had when the request was made; null if it belongs to no turn. */
    askedSeq: integer("asked_seq"),
    owner: text().notNull(),
    toolName: text("tool_name").notNull(),
    toolUseId: text("tool_use_id"),
    /** The MCP request that an allow answers: the last one, if the child asked about the same call more than once. */
    asker: text(),
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
    /** A built-in rule decided the request as it arrived: it was never pending, and nobody was notified. */
    isBuiltin: integer("is_builtin", { mode: "boolean" }).notNull().default(false),
    /** When the waiting child got the decision; from then on the decision is used up. */
    deliveredAt: integer("delivered_at"),
    /** When the call's result appeared in the child's output. */
    resultAt: integer("result_at"),
    /** The decision's position in its hash chain; null for decisions from before the chain existed. */
    auditSeq: integer("audit_seq"),
    /** When the input and the edited input were removed to save space; both read `{}` since then. */
    inputCutAt: integer("input_cut_at"),
    /** The server whose connection the child waits on, or that expects the child to reconnect. */
    heldBy: text("held_by"),
    /** Null while a connection holds the request; otherwise the time until which its child may reconnect. */
    heldUntil: integer("held_until"),
  },
  (table) => [
    index("approvals_pending_by_session").on(table.sessionId, table.id).where(sql`status = 'pending'`),
    index("approvals_pending_by_deadline").on(table.expiresAt).where(sql`status = 'pending'`),
    index("approvals_by_people").on(table.id).where(sql`is_builtin = 0`),
    // A page is read by id along one of these indexes, the one whose filter matches the fewest rows. Nobody lists the
    // operator's rows alone, because the operator sees all.
    index("approvals_of_session").on(table.sessionId, table.isBuiltin, table.id),
    index("approvals_of_owner").on(table.owner, table.isBuiltin, table.id).where(sql`owner <> 'operator'`),
    index("approvals_of_tool").on(table.toolName, table.isBuiltin, table.id),
    index("approvals_decided").on(table.isBuiltin, table.resolvedAt).where(sql`status <> 'pending'`),
    index("approvals_unchained").on(table.resolvedAt).where(sql`status <> 'pending' AND audit_seq IS NULL`),
    index("approvals_large")
      .on(table.owner, table.resolvedAt, sql`octet_length(input)`, sql`octet_length(updated_input)`)
      .where(sql`status <> 'pending' AND octet_length(input) + coalesce(octet_length(updated_input), 0) > 4096`),
    uniqueIndex("approvals_same_ask")
      .on(table.askedIn, table.toolUseId, table.askHash)
      .where(sql`tool_use_id IS NOT NULL AND delivered_at IS NULL AND status <> 'abandoned'`),
    index("approvals_without_result")
      .on(table.askedIn, table.toolUseId)
      .where(sql`result_at IS NULL AND asked_in <> session_id`),
    index("approvals_denied").on(table.askedIn, table.askHash, table.id).where(sql`status = 'denied'`),
    index("approvals_interrupting").on(table.askedIn, table.id).where(sql`interrupt = 1`),
  ],
);

/** Links that decide one request each, sent with webhooks. The secret half of each is stored as a hash. */
export const approvalLinks = sqliteTable(
  "approval_links",
  {
    id: text().primaryKey(),
    approvalId: text("approval_id")
      .notNull()
      .references(() => approvals.id, { onDelete: "cascade" }),
    webhookId: text("webhook_id").notNull(),
    name: text().notNull(),
    hash: text().notNull(),
    verdict: text().$type<LinkVerdict>().notNull(),
    expiresAt: integer("expires_at").notNull(),
  },
  (table) => [
    index("approval_links_approval").on(table.approvalId),
    index("approval_links_expired").on(table.expiresAt),
  ],
);
