import { sql } from "drizzle-orm";
import { index, integer, primaryKey, real, sqliteTable, text, uniqueIndex } from "drizzle-orm/sqlite-core";
import type { ApprovalStatus } from "../../contract/approvals/approval.ts";
import type { AuditChain } from "../../contract/audit.ts";
import type { ChangeKind } from "../../contract/change.ts";
import type { SessionConfig, SessionKind } from "../../contract/sessions/session.ts";
import type { Supervision } from "../../contract/sessions/supervision.ts";
import type { TurnEvent, Usage } from "../../contract/sessions/turn.ts";
import type { JsonObject } from "../../contract/values.ts";

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
    /** What a child of this session is started with; by hand, there is none. */
    config: text({ mode: "json" }).$type<SessionConfig>(),
    /** The CLI's own id of the conversation, once it has one. */
    claudeSessionId: text("claude_session_id"),
    /** What the conversation has cost in all, as the CLI counts it. */
    totalCostUsd: real("total_cost_usd").notNull().default(0),
    /** The CLI's id of the conversation that this one began as a copy of, until it has one of its own. */
    forkedFrom: text("forked_from"),
    treeId: text("tree_id"),
    headNodeId: text("head_node_id"),
    /** Of a fork, the owner who brought the MCP servers that it has from its parent. */
    serversFrom: text("servers_from"),
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
    /** The turn whose child asks; for a claude that was started by hand, its session. */
    askedIn: text("asked_in").notNull().default(""),
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
    /** The server that has, or last had, a connection on which a child waits for the decision. */
    heldBy: text("held_by"),
    /** Null while a connection holds it; else until when its child is expected back. */
    heldUntil: integer("held_until"),
  },
  (table) => [
    index("approvals_pending_by_session").on(table.sessionId, table.id).where(sql`status = 'pending'`),
    index("approvals_pending_by_deadline").on(table.expiresAt).where(sql`status = 'pending'`),
    index("approvals_by_people").on(table.id).where(sql`is_builtin = 0`),
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
  ],
);

/** The hash chains over decisions: each entry's hash covers the hash before it. */
export const audit = sqliteTable(
  "audit",
  {
    chain: text().$type<AuditChain>().notNull(),
    seq: integer().notNull(),
    /** The decision that it tells of; none for what concerns the chain itself. */
    approvalId: text("approval_id"),
    at: integer().notNull(),
    /** JSON, to the letter as it was hashed. */
    entry: text().notNull(),
    hash: text().notNull(),
  },
  (table) => [
    primaryKey({ columns: [table.chain, table.seq] }),
    index("audit_of_the_chain").on(table.chain, table.seq).where(sql`approval_id IS NULL`),
  ],
);

/** Up to where each chain was forgotten: the entry behind it builds on this hash. */
export const auditCheckpoints = sqliteTable("audit_checkpoints", {
  chain: text().$type<AuditChain>().primaryKey(),
  seq: integer().notNull(),
  hash: text().notNull(),
  /** When the chain began. */
  chainedSince: integer("chained_since").notNull(),
});

/** Calls that ran although Plexus had not allowed them. */
export const unaskedCalls = sqliteTable(
  "unasked_calls",
  {
    id: text().primaryKey(),
    turnId: text("turn_id")
      .notNull()
      .references(() => turns.id, { onDelete: "cascade" }),
    sessionId: text("session_id").notNull(),
    sessionName: text("session_name").notNull(),
    owner: text().notNull(),
    toolName: text("tool_name").notNull(),
    toolUseId: text("tool_use_id").notNull(),
    input: text({ mode: "json" }).$type<JsonObject>().notNull(),
    supervision: text().$type<Supervision>().notNull(),
    at: integer().notNull(),
  },
  (table) => [index("unasked_calls_turn").on(table.turnId)],
);

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
  (table) => [index("changes_turn_ended").on(table.id).where(sql`kind = 'turn_ended'`)],
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

/** One prompt and all that follows. `queued`, `running` and the three ends are stored; the rest is derived. */
export const turns = sqliteTable(
  "turns",
  {
    id: text().primaryKey(),
    sessionId: text("session_id")
      .notNull()
      .references(() => sessions.id, { onDelete: "cascade" }),
    owner: text().notNull(),
    status: text().$type<"queued" | "running" | "complete" | "failed" | "cancelled">().notNull(),
    ephemeral: integer({ mode: "boolean" }).notNull(),
    /** Runs beyond `--max-running`: it takes no slot, and its end frees none. */
    isBorrowed: integer("is_borrowed", { mode: "boolean" }).notNull().default(false),
    /** What the child is to do, for as long as the turn is queued. */
    prompt: text(),
    /** How many events it has: the number of the next one. */
    eventCount: integer("event_count").notNull().default(0),
    /** How long the JSON of all its events is. */
    eventBytes: integer("event_bytes").notNull().default(0),
    /** How far the child's output is in the events, and what reading on from there takes. */
    checkpoint: text("reading", { mode: "json" }).$type<JsonObject>(),
    pid: integer(),
    processStart: text("process_start"),
    usage: text({ mode: "json" }).$type<Usage>(),
    /** Started by a version that ties every result to the decision on its call. */
    isAccounted: integer("is_accounted", { mode: "boolean" }).notNull().default(false),
    /** How many of its calls ran although Plexus had not allowed them. */
    unasked: integer().notNull().default(0),
    error: text(),
    /** Of a queued turn, when it was filed. */
    startedAt: integer("started_at").notNull(),
    endedAt: integer("ended_at"),
  },
  (table) => [
    uniqueIndex("turns_running").on(table.sessionId).where(sql`status = 'running'`),
    index("turns_queued").on(table.owner, table.id).where(sql`status = 'queued'`),
    index("turns_session").on(table.sessionId, table.id),
    index("turns_ended").on(table.endedAt).where(sql`status <> 'running'`),
    index("turns_ended_of_owner")
      .on(table.owner, table.endedAt, table.eventBytes, table.eventCount)
      .where(sql`status <> 'running' AND status <> 'queued'`),
  ],
);

/** Who got a turn started when: the numbers grow with each start, so that slots are shared fairly across restarts too. */
export const turnShares = sqliteTable("turn_shares", {
  owner: text().primaryKey(),
  lastStart: integer("last_start").notNull(),
});

export const turnEvents = sqliteTable(
  "turn_events",
  {
    turnId: text("turn_id")
      .notNull()
      .references(() => turns.id, { onDelete: "cascade" }),
    seq: integer().notNull(),
    event: text({ mode: "json" }).$type<TurnEvent>().notNull(),
  },
  (table) => [primaryKey({ columns: [table.turnId, table.seq] })],
);

/** How far each named reader of a turn has come. */
export const readPositions = sqliteTable(
  "read_positions",
  {
    turnId: text("turn_id")
      .notNull()
      .references(() => turns.id, { onDelete: "cascade" }),
    consumer: text().notNull(),
    position: integer().notNull(),
  },
  (table) => [primaryKey({ columns: [table.turnId, table.consumer] })],
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

/** How far each webhook has been told; its URL may be a secret, so a hash of it stands here. */
export const webhooks = sqliteTable("webhooks", {
  id: text().primaryKey(),
  /** The last change that it has been told of, or will not be. */
  position: integer().notNull(),
});
