import { Database } from "bun:sqlite";
import { describe, expect, test } from "bun:test";
import { join } from "node:path";
import type { Change } from "../../../src/contract/change.ts";
import { AppError } from "../../../src/contract/refusals/errors.ts";
import { openDatabase } from "../../../src/storage/sqlite/database.ts";
import { changeQueries } from "../../../src/storage/sqlite/events/changes.ts";
import { createOrm } from "../../../src/storage/sqlite/statements/orm.ts";
import { createWriter, type Writer } from "../../../src/storage/sqlite/writer.ts";
import { temporaryDirectory } from "../../support/temporary.ts";
import { until } from "../../support/until.ts";
import { rejectionOf } from "./support/refusal.ts";

describe("writer.write", () => {
  test("puts the writes of one turn of the event loop into one transaction", async () => {
    await using at = await temporaryWriter();
    await Promise.all([1, 2, 3].map((value) => at.insert(value)));
    await at.insert(4);
    expect(at.committed.map((changes) => changes.length)).toEqual([3, 1]);
    expect(at.values()).toEqual([1, 2, 3, 4]);
  });

  test("does not compile for a job that returns a promise, which would be committed before it is done", async () => {
    await using at = await temporaryWriter();
    // @ts-expect-error a job is done when it returns.
    const promised = at.writer.write(async () => at.insertNow(1, () => {}));
    // @ts-expect-error also if it returns a promise only sometimes.
    const perhaps = at.writer.write(() => (Math.random() < 2 ? Promise.resolve(1) : 1));
    expect(await at.writer.write(() => "done")).toBe("done");
    await Promise.all([promised, perhaps]);
  });

  test("rolls back a job that throws, and no other", async () => {
    await using at = await temporaryWriter();
    const refused = at.writer.write((announce) => {
      at.insertNow(2, announce);
      throw new AppError("not_found", "not today");
    });
    const results = await Promise.allSettled([at.insert(1), refused, at.insert(3)]);
    expect(results.map(({ status }) => status)).toEqual(["fulfilled", "rejected", "fulfilled"]);
    await expect(refused).rejects.toThrow("not today");
    expect(at.values()).toEqual([1, 3]);
  });

  test("rolls back a job whose statement fails, and no other", async () => {
    await using at = await temporaryWriter();
    const results = await Promise.allSettled([at.insert(1), at.insert(1), at.insert(2)]);
    expect(results.map(({ status }) => status)).toEqual(["fulfilled", "rejected", "fulfilled"]);
    expect(at.values()).toEqual([1, 2]);
  });

  test("announces nothing of a failed job, and all other changes in id order", async () => {
    await using at = await temporaryWriter();
    const failing = (value: number) =>
      at.writer.write((announce) => {
        at.insertNow(value, announce);
        throw new Error("no");
      });
    const jobs = Array.from({ length: 30 }, (_, value) => (value % 3 === 1 ? failing(value) : at.insert(value)));
    await Promise.allSettled(jobs);
    await at.insert(100);
    const told = at.committed.flat();
    expect(told.map(({ id }) => id)).toEqual(told.map((_, position) => position + 1));
    expect(told.map(({ at: value }) => value)).toEqual(at.values());
  });

  test("announces a change only when another connection can read it", async () => {
    const seen: unknown[] = [];
    await using directory = await temporaryDirectory();
    await using at = await temporaryWriter({
      directory: directory.path,
      onCommitted(changes) {
        using other = new Database(join(directory.path, "plexus.db"), { readonly: true });
        for (const { at: value } of changes)
          seen.push(other.query("SELECT value FROM numbers WHERE value = ?").get(value));
      },
    });
    await Promise.all([at.insert(1), at.insert(2)]);
    expect(seen).toEqual([{ value: 1 }, { value: 2 }]);
  });

  test("resolves only when another connection can read it", async () => {
    await using directory = await temporaryDirectory();
    await using at = await temporaryWriter({ directory: directory.path });
    using other = new Database(join(directory.path, "plexus.db"), { readonly: true });
    const readable = () => valuesIn(other);
    const readAtAnswer = await Promise.all([1, 2, 3].map((value) => at.insert(value).then(readable)));
    expect(readAtAnswer).toEqual([
      [1, 2, 3],
      [1, 2, 3],
      [1, 2, 3],
    ]);
  });

  test("rejects all jobs of a batch whose commit fails, announces none, and accepts new jobs", async () => {
    await using at = await temporaryWriter();
    const unkept = at.writer.write(() => void at.sqlite.run("INSERT INTO promises VALUES ('nobody')"));
    const messages = await Promise.all([at.insert(1), unkept, at.insert(2)].map((job) => rejectionOf(job)));
    for (const message of messages) expect(message).toMatch(/FOREIGN KEY.*Nothing was changed/);
    expect(at.committed.flat()).toEqual([]);
    expect(at.values()).toEqual([]);
    await at.insert(3);
    expect(at.values()).toEqual([3]);
  });

  test("rejects all jobs while another program locks the database, and accepts new jobs afterwards", async () => {
    await using directory = await temporaryDirectory();
    await using at = await temporaryWriter({ directory: directory.path });
    using other = new Database(join(directory.path, "plexus.db"));
    other.run("BEGIN IMMEDIATE");
    expect(await rejectionOf(at.insert(1))).toContain("Another program holds the database locked");
    other.run("ROLLBACK");
    await at.insert(2);
    expect(at.values()).toEqual([2]);
  });

  test("waits for another program to unlock the database without blocking the event loop", async () => {
    await using directory = await temporaryDirectory();
    await using at = await temporaryWriter({ directory: directory.path });
    using other = new Database(join(directory.path, "plexus.db"));
    other.run("BEGIN IMMEDIATE");
    const inserted = Promise.all([at.insert(1), at.insert(2)]);
    let turns = 0;
    await until("twenty turns of the event loop", () => ++turns === 20);
    expect(Bun.peek.status(inserted)).toBe("pending");
    other.run("ROLLBACK");
    await inserted;
    expect(at.committed.map((changes) => changes.length)).toContain(2);
    expect(at.values()).toEqual([1, 2]);
  });

  test("rejects the whole batch when SQLite rolls back the transaction, however many jobs had run", async () => {
    await using at = await temporaryWriter();
    const given = at.writer.write(() => {
      at.sqlite.run("ROLLBACK");
      throw new Error("given up");
    });
    const results = await Promise.allSettled([at.insert(1), given, at.insert(2)]);
    expect(results.map(({ status }) => status)).toEqual(["rejected", "rejected", "rejected"]);
    expect(at.values()).toEqual([]);
    await at.insert(3);
    expect(at.values()).toEqual([3]);
  });

  test("accepts a write that is made while others are announced", async () => {
    const nested = Promise.withResolvers<number>();
    await using at = await temporaryWriter({
      onCommitted: (changes) => {
        if (changes[0]?.at === 1) at.insert(2).then(nested.resolve, nested.reject);
      },
    });
    await at.insert(1);
    await nested.promise;
    expect(at.values()).toEqual([1, 2]);
  });
});

