import type { Database } from "bun:sqlite";
import approvalCore from "../../../drizzle/0000_approval_core.sql" with { type: "text" };
import adoption from "../../../drizzle/0001_adoption.sql" with { type: "text" };
import webhooks from "../../../drizzle/0002_webhooks.sql" with { type: "text" };
import sealedChildren from "../../../drizzle/0003_sealed_children.sql" with { type: "text" };
import turnQueue from "../../../drizzle/0004_turn_queue.sql" with { type: "text" };
import fairShares from "../../../drizzle/0005_fair_shares.sql" with { type: "text" };
import heldAndShared from "../../../drizzle/0006_held_and_shared.sql" with { type: "text" };
import { AppError } from "../../contract/errors.ts";

/** The files of `drizzle/` in order, carried inside the binary. */
export const MIGRATIONS: { tag: string; sql: string }[] = [
  { tag: "0000_approval_core", sql: approvalCore },
  { tag: "0001_adoption", sql: adoption },
  { tag: "0002_webhooks", sql: webhooks },
  { tag: "0003_sealed_children", sql: sealedChildren },
  { tag: "0004_turn_queue", sql: turnQueue },
  { tag: "0005_fair_shares", sql: fairShares },
  { tag: "0006_held_and_shared", sql: heldAndShared },
];

/** Brings the database up to date, each step in a transaction; refuses one that a newer Plexus has written. */
export function migrate(sqlite: Database, migrations = MIGRATIONS): void {
  sqlite.run("CREATE TABLE IF NOT EXISTS plexus_migrations (tag TEXT PRIMARY KEY, applied_at INTEGER NOT NULL)");
  const applied = new Set(
    sqlite
      .query<{ tag: string }, []>("SELECT tag FROM plexus_migrations")
      .all()
      .map((row) => row.tag),
  );
  const unknown = [...applied].filter((tag) => !migrations.some((migration) => migration.tag === tag)).sort();
  if (unknown.length > 0) {
    throw new AppError(
      "storage_unavailable",
      `The database was written by a newer Plexus (it has step ${unknown.at(-1)}). Start that version, or choose another --data-dir. Nothing was changed.`,
    );
  }
  for (const { tag, sql } of migrations) {
    if (applied.has(tag)) continue;
    sqlite.transaction(() => {
      for (const statement of sql.split("--> statement-breakpoint")) sqlite.run(statement);
      sqlite.query("INSERT INTO plexus_migrations (tag, applied_at) VALUES (?, ?)").run(tag, Date.now());
    })();
  }
}
