import { expect, test } from "bun:test";
import type { Admission } from "../../../src/storage/turns.ts";
import { ANY_QUEUE, newToken, runningTurn } from "../rows.ts";
import {
  begin,
  END,
  NOW,
  type OpenedStorage,
  type OpenForRaces,
  raced,
  repeated,
  said,
  storedSession,
  storedTurn,
} from "./engine.ts";

const CANCELLED = { status: "cancelled", error: "enough" } as const;

/** The promises of every engine about the queue of turns. */
export function queuePromises(open: OpenForRaces): void {
  test("if two turns race for the last slot, one runs, and the other's caller has to choose", async () => {
    await using opened = await open();
    const { storage } = opened;
    await repeated(async () => {
      const sessions = [await storedSession(storage), await storedSession(storage)];
      const begun = await raced(
        opened,
        sessions.map(
          ({ id }) =>
            () =>
              begin(storage, id, { maxRunning: 1 }),
        ),
      );
      expect(begun.map(({ outcome }) => outcome).sort()).toEqual(["choose", "running"]);
      for (const one of begun) if ("turn" in one) await storage.turns.endIfRunning(one.turn, END, NOW);
    });
  });

  test("a choice to start is valid only for the state that it was made from; a choice to wait is always valid", async () => {
    await using opened = await open();
    const { storage } = opened;
    const { turn } = await storedTurn(storage);
    const [waiting, other] = [await storedSession(storage), await storedSession(storage)];
    const { version, running, queued } = await storage.turns.queueState();
    expect({ running, queued }).toMatchObject({ running: [{ id: turn.id }], queued: [] });
    const wait = { version, start: undefined };
    expect(await begin(storage, waiting.id, { maxRunning: 1, choice: wait })).toMatchObject({ outcome: "queued" });
    const id = storage.newId();
    const start = { version, start: { id, isBorrowed: true } };
    const moved = await begin(storage, other.id, { maxRunning: 1, choice: start }, id);
    expect(moved).toMatchObject({ outcome: "choose", queue: { queued: [{}] } });
    expect(await begin(storage, other.id, { maxRunning: 1, choice: wait })).toMatchObject({ outcome: "queued" });
  });

  test("the first of starting and cancelling a queued turn wins", async () => {
    await using opened = await open();
    const { storage } = opened;
    await repeated(async () => {
      const { id, version, running } = await queuedTurn(storage);
      const [started, isCancelled] = await raced<unknown>(opened, [
        () => storage.turns.beginQueued({ id, isBorrowed: false, version }, undefined, NOW),
        (connection) => connection.turns.endIfQueued(id, CANCELLED, NOW),
      ]);
      const status = (await storage.turns.get(id))?.status;
      expect({ started, isCancelled }).toMatchObject(
        status === "running"
          ? { started: { outcome: "running" }, isCancelled: false }
          : { started: { outcome: "moved" }, isCancelled: true },
      );
      for (const one of [running, await storage.turns.get(id)])
        if (one) await storage.turns.endIfRunning(one, END, NOW);
    });
  });

  test("a queued turn returns its prompt once, and only if it was chosen", async () => {
    await using opened = await open();
    const { storage } = opened;
    const { id, version } = await queuedTurn(storage);
    const start = (of: string) => storage.turns.beginQueued({ id, isBorrowed: true, version: of }, undefined, NOW);
    expect(await start("another")).toEqual({ outcome: "moved" });
    expect(await start(version)).toMatchObject({ outcome: "running", prompt: "work", turn: { isBorrowed: true } });
    expect(await start((await storage.turns.queueState()).version)).toEqual({ outcome: "moved" });
  });

  test("the turns of a revoked token neither begin nor stay queued, and its last start is deleted", async () => {
    await using opened = await open();
    const { storage } = opened;
    const token = newToken({ id: "t1" });
    await storage.tokens.createIfNameFree(token);
    const { turn } = await storedTurn(storage);
    const [waits, later] = [
      await storedSession(storage, { owner: "token:t1" }),
      await storedSession(storage, { owner: "token:t1" }),
    ];
    const { version } = await storage.turns.queueState();
    const admission = { maxRunning: 1, ownerToken: "t1", choice: { version, start: undefined } };
    const queued = await begin(storage, waits.id, admission);
    expect(await storage.tokens.revoke("t1", "token:t1", NOW)).toEqual([]);
    expect(await storage.tokens.revoke("t1", "token:t1", NOW)).toBeUndefined();
    expect("turn" in queued && (await storage.turns.get(queued.turn.id))?.status).toBe("cancelled");
    expect(await begin(storage, later.id, admission)).toEqual({ outcome: "owner_revoked" });
    expect([...(await storage.turns.queueState()).lastStarts.keys()]).toEqual([turn.owner]);
  });

  test("the order of the owners' last starts is stored", async () => {
    await using opened = await open();
    const { storage } = opened;
    for (const owner of ["a", "b", "a", "c"]) await storedTurn(storage, { owner });
    const { lastStarts } = await storage.turns.queueState();
    expect([...lastStarts].sort((a, b) => a[1] - b[1]).map(([owner]) => owner)).toEqual(["b", "a", "c"]);
  });

  test("a full queue refuses turns, in all and of one owner, and a queued turn accepts no event", async () => {
    await using opened = await open();
    const { storage } = opened;
    const { id } = await queuedTurn(storage);
    const { version } = await storage.turns.queueState();
    const none = { count: 0, bytes: 0 };
    const file = async (limits: Admission["limits"]) =>
      begin(storage, (await storedSession(storage)).id, {
        maxRunning: 1,
        limits,
        choice: { version, start: undefined },
      });
    expect(await file({ ...ANY_QUEUE, inAll: none })).toEqual({ outcome: "queue_full" });
    expect(await file({ ...ANY_QUEUE, ofOne: none })).toEqual({ outcome: "own_queue_full" });
    const turn = await storage.turns.get(id);
    if (turn) await storage.turns.appendIfRunning(turn, said("early"), NOW);
    expect(await storage.turns.events(id, 0, 10)).toEqual([]);
  });

  test("ending all queued turns keeps the running ones, and announces each end", async () => {
    const told: string[] = [];
    await using opened = await open((changes) =>
      told.push(...changes.flatMap(({ kind, subjectId }) => (kind === "turn_ended" ? subjectId : []))),
    );
    const { storage } = opened;
    const { id, running } = await queuedTurn(storage);
    const { version } = await storage.turns.queueState();
    const waits = { maxRunning: 1, choice: { version, start: undefined } };
    const second = await begin(storage, (await storedSession(storage)).id, waits);
    await storage.turns.endEveryQueued(CANCELLED, NOW);
    await storage.turns.endEveryQueued(CANCELLED, NOW);
    const ids = [id, "turn" in second ? second.turn.id : ""];
    for (const queued of ids) expect(await storage.turns.get(queued)).toMatchObject({ ...CANCELLED, endedAt: NOW });
    expect(told.sort()).toEqual(ids.sort());
    expect((await storage.turns.get(running.id))?.status).toBe("running");
    expect((await storage.turns.queueState()).queued).toEqual([]);
  });
}

/** A turn that runs in the only slot, and one that waits for it, with the version of that state. */
async function queuedTurn(storage: OpenedStorage) {
  const running = await runningTurn(storage, await storedSession(storage));
  const { id: sessionId } = await storedSession(storage);
  const { version } = await storage.turns.queueState();
  const queued = await begin(storage, sessionId, { maxRunning: 1, choice: { version, start: undefined } });
  if (queued.outcome !== "queued") throw new Error(`it was not queued: ${queued.outcome}`);
  return { id: queued.turn.id, version: (await storage.turns.queueState()).version, running };
}
