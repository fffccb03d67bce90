import { sql } from "drizzle-orm";
import { index, integer, sqliteTable, text, uniqueIndex } from "drizzle-orm/sqlite-core";
import type { JsonObject } from "../../../contract/values.ts";
import { sessions } from "./sessions.ts";

export const tokens = sqliteTable(
  "tokens",
  {
    id: text().primaryKey(),
    kind: text().$type<"named" | "child" | "web">().notNull(),
    /** A named token's name; for a web token, the id of the named token that it acts as, or null for the operator. */
    name: text(),
    sessionId: text("session_id").references(() => sessions.id, { onDelete: "cascade" }),
    hash: text().notNull(),
    createdAt: integer("created_at").notNull(),
    /** The patterns of calls that this token may allow; null if it may allow everything that its children request. */
    grant: text({ mode: "json" }).$type<string[]>(),
    /** When a request, or one of the token's web pages, last used it; accurate to the minute. */
    usedAt: integer("used_at"),
  },
  (table) => [
    uniqueIndex("tokens_name").on(table.name).where(sql`kind = 'named'`),
    index("tokens_session").on(table.sessionId),
  ],
);

/** One-time codes that sign a web page in as their creator. */
export const signInCodes = sqliteTable(
  "sign_in_codes",
  {
    hash: text().primaryKey(),
    /** The named token that the page will act as; null for the operator. */
    tokenId: text("token_id").references(() => tokens.id, { onDelete: "cascade" }),
    expiresAt: integer("expires_at").notNull(),
  },
  (table) => [index("sign_in_codes_token").on(table.tokenId)],
);

/**
 * MCP clients that have a session id. After a restart, the server replays the messages with which they set their
 * session up.
 */
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

/** Browsers that are told of requests by push; each ends with the page's token that it was made with. */
export const pushSubscriptions = sqliteTable(
  "push_subscriptions",
  {
    id: text().primaryKey(),
    tokenId: text("token_id")
      .notNull()
      .references(() => tokens.id, { onDelete: "cascade" }),
    endpoint: text().notNull(),
    p256dh: text().notNull(),
    auth: text().notNull(),
    afterMs: integer("after_ms").notNull(),
    createdAt: integer("created_at").notNull(),
    /** The newest request that it was told of, or that was passed over. */
    toldId: text("told_id").notNull(),
  },
  (table) => [
    uniqueIndex("push_subscriptions_endpoint").on(table.endpoint),
    uniqueIndex("push_subscriptions_token").on(table.tokenId),
  ],
);