describe("a listener that throws", () => {
  test("does not make a committed write fail", async () => {
    await using at = await temporaryWriter({
      onCommitted: () => {
        throw new Error("broken listener");
      },
    });
    const inserted = [at.insert(1), at.insert(2)];
    expect(() => at.writer.close()).toThrow("broken listener");
    expect(await Promise.all(inserted)).toEqual([1, 2]);
    expect(at.values()).toEqual([1, 2]);
  });
});

describe("writer.close", () => {
  test("commits and answers queued writes, and refuses later ones", async () => {
    await using at = await temporaryWriter();
    const queued = at.insert(1);
    at.writer.close();
    expect(at.values()).toEqual([1]);
    expect(await queued).toBe(1);
    expect(await rejectionOf(at.insert(2))).toContain("closed");
    expect(at.values()).toEqual([1]);
  });
});

type Options = { directory?: string; onCommitted?: (changes: Change[]) => void };

/** A writer on a table of numbers; each number's change carries it as its time. */
async function temporaryWriter({ directory, onCommitted }: Options = {}) {
  await using stack = new AsyncDisposableStack();
  const path = directory ?? stack.use(await temporaryDirectory()).path;
  const sqlite = stack.adopt(openDatabase(join(path, "plexus.db")), (database) => database.close(true));
  sqlite.run("CREATE TABLE numbers (value INTEGER UNIQUE)");
  sqlite.run("CREATE TABLE promises (to_whom REFERENCES sessions (id) DEFERRABLE INITIALLY DEFERRED)");
  const changes = changeQueries(createOrm(sqlite), sqlite);
  const committed: Change[][] = [];
  const writer: Writer = createWriter(sqlite, (batch) => {
    committed.push(batch);
    onCommitted?.(batch);
  });
  const insertNow = (value: number, announce: (change: Change) => void) => {
    const told = { kind: "approval_requested", owner: "", sessionId: "", subjectId: "", at: value } as const;
    announce(changes.append(told));
    sqlite.run("INSERT INTO numbers VALUES (?)", [value]);
    return value;
  };
  const owned = stack.move();
  return {
    sqlite,
    writer,
    committed,
    insertNow,
    insert: (value: number) => writer.write((announce) => insertNow(value, announce)),
    values: () => valuesIn(sqlite),
    [Symbol.asyncDispose]: () => owned.disposeAsync(),
  };
}

function valuesIn(sqlite: Database): number[] {
  const rows = sqlite.query<{ value: number }, []>("SELECT value FROM numbers ORDER BY rowid").all();
  return rows.map(({ value }) => value);
}
