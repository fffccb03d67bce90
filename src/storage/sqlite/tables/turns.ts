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
    /** The data dir whose server runs its child, or will: the child's files are there, and its process on that host. */
    dataDirId: text("data_dir_id"),
    /** Why its child is to be stopped, where the server of another data dir was told to. */
    stopReason: text("stop_reason"),
    pid: integer(),
    processStart: text("process_start"),
    usage: text({ mode: "json" }).$type<Usage>(),
    /** Started by a version that ties every result to the decision on its call. */
    isAccounted: integer("is_accounted", { mode: "boolean" }).notNull().default(false),
    /** How many of its calls ran although Plexus had not allowed them. */
    unasked: integer().notNull().default(0),
    /** How many of its requests ended in each way; those that a built-in rule decided count apart. */
    allowed: integer().notNull().default(0),
    denied: integer().notNull().default(0),
    timedOut: integer("timed_out").notNull().default(0),
    abandoned: integer().notNull().default(0),
    builtin: integer().notNull().default(0),
    /** When its child last said something, or asked. */
    spokeAt: integer("spoke_at"),
    error: text(),
    /** Of a queued turn, when it was filed. */
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

/** Who got a turn started when: the numbers grow with each start, so that slots are shared fairly across restarts too. */
export const turnShares = sqliteTable("turn_shares", {
  owner: text().primaryKey(),
  lastStart: integer("last_start").notNull(),
});

/** One row: a number that grows whenever a turn is queued, starts or ends. The next turn is chosen by it. */
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
