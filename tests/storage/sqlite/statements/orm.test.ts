import { Database } from "bun:sqlite";
import { expect, test } from "bun:test";
import { asc, eq, sql } from "drizzle-orm";
import { drizzle } from "drizzle-orm/bun-sqlite";
import { integer, real, sqliteTable, text } from "drizzle-orm/sqlite-core";
import { createOrm, type Orm } from "../../../../src/storage/sqlite/statements/orm.ts";
import { given } from "../../../../src/storage/sqlite/statements/parameters.ts";

const things = sqliteTable("things", {
  id: integer().primaryKey(),
  ownName: text("own_name").notNull(),
  parts: text({ mode: "json" }).$type<{ size: number }>(),
  isLarge: integer("is_large", { mode: "boolean" }),
  weight: real(),
});

/** Every kind of value, each missing once, for both drivers. */
const ROWS = [
  { id: 1, ownName: "a", parts: { size: 1 }, isLarge: true, weight: 1.5 },
  { id: 2, ownName: "", parts: null, isLarge: false, weight: null },
  { id: 3, ownName: "null", parts: { size: 0 }, isLarge: null, weight: 0 },
];

function open(): Database {
  const sqlite = new Database(":memory:");
  sqlite.run("CREATE TABLE things (id INTEGER PRIMARY KEY, own_name TEXT, parts TEXT, is_large INTEGER, weight REAL)");
  return sqlite;
}

function used(orm: Orm) {
  const at = sql.placeholder;
  const values = { id: at("id"), ownName: at("ownName"), parts: at("parts"), isLarge: at("isLarge") };
  const insert = orm
    .insert(things)
    .values({ ...values, weight: at("weight") })
    .prepare();
  for (const row of ROWS) insert.run(row);
  const where = eq(things.id, at("id"));
  const change = orm
    .update(things)
    .set({ parts: given("parts", things.parts) })
    .where(where)
    .returning()
    .prepare();
  const nested = orm
    .select({ id: things.id, rest: { name: things.ownName, parts: things.parts } })
    .from(things)
    .orderBy(asc(things.id));
  const expressions = { isHeavy: sql<number>`weight > 1`.mapWith(Boolean), text: sql<string>`parts` };
  return {
    all: orm.select().from(things).orderBy(asc(things.id)).all(),
    one: orm.select().from(things).where(where).prepare().get({ id: 2 }),
    none: orm.select().from(things).where(where).prepare().get({ id: 9 }),
    nested: nested.all(),
    expressions: orm.select(expressions).from(things).orderBy(asc(things.id)).all(),
    changed: [
      change.get({ id: 1, parts: null }),
      change.get({ id: 2, parts: { size: 7 } }),
      change.all({ id: 9, parts: null }),
    ],
    removed: orm.delete(things).where(eq(things.ownName, "a")).returning({ id: things.id }).all(),
  };
}

test("reads and writes every kind of value as Drizzle's own driver does", () => {
  const [own, other] = [open(), open()];
  expect(used(createOrm(own))).toEqual(used(drizzle({ client: other })));
  const stored = "SELECT *, typeof(parts), typeof(is_large) FROM things";
  expect(own.query(stored).all()).toEqual(other.query(stored).all());
});

test("refuses to run without a required placeholder value", () => {
  const statement = createOrm(open())
    .select()
    .from(things)
    .where(eq(things.id, sql.placeholder("id")))
    .prepare();
  expect(() => statement.get({ other: 1 })).toThrow('no value is given for "id"');
});

test("compiles a statement on its first run", () => {
  const sqlite = new Database(":memory:");
  const statement = createOrm(sqlite).select().from(things).prepare();
  expect(() => statement.all()).toThrow("no such table");
  sqlite.run("CREATE TABLE things (id INTEGER PRIMARY KEY, own_name TEXT, parts TEXT, is_large INTEGER, weight REAL)");
  expect(statement.all()).toEqual([]);
});
