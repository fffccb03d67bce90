/**
 * All tables of the database, by topic. Times are Unix milliseconds. Ids are UUIDv7, so their order is the order of
 * creation.
 */

export * from "./tables/access.ts";
export * from "./tables/activity.ts";
export * from "./tables/approvals.ts";
export * from "./tables/audit.ts";
export * from "./tables/events.ts";
export * from "./tables/rules.ts";
export * from "./tables/servers.ts";
export * from "./tables/sessions.ts";
export * from "./tables/turns.ts";
