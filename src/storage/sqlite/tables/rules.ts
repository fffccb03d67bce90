import { sql } from "drizzle-orm";
import { index, integer, primaryKey, sqliteTable, text } from "drizzle-orm/sqlite-core";
import type { RuleDecision, RuleMode } from "../../../contract/rules/rule.ts";
import { approvals } from "./approvals.ts";
import { sessions } from "./sessions.ts";

/** Standing decisions on the calls that match their pattern. */
export const rules = sqliteTable(
  "rules",
  {
    id: text().primaryKey(),
    /** The owner whose sessions it covers; null for all owners. */
    owner: text(),
    /** The only session that it covers; null for all sessions. */
    sessionId: text("session_id").references(() => sessions.id, { onDelete: "cascade" }),
    /** Part of its session's settings, and replaced with them. */
    isSetting: integer("is_setting", { mode: "boolean" }).notNull(),
    decision: text().$type<RuleDecision>().notNull(),
    match: text().notNull(),
    reason: text(),
    interrupt: integer({ mode: "boolean" }).notNull(),
    mode: text().$type<RuleMode>().notNull(),
    /** The owner who created it; `createdByName` is the name shown in the record of a decision. */
    createdBy: text("created_by").notNull(),
    createdByName: text("created_by_name").notNull(),
    createdAt: integer("created_at").notNull(),
    expiresAt: integer("expires_at"),
    /** How many more calls it may decide; null if unlimited. */
    usesLeft: integer("uses_left"),
    fromApprovalId: text("from_approval_id"),
    hits: integer().notNull().default(0),
    lastHitAt: integer("last_hit_at"),
  },
  (table) => [
    index("rules_session").on(table.sessionId),
    index("rules_created_by").on(table.createdBy),
    index("rules_expiring").on(table.expiresAt).where(sql`expires_at IS NOT NULL`),
  ],
);

/**
 * One row: a number that grows whenever a rule is added, changed or removed. An evaluation records the version it used.
 */
export const rulesVersion = sqliteTable("rules_version", {
  id: integer().primaryKey(),
  version: integer().notNull(),
});

/** How often rules without a row have decided: those from a file, and the built-in ones. */
export const ruleHits = sqliteTable(
  "rule_hits",
  {
    id: text().notNull(),
    /** The owner of the sessions; empty for owners that are gone. */
    owner: text().notNull().default(""),
    hits: integer().notNull(),
    lastHitAt: integer("last_hit_at").notNull(),
  },
  (table) => [primaryKey({ columns: [table.id, table.owner] })],
);

/** The requests that a rule in shadow mode would have decided. */
export const shadowHits = sqliteTable(
  "shadow_hits",
  {
    ruleId: text("rule_id")
      .notNull()
      .references(() => rules.id, { onDelete: "cascade" }),
    approvalId: text("approval_id")
      .notNull()
      .references(() => approvals.id, { onDelete: "cascade" }),
  },
  (table) => [
    primaryKey({ columns: [table.ruleId, table.approvalId] }),
    index("shadow_hits_approval").on(table.approvalId),
  ],
);

/** What rules look at in a call, as it was read when the call was asked; one that is outdated is read again. */
export const callOutlines = sqliteTable("call_outlines", {
  id: text()
    .primaryKey()
    .references(() => approvals.id, { onDelete: "cascade" }),
  /** The matcher and the place that it was read by. */
  outlineKey: text("outline_key").notNull(),
  /** None of a call that has to be read as a whole. */
  outline: text(),
});
