import { describe, expect, setDefaultTimeout, test } from "bun:test";
import { chmodSync, mkdirSync, rmSync } from "node:fs";
import { join } from "node:path";
import { until } from "../../../support/until.ts";
import { changesOf, found, OPERATOR, openQueueWorld, type QueueWorld } from "./queue-world.ts";

setDefaultTimeout(60_000);

describe("a turn without a free slot", () => {
  test("is queued, and starts when a slot is free, in the order of filing", async () => {
    await using world = await openQueueWorld(1);
    expect(await world.start("one")).toBe("running");
    for (const name of ["two", "three", "four"]) expect(await world.start(name)).toBe("queued");
    expect(await Promise.all(["one", "two", "three", "four"].map(world.place))).toEqual([undefined, 1, 2, 3]);
    for (const [ending, starting] of [
      ["one", "two"],
      ["two", "three"],
      ["three", "four"],
    ] as const) {
      world.end(ending);
      await world.running(starting);
      expect(world.status(ending)).toBe("complete");
    }
    world.end("four");
    await world.ended("four");
  });

  test("has no event and no conversation node until it runs", async () => {
    await using world = await openQueueWorld(1);
    await world.start("one");
    await world.start("two");
    const { app } = world.plexus;
    const session = await app.sessions.require(OPERATOR, "two");
    const [turn] = (await app.sessionViews.turns(session, { limit: 1 })).turns;
    expect(turn).toMatchObject({ status: "queued", event_count: 0, ended_at: null });
    expect(await app.conversations.context(session)).toEqual([]);
    expect(promptsIn(world)).toEqual(["two\n"]);
    expect((await app.sessionViews.list(OPERATOR, { status: "queued", limit: 9 })).sessions).toMatchObject([
      { name: "two" },
    ]);
    world.end("one");
    await world.running("two");
    expect(promptsIn(world)).toEqual([]);
    const row = await app.sessionStream.requireTurn(OPERATOR, turn?.turn_id ?? "");
    expect(await app.sessionStream.page(row, 0, 9)).toMatchObject([{ seq: 0, event: { type: "start" } }]);
    expect(await app.conversations.context(await app.sessions.require(OPERATOR, "two"))).toMatchObject([
      { role: "user", content: { text: "two\n" } },
    ]);
  });

  test("is announced when it is queued, started and ended", async () => {
    await using world = await openQueueWorld(1);
    await world.start("one");
    await world.start("two");
    world.end("one");
    await world.running("two");
    world.end("two");
    await world.ended("two");
    const told = await changesOf(world);
    expect(told.filter((change) => change.session_name === "two").map(({ type }) => type)).toEqual([
      "turn_queued",
      "turn_started",
      "turn_ended",
    ]);
    expect(told.filter((change) => change.session_name === "one").map(({ type }) => type)).toEqual([
      "turn_started",
      "turn_ended",
    ]);
    expect(told.find(({ type }) => type === "turn_queued")).toMatchObject({ status: "queued" });
  });

  test("blocks a second turn of its session", async () => {
    await using world = await openQueueWorld(1);
    await world.start("one");
    await world.start("two");
    const second = world.plexus.app.turns.start(await found(world, "two"), "more", false);
    await expect(second).rejects.toMatchObject({ code: "turn_running" });
    expect(await world.plexus.app.sessions.removeIfIdle(OPERATOR, await found(world, "two"))).toBe(false);
  });

  test("is counted as queued", async () => {
    await using world = await openQueueWorld(1);
    for (const name of ["one", "two", "three"]) await world.start(name);
    const build = { version: "", commit: "" };
    expect(await world.plexus.app.metrics.text(build)).toContain("\nplexus_turns_queued 2\n");
  });
});

describe("a queued turn that is cancelled", () => {
  test("ends at once, and no child is ever started for it", async () => {
    await using world = await openQueueWorld(1);
    for (const name of ["one", "two", "three"]) await world.start(name);
    const { app } = world.plexus;
    expect(await app.turns.cancel(await found(world, "two"))).toEqual([]);
    expect(world.status("two")).toBe("cancelled");
    expect(await app.turns.cancel(await found(world, "two"))).toBeUndefined();
    expect(await world.place("three")).toBe(1);
    const [turn] = await app.polls.list(OPERATOR, (await found(world, "two")).id, 1);
    expect(turn && (await app.sessionStream.page(turn, 0, 9))).toMatchObject([
      { seq: 0, event: { type: "error", message: "The turn was cancelled." } },
    ]);
    world.end("one");
    await world.running("three");
    expect(world.wasStarted("two")).toBe(false);
  });

  test("lets its session be deleted or start another turn", async () => {
    await using world = await openQueueWorld(1);
    for (const name of ["one", "two", "three"]) await world.start(name);
    const { app } = world.plexus;
    await app.sessionCommands.remove(OPERATOR, await found(world, "two"));
    await expect(app.sessions.require(OPERATOR, "two")).rejects.toThrow("There is no session");
    await app.turns.cancel(await found(world, "three"));
    expect((await app.turns.start(await found(world, "three"), "three\n", false)).status).toBe("queued");
    world.end("one");
    await world.running("three");
    expect(world.wasStarted("two")).toBe(false);
  });
});

