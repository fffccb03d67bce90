import { Database } from "bun:sqlite";
import { expect, test } from "bun:test";
import { join } from "node:path";
import { createMemory } from "../../../src/storage/sqlite/memory.ts";
import { temporaryDirectory } from "../../support/temporary.ts";

type Row = { text: string };

async function opened(given: { isAlone?: boolean; most?: number } = {}) {
  await using stack = new AsyncDisposableStack();
  const path = join(stack.use(await temporaryDirectory()).path, "rows.db");
  const [sqlite, other] = [stack.use(new Database(path)), stack.use(new Database(path))];
  sqlite.run("PRAGMA journal_mode = WAL");
  sqlite.run("CREATE TABLE rows (id TEXT PRIMARY KEY, text TEXT)");
  sqlite.run("INSERT INTO rows VALUES ('a', 'first'), ('b', 'first'), ('long', 'a long one')");
  const reads: string[] = [];
  const query = sqlite.query<Row, [string]>("SELECT text FROM rows WHERE id = ?");
  const read = (id: string) => {
    reads.push(id);
    return query.get(id) ?? undefined;
  };
  const isSmall = ({ text }: Row) => text.length < 8;
  const memory = createMemory({ sqlite, isAlone: true, most: 10, ...given, read, isSmall });
  const owned = stack.move();
  return { memory, reads, sqlite, other, [Symbol.asyncDispose]: () => owned.disposeAsync() };
}

test("a cached row is read once, until it is removed from the cache", async () => {
  await using at = await opened();
  for (let count = 0; count < 3; count++) expect(at.memory.get("a")).toEqual({ text: "first" });
  at.sqlite.run("UPDATE rows SET text = 'second'");
  at.memory.forget("a");
  expect(at.memory.get("a")).toEqual({ text: "second" });
  expect(at.memory.known("b")).toBeUndefined();
  expect(at.reads).toEqual(["a", "a"]);
});

test("missing and large rows are read each time", async () => {
  await using at = await opened();
  for (const id of ["none", "none", "long", "long"]) at.memory.get(id);
  expect(at.reads).toEqual(["none", "none", "long", "long"]);
});

test("a write by another server clears the cache, and is checked for only if there may be other servers", async () => {
  for (const [isAlone, found] of [
    [false, "second"],
    [true, "first"],
  ] as const) {
    await using at = await opened({ isAlone });
    at.memory.get("a");
    at.other.run("UPDATE rows SET text = 'second'");
    expect(at.memory.get("a")).toEqual({ text: found });
  }
});

test("the cache holds as many rows as allowed, and no more", async () => {
  await using at = await opened({ most: 1 });
  for (const id of ["a", "a", "b", "b", "a"]) at.memory.get(id);
  expect(at.reads).toEqual(["a", "b", "a"]);
  expect(at.memory.known("b")).toBeUndefined();
});
