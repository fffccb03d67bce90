import { describe, expect, setDefaultTimeout, test } from "bun:test";
import { namedToken } from "../../../http/support/callers.ts";
import { changesOf, found, OPERATOR, openQueueWorld, type QueueWorld } from "./queue-world.ts";
import { openSlotSetup } from "./slot-setup.ts";

setDefaultTimeout(60_000);

const REVOKED = "The token that this turn belongs to was revoked while it was queued.";

describe("the turns of a token that is revoked", () => {
  test("are cancelled and announced if they are queued; other owners' turns stay in the queue", async () => {
    await using world = await openQueueWorld(1);
    const { principal: by } = await namedToken(world.plexus, "bad");
    const other = await namedToken(world.plexus, "other");
    await world.start("running");
    for (const name of ["q1", "q2"]) await world.start(name, { by });
    await world.start("mine");
    await world.start("theirs", { by: other.principal });
    await world.plexus.app.tokens.revoke("bad");
    expect(["running", "q1", "q2", "mine", "theirs"].map(world.status)).toEqual([
      "running",
      "cancelled",
      "cancelled",
      "queued",
      "queued",
    ]);
    expect(await eventsOf(world, "q1")).toEqual([{ type: "error", message: REVOKED }]);
    const told = (await changesOf(world)).filter((change) => change.session_name === "q1");
    expect(told).toMatchObject([{ type: "turn_queued" }, { type: "turn_ended", status: "cancelled", error: REVOKED }]);
    for (const name of ["running", "theirs", "mine"]) {
      await world.running(name);
      world.end(name);
      await world.ended(name);
    }
    expect(["q1", "q2"].map(world.wasStarted)).toEqual([false, false]);
  });

  test("go on if they run", async () => {
    await using world = await openQueueWorld(1);
    const { principal: by } = await namedToken(world.plexus, "bad");
    await world.start("r1", { by });
    await world.running("r1");
    await world.plexus.app.tokens.revoke("bad");
    expect(world.status("r1")).toBe("running");
    world.end("r1");
    await world.ended("r1");
    expect(world.status("r1")).toBe("complete");
  });

  test("do not start any more: its sessions continue as forks of the operator", async () => {
    await using world = await openQueueWorld(1);
    const { principal: by } = await namedToken(world.plexus, "bad");
    const session = await world.session("theirs", { by });
    const { app } = world.plexus;
    await app.tokens.revoke("bad");
    await expect(app.turns.start(session, "theirs\n", false)).rejects.toMatchObject({
      code: "forbidden",
      message: expect.stringContaining("Fork it"),
    });
    const fork = await app.sessions.fork(OPERATOR, session, "mine");
    expect((await app.turns.start(fork, "mine\n", false)).status).toBe("running");
  });

  test("are cancelled when they would start, if they are still in the queue", async () => {
    await using world = await openQueueWorld(1);
    const { principal: by } = await namedToken(world.plexus, "bad");
    await world.start("running");
    await world.start("q1", { by });
    await world.start("mine");
    using database = world.database();
    database.run("DELETE FROM tokens WHERE name = 'bad'");
    world.end("running");
    await world.running("mine");
    expect({ status: world.status("q1"), wasStarted: world.wasStarted("q1") }).toEqual({
      status: "cancelled",
      wasStarted: false,
    });
    expect(await eventsOf(world, "q1")).toEqual([{ type: "error", message: REVOKED }]);
  });

  test("are refused or cancelled if they are filed while the token is revoked", async () => {
    await using setup = await openSlotSetup(1);
    const bad = await setup.token("bad");
    await setup.begin("running", "operator");
    // A turn that needs a choice first may be filed after the token is revoked.
    const [before, , after] = await Promise.allSettled([
      setup.begin("before", bad.owner),
      setup.tokens.revoke("bad"),
      setup.begin("after", bad.owner),
    ]);
    const refused = { status: "rejected", reason: { code: "forbidden" } };
    if (before.status === "fulfilled") expect(setup.status("before")).toBe("cancelled");
    else expect(before).toMatchObject(refused);
    expect(after).toMatchObject(refused);
    expect(setup.counts().queued).toBe(0);
  });
});

async function eventsOf(world: QueueWorld, name: string) {
  const { app } = world.plexus;
  const [turn] = await app.polls.list(OPERATOR, (await found(world, name)).id, 1);
  return turn ? (await app.sessionStream.page(turn, 0, 9)).map(({ event }) => event) : [];
}
