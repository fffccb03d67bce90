import { expect, test } from "bun:test";
import { newToken, outcome } from "../rows.ts";
import {
  begin,
  END,
  filed,
  LEASE_MS,
  NOW,
  type OpenedStorage,
  type OpenForRaces,
  raced,
  repeated,
  storedSession,
  storedTurn,
} from "./engine.ts";

/** The promises of every engine to several servers on one database. */
export function serverPromises(open: OpenForRaces): void {
  test("a server keeps its requests while its lease lasts; afterwards one other server gets them", async () => {
    await using opened = await open();
    const [gone, other] = opened.connections;
    await repeated(async () => {
      for (const server of [gone, other]) await server.servers.renew(LEASE_MS);
      const { id } = await filed(gone, { asker: "me" });
      const take = () => other.approvals.takeOver(9_000);
      opened.advance(LEASE_MS - 1);
      expect(await take()).toEqual([]);
      opened.advance(1);
      expect((await raced(opened, [take, take])).flat()).toEqual([id]);
      const { heldBy, heldUntil } = (await other.approvals.get(id)) ?? {};
      expect([heldBy, heldUntil !== null]).toEqual([other.servers.id, true]);
      await other.approvals.settleIfPending(id, outcome(), undefined);
    });
  });

  test("a renewed lease lasts, and an expired one reports that once", async () => {
    await using opened = await open();
    const [first, other] = opened.connections;
    await filed(first);
    for (let renewal = 0; renewal < 3; renewal++) {
      opened.advance(LEASE_MS - 1);
      expect(await first.servers.renew(LEASE_MS)).toBe("renewed");
      expect(await other.approvals.takeOver(9_000)).toEqual([]);
    }
    opened.advance(LEASE_MS);
    await other.servers.renew(LEASE_MS);
    expect(await first.servers.renew(LEASE_MS)).toBe("lapsed");
    expect(await first.servers.renew(LEASE_MS)).toBe("renewed");
  });

  test("a server that has left is gone at once, and takes nothing back when it returns", async () => {
    await using opened = await open();
    const [gone, other] = opened.connections;
    const { id } = await filed(gone);
    await gone.servers.leave();
    expect(await other.approvals.takeOver(9_000)).toEqual([id]);
    await gone.servers.renew(LEASE_MS);
    expect(await gone.approvals.takeOver(9_000)).toEqual([]);
  });

  test("a server abandons only requests whose children it expects back itself", async () => {
    await using opened = await open();
    const [first, second] = opened.connections;
    const { id, asker } = await filed(first, { asker: "me" });
    await first.approvals.releaseIfPending({ id, asker }, 9_000);
    await second.approvals.holdAgain(id, undefined);
    await second.approvals.releaseIfPending({ id, asker }, 12_000);
    await first.approvals.abandonIfUnheld([id], "gone", NOW);
    expect((await first.approvals.get(id))?.status).toBe("pending");
    await second.approvals.abandonIfUnheld([id], "gone", NOW);
    expect((await first.approvals.get(id))?.status).toBe("abandoned");
  });

  test("a decision on one server is visible to the other, and is made once", async () => {
    await using opened = await open();
    const [first, second] = opened.connections;
    await repeated(async () => {
      const { id } = await filed(first);
      const decide = (by: string) => (server: OpenedStorage) =>
        server.approvals.settleIfPending(id, outcome({ resolvedBy: by }), undefined);
      const settled = await raced(opened, ["a", "b", "c", "d"].map(decide));
      expect(settled.filter((one) => one.outcome === "settled")).toHaveLength(1);
      expect(settled.filter((one) => one.outcome === "settled_before")).toHaveLength(3);
      expect(await first.approvals.get(id)).toEqual(await second.approvals.get(id));
    });
  });

  test("changes have one order for all servers: a reader that follows them misses none", async () => {
    await using opened = await open();
    const [first, second] = opened.connections;
    const read: number[] = [];
    let isOver = false;
    const reading = (async () => {
      while (!isOver || (await second.changes.newestId()) > (read.at(-1) ?? 0)) {
        read.push(...(await second.changes.listAfter(read.at(-1) ?? 0, undefined, 7)).map(({ id }) => id));
        await new Promise(setImmediate);
      }
    })();
    const asks = Array.from({ length: 50 }, () => (server: OpenedStorage) => filed(server));
    await raced<unknown>(opened, asks);
    isOver = true;
    await reading;
    expect(read).toEqual((await first.changes.listAfter(0, undefined, 100)).map(({ id }) => id));
    expect(read).toHaveLength(50);
  });

  test("a turn belongs to the data dir of the server that filed it, queued or running", async () => {
    await using opened = await open();
    const [mine, other] = opened.connections;
    const [{ turn }, waiting] = [await storedTurn(mine), await storedSession(mine)];
    const choice = { version: (await mine.turns.queueState()).version, start: undefined };
    const queued = await begin(mine, waiting.id, { maxRunning: 1, choice });
    if (queued.outcome !== "queued") throw new Error(`it was not queued: ${queued.outcome}`);
    expect((await mine.turns.listRunning()).map(({ id }) => id)).toEqual([turn.id]);
    expect(await other.turns.listRunning()).toEqual([]);
    expect(await other.turns.queueState()).toMatchObject({ running: [], queued: [] });
    const start = { id: queued.turn.id, isBorrowed: false, version: (await other.turns.queueState()).version };
    expect(await other.turns.beginQueued(start, undefined, NOW)).toEqual({ outcome: "moved" });
    await storedTurn(other);
    expect(await begin(other, (await storedSession(other)).id, { maxRunning: 2 })).toMatchObject({
      outcome: "running",
    });
  });

  test("a server that stops ends only the queued turns of its own data dir", async () => {
    await using opened = await open();
    const [stops, other] = opened.connections;
    const queued = await Promise.all(
      [stops, other].map(async (server) => {
        const { id } = await storedSession(server);
        const choice = { version: (await server.turns.queueState()).version, start: undefined };
        const filing = await begin(server, id, { maxRunning: 0, choice });
        return "turn" in filing ? filing.turn.id : "";
      }),
    );
    await stops.turns.endEveryQueued({ status: "cancelled", error: "stopped" }, NOW);
    const statuses = await Promise.all(queued.map(async (id) => (await other.turns.get(id))?.status));
    expect(statuses).toEqual(["cancelled", "queued"]);
  });

  test("a server can ask for the end of another server's turn, and that server reads the reason", async () => {
    await using opened = await open();
    const [runs, other] = opened.connections;
    const { turn } = await storedTurn(runs);
    expect(await runs.turns.stopElsewhere(turn.id, "enough")).toBe(false);
    expect(await other.turns.stopElsewhere(turn.id, "enough")).toBe(true);
    expect(await runs.turns.stopsAskedFor()).toEqual([{ id: turn.id, reason: "enough" }]);
    expect(await other.turns.stopsAskedFor()).toEqual([]);
    await runs.turns.endIfRunning(turn, END, NOW);
    expect(await runs.turns.stopsAskedFor()).toEqual([]);
    expect(await other.turns.stopElsewhere(turn.id, "enough")).toBe(false);
  });

  test("a choice is refused if another server has changed the queue since", async () => {
    await using opened = await open();
    const [first, second] = opened.connections;
    const { turn } = await storedTurn(first);
    const { id: sessionId } = await storedSession(first);
    const { version } = await first.turns.queueState();
    const queued = await begin(first, sessionId, { maxRunning: 1, choice: { version, start: undefined } });
    if (queued.outcome !== "queued") throw new Error(`it was not queued: ${queued.outcome}`);
    await first.turns.endIfRunning(turn, END, NOW);
    const chosen = { id: queued.turn.id, isBorrowed: false, version: (await first.turns.queueState()).version };
    expect(await second.turns.endIfQueued(queued.turn.id, { status: "cancelled", error: "no" }, NOW)).toBe(true);
    expect(await first.turns.beginQueued(chosen, undefined, NOW)).toEqual({ outcome: "moved" });
  });

  test("a turn with a lower id than the session's newest turn does not begin", async () => {
    await using opened = await open();
    const { storage } = opened;
    const { session, turn } = await storedTurn(storage);
    await storage.turns.endIfRunning(turn, END, NOW);
    const earlier = "00000000-0000-7000-8000-000000000000";
    expect(await begin(storage, session.id, {}, earlier)).toEqual({ outcome: "outdated_id", latest: turn.id });
    const far = "ffffffff-0000-7000-8000-000000000000";
    expect(storage.newId(far) > far).toBe(true);
  });

  test("missing tokens are found", async () => {
    await using opened = await open();
    const [first, second] = opened.connections;
    await first.tokens.createIfNameFree(newToken({ id: "a", name: "a" }));
    expect(await second.tokens.missing(["b", "a", "c"])).toEqual(["b", "c"]);
    expect(await second.tokens.missing([])).toEqual([]);
  });
}
