import { sql } from "drizzle-orm";
import { index, integer, sqliteTable, text, uniqueIndex } from "drizzle-orm/sqlite-core";
import type { ApprovalStatus } from "../../../contract/approvals/approval.ts";
import type { LinkVerdict } from "../../../contract/link.ts";
import type { JsonObject } from "../../../contract/values.ts";

/** An approval carries its session's name and owner, so that the record of a decision outlives the session. */
export const approvals = sqliteTable(
  "loopback_approvals",
  {
    id: text().primaryKey(),
    sessionId: text("session_id").notNull(),
    sessionName: text("session_name").notNull(),
    /** The turn whose child asks; for a claude that was started by hand, its session. */
    askedIn: text("asked_in").notNull().default(""),
    /** How many events its turn had when it was asked; none where it was asked in no turn. */
    askedSeq: integer("asked_seq"),
    owner: text().notNull(),
    toolName: text("tool_name").notNull(),
    toolUseId: text("tool_use_id"),
    /** Which request an allow is for: the last, where one call was asked about more than once. */
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
    /** Decided by a built-in rule the moment that it was asked: never pending, and told to nobody. */
    isBuiltin: integer("is_builtin", { mode: "boolean" }).notNull().default(false),
    /** When the decision was handed to the child that waits for it: from then on it is used up. */
    deliveredAt: integer("delivered_at"),
    /** When the result of the call was seen in the child's output. */
    resultAt: integer("result_at"),
    /** Where the decision stands in its hash chain; none before there was one. */
    auditSeq: integer("audit_seq"),
    /** When the input, and an edited one, were removed to save space: `{}` stands there since. */
    inputCutAt: integer("input_cut_at"),
    /** The server that has a connection on which a child waits for the decision, or that expects the child back. */
    heldBy: text("held_by"),
    /** Null while a connection holds it; else until when its child is expected back. */
    heldUntil: integer("held_until"),
  },
  (table) => [
    index("approvals_pending_by_session").on(table.sessionId, table.id).where(sql`status = 'pending'`),
    index("approvals_pending_by_deadline").on(table.expiresAt).where(sql`status = 'pending'`),
    index("approvals_by_people").on(table.id).where(sql`is_builtin = 0`),
    // A page is read along the ids, in whichever of these its filter leaves the least. Nobody asks for the operator's
    // alone: who calls as the operator sees all.
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

/** Links that decide one request each, sent with webhooks; the secret half of each stands here as a hash. */
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
