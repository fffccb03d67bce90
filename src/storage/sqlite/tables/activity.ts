import { integer, primaryKey, real, sqliteTable, text } from "drizzle-orm/sqlite-core";
import type { ActivityOutcome } from "../../activity.ts";

/** What was decided and what turns have cost, by the hour; it tells of a session after that is deleted, too. */
export const activityHours = sqliteTable(
  "activity_hours",
  {
    /** Counted from the beginning of 1970. */
    hour: integer().notNull(),
    sessionId: text("session_id").notNull(),
    /** Who decided, with all rules as one; of anything but a decision it is empty. */
    by: text().notNull(),
    outcome: text().$type<ActivityOutcome>().notNull(),
    /** How long the requests had waited. */
    waitStep: integer("wait_step").notNull(),
    owner: text().notNull(),
    sessionName: text("session_name").notNull(),
    count: integer().notNull(),
    costUsd: real("cost_usd").notNull(),
    inputTokens: integer("input_tokens").notNull(),
    outputTokens: integer("output_tokens").notNull(),
  },
  (table) => [primaryKey({ columns: [table.hour, table.sessionId, table.by, table.outcome, table.waitStep] })],
);
