import { sql } from "drizzle-orm";
import { index, integer, sqliteTable, text, uniqueIndex } from "drizzle-orm/sqlite-core";
import type { JsonObject } from "../../../contract/values.ts";
import { sessions } from "./sessions.ts";

export const tokens = sqliteTable(
  "tokens",
  {
    id: text().primaryKey(),
    kind: text().$type<"named" | "child" | "web">().notNull(),
    /** Of a named token its name; of a web token the id of the named one that it acts as, if any. */
    name: text(),
    sessionId: text("session_id").references(() => sessions.id, { onDelete: "cascade" }),
    hash: text().notNull(),
    createdAt: integer("created_at").notNull(),
    /** The patterns of what it may allow by itself; none for all that its children ask. */
    grant: text({ mode: "json" }).$type<string[]>(),
    /** When it was last called with, or a page of its own was, to the minute. */
    usedAt: integer("used_at"),
  },
  (table) => [
    uniqueIndex("tokens_name").on(table.name).where(sql`kind = 'named'`),
    index("tokens_session").on(table.sessionId),
  ],
);

/** Codes that sign a page in, once, as whoever made them. */
export const signInCodes = sqliteTable(
  "sign_in_codes",
  {
    hash: text().primaryKey(),
    /** The named token whose page it signs in; none for the operator's. */
    tokenId: text("token_id").references(() => tokens.id, { onDelete: "cascade" }),
    expiresAt: integer("expires_at").notNull(),
  },
  (table) => [index("sign_in_codes_token").on(table.tokenId)],
);

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
