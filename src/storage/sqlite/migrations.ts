import type { Database } from "bun:sqlite";
import { AppError } from "../../contract/refusals/errors.ts";
import { embeddedMigrations } from "./embedded-migrations.ts" with { type: "macro" };

/** Embedded in the binary. */
export const MIGRATIONS = embeddedMigrations();

/** Upgrades the database, each step in a transaction; refuses a database written by a newer Plexus. */
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
