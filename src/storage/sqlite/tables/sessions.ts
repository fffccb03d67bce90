import { sql } from "drizzle-orm";
import { index, integer, real, sqliteTable, text, uniqueIndex } from "drizzle-orm/sqlite-core";
import type { SessionConfig, SessionKind } from "../../../contract/sessions/session.ts";
import type { JsonObject } from "../../../contract/values.ts";

export const sessions = sqliteTable(
  "sessions",
  {
    id: text().primaryKey(),
    name: text().notNull(),
    owner: text().notNull(),
    kind: text().$type<SessionKind>().notNull(),
    loopbackTimeoutSecs: integer("loopback_timeout_secs"),
    createdAt: integer("created_at").notNull(),
    /** The settings that a child of this session starts with; null for a claude started by hand. */
    config: text({ mode: "json" }).$type<SessionConfig>(),
    /** The settings that replace `config` when the running turn ends; null if nothing was changed. */
    nextConfig: text("next_config", { mode: "json" }).$type<SessionConfig>(),
    /** The CLI's id of the conversation, once it has one. */
    claudeSessionId: text("claude_session_id"),
    /** The conversation's total cost as the CLI counts it, including its cost before a fork. */
    totalCostUsd: real("total_cost_usd").notNull().default(0),
    /** The cost of this session's own turns. */
    ownCostUsd: real("own_cost_usd").notNull().default(0),
    /** The CLI's id of the conversation that this one was forked from, until it has its own. */
    forkedFrom: text("forked_from"),
    /** For a fork, its parent session, which may be deleted. */
    originId: text("origin_id"),
    treeId: text("tree_id"),
    headNodeId: text("head_node_id"),
    /** For a fork, the owner who supplied the MCP servers that it inherited. */
    serversFrom: text("servers_from"),
    /** When a claude started by hand was last configured, or last made a request. */
    seenAt: integer("seen_at"),
  },
  (table) => [
    uniqueIndex("sessions_owner_name").on(table.owner, table.name),
    index("sessions_by_hand").on(table.seenAt).where(sql`kind = 'by_hand'`),
    index("sessions_budget")
      .on(sql`own_cost_usd / (config ->> 'max_budget_usd')`)
      .where(sql`(config ->> 'max_budget_usd') > 0`),
    index("sessions_of_owner").on(table.owner, table.id),
    index("sessions_tree").on(table.treeId).where(sql`tree_id IS NOT NULL`),
  ],
);

/** The messages of conversations, one block a row; a fork shares its parent's nodes. */
export const nodes = sqliteTable(
  "nodes",
  {
    id: text().primaryKey(),
    treeId: text("tree_id").notNull(),
    parentId: text("parent_id"),
    role: text().$type<"root" | "user" | "assistant">().notNull(),
    content: text({ mode: "json" }).$type<JsonObject>().notNull(),
    createdAt: integer("created_at").notNull(),
  },
  (table) => [index("nodes_tree").on(table.treeId, table.id)],
);
