import { sql } from "drizzle-orm";
import { index, integer, primaryKey, sqliteTable, text, uniqueIndex } from "drizzle-orm/sqlite-core";
import type { Supervision } from "../../../contract/sessions/supervision.ts";
import type { TurnEvent, Usage } from "../../../contract/sessions/turn.ts";
import type { JsonObject } from "../../../contract/values.ts";
import { sessions } from "./sessions.ts";

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
  (table) => [
    index("unasked_calls_turn").on(table.turnId),
    index("unasked_calls_session").on(table.sessionId, table.id),
    index("unasked_calls_owner").on(table.owner, table.id),
  ],
);

/**
 * A turn: one prompt and everything that follows. Stored states are `queued`, `running` and the three ends; other
 * states are derived.
 */
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
    /** The prompt, kept only while the turn is queued. */
    prompt: text(),
    /** The number of its events, which is also the number of the next event. */
    eventCount: integer("event_count").notNull().default(0),
    /** The total size of its events' JSON. */
    eventBytes: integer("event_bytes").notNull().default(0),
    /** The position in the child's output up to which it is stored, and the parser's state there. */
    checkpoint: text("reading", { mode: "json" }).$type<JsonObject>(),
    /** The data dir whose server runs the child: the child's files are there, and its process is on that host. */
    dataDirId: text("data_dir_id"),
    /** The reason to stop the child, if another data dir's server was asked to. */
    stopReason: text("stop_reason"),
    pid: integer(),
    processStart: text("process_start"),
    usage: text({ mode: "json" }).$type<Usage>(),
    /** Started by a version of Plexus that ties every result to the decision on its call. */
    isAccounted: integer("is_accounted", { mode: "boolean" }).notNull().default(false),
    /** How many of its calls ran that Plexus had not allowed. */
    unasked: integer().notNull().default(0),
    /** How many of its requests ended in each way; `builtin` counts those decided by built-in rules. */
    allowed: integer().notNull().default(0),
    denied: integer().notNull().default(0),
    timedOut: integer("timed_out").notNull().default(0),
    abandoned: integer().notNull().default(0),
    builtin: integer().notNull().default(0),
    /** When its child last produced output, made a request or got a decision. */
    spokeAt: integer("spoke_at"),
    error: text(),
    /** For a queued turn, when it was queued. */
    startedAt: integer("started_at").notNull(),
    endedAt: integer("ended_at"),
  },
  (table) => [
    uniqueIndex("turns_running").on(table.sessionId).where(sql`status = 'running'`),
    index("turns_in_slots")
      .on(table.dataDirId, table.isBorrowed, table.id, table.owner, table.sessionId)
      .where(sql`status = 'running'`),
    index("turns_queued").on(table.owner, table.id, table.dataDirId).where(sql`status = 'queued'`),
    index("turns_session").on(table.sessionId, table.id),
    index("turns_owner").on(table.owner, table.id).where(sql`owner <> 'operator'`),
    index("turns_ended").on(table.endedAt).where(sql`status <> 'running'`),
    index("turns_ended_of_owner")
      .on(table.owner, table.endedAt, table.eventBytes, table.eventCount)
      .where(sql`status <> 'running' AND status <> 'queued'`),
  ],
);

/** The order of the owners' last starts, as growing numbers, so that slots are shared fairly across restarts too. */
export const turnShares = sqliteTable("turn_shares", {
  owner: text().primaryKey(),
  lastStart: integer("last_start").notNull(),
});

/**
 * One row: a number that grows whenever a turn is queued, starts or ends. A choice of the next turn names the version
 * it is based on.
 */
export const turnQueue = sqliteTable("turn_queue", {
  id: integer().primaryKey(),
  version: integer().notNull(),
});

export const turnEvents = sqliteTable(
  "turn_events",
  {
    turnId: text("turn_id")
      .notNull()
      .references(() => turns.id, { onDelete: "cascade" }),
    seq: integer().notNull(),
    event: text({ mode: "json" }).$type<TurnEvent>().notNull(),
    /** When it was stored; null if an earlier version stored it. */
    at: integer(),
  },
  (table) => [primaryKey({ columns: [table.turnId, table.seq] })],
);

/** The position of each named reader in a turn. */
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
