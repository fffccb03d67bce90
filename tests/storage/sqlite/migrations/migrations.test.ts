import { Database } from "bun:sqlite";
import { describe, expect, test } from "bun:test";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { getTableConfig, SQLiteTable } from "drizzle-orm/sqlite-core";
import { MIGRATIONS, migrate } from "../../../../src/storage/sqlite/migrations.ts";
import * as tables from "../../../../src/storage/sqlite/tables.ts";
import { refusalOf } from "../support/refusal.ts";

const folder = join(import.meta.dir, "../../..", "..", "drizzle");

describe("the embedded migrations", () => {
  test("are the files of drizzle/, in the order of its journal", () => {
    const files = readdirSync(folder).filter((name) => name.endsWith(".sql"));
    const journal: { entries: { idx: number; tag: string }[] } = JSON.parse(
      readFileSync(join(folder, "meta", "_journal.json"), "utf8"),
    );
    const tags = journal.entries.sort((a, b) => a.idx - b.idx).map((entry) => entry.tag);
    expect(files.sort()).toEqual(tags.map((tag) => `${tag}.sql`));
    expect(MIGRATIONS).toEqual(tags.map((tag) => ({ tag, sql: readFileSync(join(folder, `${tag}.sql`), "utf8") })));
  });

  test("create the tables, columns and indexes that the queries expect", () => {
    using sqlite = new Database(":memory:");
    migrate(sqlite);
    const rows = sqlite
      .query<{ kind: string; name: string; on: string }, []>(
        `SELECT 'column' AS kind, c.name AS name, t.name AS "on" FROM sqlite_schema t JOIN pragma_table_info(t.name) c
          WHERE t.type = 'table' AND t.name NOT LIKE 'sqlite_%' AND t.name <> 'plexus_migrations'
         UNION ALL SELECT 'index', name, tbl_name FROM sqlite_schema WHERE type = 'index' AND sql IS NOT NULL`,
      )
      .all();
    const made = rows.map(({ kind, name, on }) => `${kind} ${on}.${name}`);
    const wanted = Object.values(tables)
      .filter((table) => table instanceof SQLiteTable)
      .map((table) => getTableConfig(table))
      .flatMap(({ name, columns, indexes }) => [
        ...columns.map((column) => `column ${name}.${column.name}`),
        ...indexes.map((index) => `index ${name}.${index.config.name}`),
      ]);
    expect(made.sort()).toEqual(wanted.sort());
  });
});

describe("migrate", () => {
  test("runs each step once, however often it is called", () => {
    using sqlite = new Database(":memory:");
    const steps = [{ tag: "0000_a", sql: "CREATE TABLE a (x)" }];
    migrate(sqlite, steps);
    migrate(sqlite, steps);
    migrate(sqlite, [...steps, { tag: "0001_b", sql: "CREATE TABLE b (x)" }]);
    expect(tagsOf(sqlite)).toEqual(["0000_a", "0001_b"]);
  });

  test("rolls back a step that fails halfway, and keeps the steps before it", () => {
    using sqlite = new Database(":memory:");
    const broken = { tag: "0001_broken", sql: "CREATE TABLE b (x);--> statement-breakpoint\nCREATE NONSENSE;" };
    expect(() => migrate(sqlite, [{ tag: "0000_a", sql: "CREATE TABLE a (x)" }, broken])).toThrow();
    expect(tagsOf(sqlite)).toEqual(["0000_a"]);
    expect(() => sqlite.run("SELECT * FROM b")).toThrow("no such table");
  });

  test("refuses a database that a newer version has written, and names its newest step", () => {
    using sqlite = new Database(":memory:");
    migrate(sqlite, [...MIGRATIONS, { tag: "9998_later", sql: "SELECT 1" }, { tag: "9999_last", sql: "SELECT 1" }]);
    expect(refusalOf(() => migrate(sqlite))).toMatch(/written by a newer Plexus.*9999_last.*Nothing was changed/);
  });
});

function tagsOf(sqlite: Database): string[] {
  return sqlite
    .query<{ tag: string }, []>("SELECT tag FROM plexus_migrations ORDER BY tag")
    .all()
    .map((row) => row.tag);
}
