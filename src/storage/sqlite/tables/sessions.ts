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
    /** What a child of this session is started with; by hand, there is none. */
    config: text({ mode: "json" }).$type<SessionConfig>(),
    /** What `config` becomes when the turn that runs has ended; none where nothing was changed meanwhile. */
    nextConfig: text("next_config", { mode: "json" }).$type<SessionConfig>(),
    /** The CLI's own id of the conversation, once it has one. */
    claudeSessionId: text("claude_session_id"),
    /** What the conversation has cost in all, as the CLI counts it: with what it had cost before it was forked. */
    totalCostUsd: real("total_cost_usd").notNull().default(0),
    /** What the turns of this session have cost. */
    ownCostUsd: real("own_cost_usd").notNull().default(0),
    /** The CLI's id of the conversation that this one began as a copy of, until it has one of its own. */
    forkedFrom: text("forked_from"),
    /** Of a fork, the session that it went on from, which may be gone. */
    originId: text("origin_id"),
    treeId: text("tree_id"),
    headNodeId: text("head_node_id"),
    /** Of a fork, the owner who brought the MCP servers that it has from its parent. */
    serversFrom: text("servers_from"),
    /** When a claude that is started by hand was last configured, or asked. */
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

/** What was said, block by block; a fork shares the nodes that it has in common with its parent. */
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
