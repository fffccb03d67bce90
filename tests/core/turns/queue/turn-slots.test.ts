import { describe, expect, setDefaultTimeout, test } from "bun:test";
import { namedToken } from "../../../http/support/callers.ts";
import { changesOf, found, openQueueWorld } from "./queue-world.ts";

setDefaultTimeout(60_000);

describe("the slots", () => {
  test("are shared: an owner that fills the queue delays another owner's first turn by one end of a turn", async () => {
    await using world = await openQueueWorld(1);
    const { principal: by } = await namedToken(world.plexus, "greedy");
    for (const name of ["g1", "g2", "g3", "g4"]) await world.start(name, { by });
    expect(await world.start("mine")).toBe("queued");
    expect([await world.place("mine"), await world.place("g2")]).toEqual([1, 2]);
    world.end("g1");
    await world.running("mine");
    expect(await world.start("mine too")).toBe("queued");
    world.end("mine");
    await world.running("g2");
  });

  test("all go to one owner while nobody else wants any", async () => {
    await using world = await openQueueWorld(3);
    for (const name of ["one", "two", "three"]) expect(await world.start(name)).toBe("running");
    expect(await world.start("four")).toBe("queued");
  });

  test("never exceed --max-running, and are never free while a turn waits, under simultaneous starts and cancels", async () => {
    await using world = await openQueueWorld(3);
    const { app } = world.plexus;
    const { principal: by } = await namedToken(world.plexus, "other");
    const names = Array.from({ length: 24 }, (_, at) => `turn-${at}`);
    for (const name of names) world.end(name);
    const filed = names.map(async (name, at) => {
      await world.start(name, at % 2 === 0 ? { by } : {});
      if (at % 3 === 0) await app.turns.cancel(await found(world, name));
    });
    await Promise.all(filed);
    await Promise.all(names.map(world.ended));
    const started = new Set<string>();
    let running = 0;
    let most = 0;
    for (const change of await changesOf(world)) {
      if (change.type === "turn_started") {
        started.add(change.turn_id);
        most = Math.max(most, ++running);
      }
      if (change.type === "turn_ended" && started.has(change.turn_id)) running--;
    }
    expect({ most, running }).toEqual({ most: 3, running: 0 });
    for (const [at, name] of names.entries())
      expect({ name, status: world.status(name) }).toEqual({
        name,
        status: at % 3 === 0 ? expect.stringMatching(/cancelled|complete/) : "complete",
      });
  });

  test("have a queue of at most 200 turns per owner, and others may still queue", async () => {
    await using world = await openQueueWorld(1);
    const { principal: by } = await namedToken(world.plexus, "flooding");
    await world.start("one");
    const flood = Array.from({ length: 200 }, (_, at) => world.start(`f${at}`, { by }));
    expect(new Set(await Promise.all(flood))).toEqual(new Set(["queued"]));
    await expect(world.start("one too many", { by })).rejects.toMatchObject({
      code: "limit_reached",
      message: expect.stringMatching(/^Your part of the queue is full: 1 .*--max-running/),
    });
    expect(await world.start("mine")).toBe("queued");
    expect(await world.place("mine")).toBeLessThanOrEqual(2);
  });

  test("have a queue of at most 1,000 turns in all", async () => {
    await using world = await openQueueWorld(1);
    await world.start("one");
    for (const name of ["a", "b", "c", "d", "e"]) {
      const { principal: by } = await namedToken(world.plexus, name);
      await Promise.all(Array.from({ length: 200 }, (_, at) => world.start(`${name}-${at}`, { by })));
    }
    await expect(world.start("one too many")).rejects.toMatchObject({
      code: "limit_reached",
      message: expect.stringMatching(/^The queue is full: /),
    });
  });

  test("have a queue of at most 64 MB of prompts per owner", async () => {
    await using world = await openQueueWorld(1);
    await world.start("one");
    const prompt = "x".repeat(9 * 1024 * 1024);
    const { app } = world.plexus;
    for (let at = 0; at < 7; at++) await app.turns.start(await world.session(`long-${at}`), prompt, false);
    const session = await world.session("too long");
    await expect(app.turns.start(session, prompt, false)).rejects.toMatchObject({ code: "limit_reached" });
  });
});

describe("a child that holds a Plexus token", () => {
  test("lets that token borrow one turn at a time, and no other token", async () => {
    await using world = await openQueueWorld(1);
    const { token, principal: by } = await namedToken(world.plexus, "family");
    await world.start("parent", { servers: bearing(token) });
    expect(await world.start("mine")).toBe("queued");
    expect(await world.start("first", { by })).toBe("running");
    expect(await world.start("second", { by })).toBe("queued");
    world.end("first");
    await world.running("second");
    expect(world.status("mine")).toBe("queued");
    world.end("second");
    await world.ended("second");
    world.end("parent");
    await world.running("mine");
  });

  test("lets a turn borrow that was queued before the child started", async () => {
    await using world = await openQueueWorld(1);
    const { token, principal: by } = await namedToken(world.plexus, "family");
    const other = await namedToken(world.plexus, "other");
    await world.start("one", { by });
    await world.start("parent", { by: other.principal, servers: bearing(token) });
    await world.start("first", { by });
    world.end("one");
    await world.running("parent");
    await world.running("first");
  });

  test("lets its token borrow even if it runs on a borrowed turn itself", async () => {
    await using world = await openQueueWorld(1);
    const elder = await namedToken(world.plexus, "elder");
    const younger = await namedToken(world.plexus, "younger");
    await world.start("grandparent", { servers: bearing(elder.token) });
    expect(await world.start("grandchild", { by: younger.principal })).toBe("queued");
    expect(await world.start("parent", { by: elder.principal, servers: bearing(younger.token) })).toBe("running");
    await world.running("grandchild");
  });

  test("lets up to eight generations borrow that share one token", async () => {
    await using world = await openQueueWorld(1);
    const { token, principal: by } = await namedToken(world.plexus, "family");
    const servers = { children: { command: "plexus", args: ["mcp"], env: { PLEXUS_TOKEN: token } } };
    await world.start("parent", { servers });
    for (let at = 0; at < 8; at++) expect(await world.start(`generation-${at}`, { by, servers })).toBe("running");
    expect(await world.start("generation-8", { by, servers })).toBe("queued");
  });

  test("lets nobody borrow with an invalid token", async () => {
    await using world = await openQueueWorld(1);
    const { token, principal: by } = await namedToken(world.plexus, "family");
    await world.start("parent", { servers: bearing(`${token.slice(0, -4)}AAAA`) });
    expect(await world.start("first", { by })).toBe("queued");
  });

  test("may hold the operator's token, too", async () => {
    await using world = await openQueueWorld(1);
    await world.start("parent", { servers: bearing("operator-token-for-tests") });
    expect(await world.start("first")).toBe("running");
    expect(await world.start("second")).toBe("queued");
  });
});

function bearing(token: string) {
  return { children: { type: "http", url: "http://127.0.0.1:1/mcp", headers: { Authorization: `Bearer ${token}` } } };
}