describe("a queued turn that can't be started", () => {
  test("fails with the reason, and the next one starts", async () => {
    await using world = await openQueueWorld(1);
    const gone = join(world.directory, "gone");
    mkdirSync(gone);
    await world.start("one");
    await world.start("homeless", { workingDir: gone });
    await world.start("three");
    rmSync(gone, { recursive: true });
    world.end("one");
    await world.running("three");
    expect(await errorOf(world, "homeless")).toMatch(/gone does not exist/);
  });

  test("fails if it can't be begun, and the next one starts", async () => {
    await using world = await openQueueWorld(1);
    for (const name of ["one", "orphan", "three"]) await world.start(name);
    using database = world.database();
    database.run("PRAGMA foreign_keys = OFF");
    database.run("DELETE FROM sessions WHERE name = 'orphan'");
    world.end("one");
    await world.running("three");
    expect(world.status("orphan")).toBe("failed");
  });

  test("is retried until the database accepts writes", async () => {
    await using world = await openQueueWorld(1);
    for (const name of ["one", "two"]) await world.start(name);
    using database = world.database();
    const fault = "BEFORE UPDATE ON turns WHEN OLD.status = 'queued' BEGIN SELECT RAISE(ABORT, 'no room'); END";
    database.run(`CREATE TRIGGER broken ${fault}`);
    world.end("one");
    await until("the fault to be met", () => world.plexus.log.some((line) => line.includes("no room")));
    expect(world.status("two")).toBe("queued");
    database.run("DROP TRIGGER broken");
    await world.running("two");
  });

  test("fails if claude is gone, and so do all others", async () => {
    await using world = await openQueueWorld(1);
    for (const name of ["one", "two", "three"]) await world.start(name);
    chmodSync(world.claude, 0o600);
    world.end("one");
    await world.ended("three");
    expect(await Promise.all(["two", "three"].map((name) => errorOf(world, name)))).toEqual([
      expect.stringContaining("not an executable file"),
      expect.stringContaining("not an executable file"),
    ]);
  });
});

describe("a server that ends", () => {
  test("by a signal cancels the queued turns, and says so", async () => {
    await using world = await openQueueWorld(1);
    for (const name of ["one", "two"]) await world.start(name);
    await world.restart("stop");
    expect(["one", "two"].map(world.status)).toEqual(["cancelled", "cancelled"]);
    expect(await errorOf(world, "two")).toBe("Plexus was stopped while this turn was queued.");
    expect(world.wasStarted("two")).toBe(false);
  });

  test("by handing over leaves the queue to the next server, which continues it", async () => {
    await using world = await openQueueWorld(1);
    for (const name of ["one", "two", "three"]) await world.start(name);
    await world.running("one");
    await world.restart("hand over");
    expect(["one", "two", "three"].map(world.status)).toEqual(["running", "queued", "queued"]);
    world.end("one");
    await world.running("two");
    world.end("two");
    await world.running("three");
  });

  test("leaves queued turns to the next server, which starts them at once if slots are free", async () => {
    await using world = await openQueueWorld(1);
    for (const name of ["one", "two"]) await world.start(name);
    await world.running("one");
    await world.plexus.app.turns.handOver();
    world.end("one");
    await world.restart("hand over");
    await world.running("two");
    expect(world.status("one")).toBe("complete");
  });
});

test("a turn whose server was killed before it had started the child fails, and the next one starts", async () => {
  await using world = await openQueueWorld(1);
  for (const name of ["one", "two", "three"]) await world.start(name);
  await world.running("one");
  world.end("one");
  await world.restart("hand over", () => {
    using database = world.database();
    database.run("UPDATE turns SET status = 'failed', ended_at = 1 WHERE status = 'running'");
    const first = "SELECT min(id) FROM turns WHERE status = 'queued'";
    database.run(`UPDATE turns SET status = 'running', prompt = NULL WHERE id = (${first})`);
  });
  await world.running("three");
  expect(world.status("two")).toBe("failed");
  expect(world.wasStarted("two")).toBe(false);
});

function promptsIn(world: QueueWorld): string[] {
  using database = world.database();
  const rows = database.query<{ prompt: string }, []>("SELECT prompt FROM turns WHERE prompt IS NOT NULL").all();
  return rows.map(({ prompt }) => prompt);
}

async function errorOf({ plexus }: QueueWorld, name: string): Promise<string | null | undefined> {
  const session = await plexus.app.sessions.require(OPERATOR, name);
  return (await plexus.app.polls.latest(session.id))?.error;
}
