import { integer, primaryKey, real, sqliteTable, text } from "drizzle-orm/sqlite-core";
import type { ActivityOutcome } from "../../activity.ts";

/** Hourly sums of decisions and of what turns cost; the rows outlive their sessions. */
export const activityHours = sqliteTable(
  "activity_hours",
  {
    /** Hours since the beginning of 1970. */
    hour: integer().notNull(),
    sessionId: text("session_id").notNull(),
    /** Who decided, with all rules counted as one; empty for anything but a decision. */
    by: text().notNull(),
    outcome: text().$type<ActivityOutcome>().notNull(),
    /** The step (see `waitStepOf`) of how long the requests waited. */
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
