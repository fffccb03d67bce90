import { expect, test } from "bun:test";
import type { Admission, Output } from "../../../src/storage/turns.ts";
import { ANY_NUMBER, ANY_QUEUE, newSession, newToken, outcome, runningTurn } from "../rows.ts";
import {
  filed,
  NOW,
  type OpenedStorage,
  type OpenForRaces,
  raced,
  repeated,
  storedSession,
  storedTurn,
} from "./engine.ts";

const END = { status: "complete", error: null, counted: undefined, claudeSessionId: undefined } as const;
const CANCELLED = { status: "cancelled", error: "enough" } as const;
const said = (...texts: string[]): Output => ({
  events: texts.map((text) => ({ type: "content", text })),
  blocks: texts.map((text) => ({ role: "assistant", content: { type: "text", text } })),
  checkpoint: { offset: texts.length },
  mustAsk: true,
});

/** What any engine promises of turns. */
export function turnPromises(open: OpenForRaces): void {
  test("of two that start for the last slot one runs, and the other has to choose", async () => {
    await using opened = await open();
    const { storage } = opened;
    await repeated(async () => {
      const sessions = [await storedSession(storage), await storedSession(storage)];
      const begun = await raced(
        opened,
        sessions.map(
          ({ id }) =>
            (connection) =>
              begin(connection, id, { maxRunning: 1 }),
        ),
      );
      expect(begun.map(({ outcome }) => outcome).sort()).toEqual(["choose", "running"]);
      for (const one of begun) if ("turn" in one) await storage.turns.endIfRunning(one.turn, END, NOW);
    });
  });

  test("of two that start in one session one does, and the other is told that it is busy", async () => {
    await using opened = await open();
    const { storage } = opened;
    await repeated(async () => {
      const { id } = await storedSession(storage);
      const begun = await raced(opened, [(connection) => begin(connection, id), (connection) => begin(connection, id)]);
      expect(begun.map(({ outcome }) => outcome).sort()).toEqual(["busy", "running"]);
    });
  });

  test("a choice to start counts only on the state that it was made on; a choice to wait always does", async () => {
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

  test("of starting and cancelling a queued turn the first wins", async () => {
    await using opened = await open();
    const { storage } = opened;
    await repeated(async () => {
      const { id, version, running } = await queuedTurn(storage);
      const [started, isCancelled] = await raced<unknown>(opened, [
        (connection) => connection.turns.beginQueued({ id, isBorrowed: false, version }, undefined, NOW),
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

  test("a queued turn hands its prompt over once, and only as chosen", async () => {
    await using opened = await open();
    const { storage } = opened;
    const { id, version } = await queuedTurn(storage);
    const start = (of: string) => storage.turns.beginQueued({ id, isBorrowed: true, version: of }, undefined, NOW);
    expect(await start("another")).toEqual({ outcome: "moved" });
    expect(await start(version)).toMatchObject({ outcome: "running", prompt: "work", turn: { isBorrowed: true } });
    expect(await start((await storage.turns.queueState()).version)).toEqual({ outcome: "moved" });
  });

  test("the turns of a token that is revoked neither begin nor stay queued, and its share is forgotten", async () => {
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

  test("who got a turn when is remembered in order", async () => {
    await using opened = await open();
    const { storage } = opened;
    for (const owner of ["a", "b", "a", "c"]) await storedTurn(storage, { owner });
    const { lastStarts } = await storage.turns.queueState();
    expect([...lastStarts].sort((a, b) => a[1] - b[1]).map(([owner]) => owner)).toEqual(["b", "a", "c"]);
  });

  test("a full queue refuses, in all and of one owner, and what is queued takes no event", async () => {
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

  test("events are numbered without a gap, whoever adds them at once", async () => {
    await using opened = await open();
    const { storage } = opened;
    const { session, turn } = await storedTurn(storage);
    const approvals = await Promise.all(
      Array.from({ length: 6 }, () => filed(storage, { sessionId: session.id, isInTurn: true })),
    );
    await raced<unknown>(opened, [
      ...approvals.map(
        ({ id }) =>
          (connection: OpenedStorage) =>
            connection.approvals.settleIfPending(id, outcome(), undefined),
      ),
      ...["a", "b", "c"].map(
        (text) => (connection: OpenedStorage) => connection.turns.appendIfRunning(turn, said(text, text), NOW),
      ),
    ]);
    const events = await storage.turns.events(turn.id, 0, 100);
    expect(events.map(({ seq }) => seq)).toEqual(events.map((_, index) => index));
    expect(events).toHaveLength(1 + 6 + 6 + 6);
    expect((await storage.turns.get(turn.id))?.eventCount).toBe(events.length);
  });

  test("of output and an end that race, nothing stands behind the last event", async () => {
    await using opened = await open();
    const { storage } = opened;
    await repeated(async () => {
      const { session, turn } = await storedTurn(storage);
      await raced<unknown>(opened, [
        (connection) => connection.turns.appendIfRunning(turn, said("words"), NOW),
        (connection) => connection.turns.endIfRunning(turn, END, NOW),
        (connection) => connection.turns.endIfRunning(turn, { ...END, status: "failed", error: "late" }, NOW),
      ]);
      const events = await storage.turns.events(turn.id, 0, 10);
      expect(events.at(-1)?.event.type).toBe("error");
      expect(events.filter(({ event }) => event.type === "error")).toHaveLength(1);
      const isStored = events.some(({ event }) => event.type === "content");
      const head = (await storage.sessions.get(session.id))?.headNodeId ?? "";
      const path = await storage.conversations.path(head);
      expect(path.map(({ role }) => role)).toEqual(isStored ? ["root", "user", "assistant"] : ["root", "user"]);
    });
  });

  test("the end of a turn gives up what its child asks, tells of it before, and ends its token", async () => {
    await using opened = await open();
    const { storage } = opened;
    const { session, turn } = await storedTurn(storage);
    await storage.tokens.createIfNameFree(newToken({ id: "child", kind: "child", name: null, sessionId: session.id }));
    const { id } = await filed(storage, { sessionId: session.id, isInTurn: true });
    const counted = { inputTokens: 1, outputTokens: 2, numTurns: 3, totalCostUsd: 0.5 };
    await storage.turns.endIfRunning(turn, { ...END, counted, claudeSessionId: "c" }, NOW);
    expect((await storage.approvals.get(id))?.status).toBe("abandoned");
    const types = (await storage.turns.events(turn.id, 0, 10)).map(({ event }) => event.type);
    expect(types.slice(-2)).toEqual(["approval_resolved", "complete"]);
    expect(await storage.tokens.get("child")).toBeUndefined();
    expect(await storage.sessions.get(session.id)).toMatchObject({ claudeSessionId: "c", totalCostUsd: 0.5 });
  });

  test("a result takes the allow of its call once; without one it is noted as unasked, and told of", async () => {
    const told: string[] = [];
    await using opened = await open((changes) => told.push(...changes.map(({ kind }) => kind)));
    const { storage } = opened;
    const { session, turn } = await storedTurn(storage);
    const { id } = await filed(storage, { sessionId: session.id, isInTurn: true, toolUseId: "call" });
    await storage.approvals.settleIfPending(id, outcome(), undefined);
    const result = { type: "tool_result", tool_use_id: "call", output: "done", is_error: false } as const;
    const events = [{ ...result, askedAgain: undefined, isRefused: false }];
    const append = () => storage.turns.appendIfRunning(turn, { ...said(), events }, NOW);
    expect([await append(), await append()]).toMatchObject([[], [{ toolUseId: "call", turnId: turn.id }]]);
    const stored = (await storage.turns.events(turn.id, 3, 10)).map(({ event }) => event);
    expect(stored).toMatchObject([{ approval_id: id }, { approval_id: null, unasked: true }]);
    expect(told.at(-1)).toBe("unasked_call");
    expect((await storage.turns.get(turn.id))?.unasked).toBe(1);
  });

  test("of removing a session and beginning a turn in it the first wins", async () => {
    await using opened = await open();
    const { storage } = opened;
    await repeated(async () => {
      const { id } = await storedSession(storage);
      const [isRemoved, begun] = await raced<unknown>(opened, [
        (connection) => connection.sessions.removeIfIdle(id),
        (connection) => begin(connection, id),
      ]);
      expect({ isRemoved, begun }).toMatchObject(
        isRemoved ? { begun: { outcome: "no_session" } } : { begun: { outcome: "running" } },
      );
      expect((await storage.sessions.get(id)) === undefined).toBe(isRemoved === true);
    });
  });

  test("of creating one name at once one does, and another owner's is free", async () => {
    await using opened = await open();
    await repeated(async (round) => {
      const create = (owner: string) => (connection: OpenedStorage) =>
        connection.sessions.createIfNameFree(newSession({ name: `n-${round}`, owner }), "none", ANY_NUMBER);
      const created = await raced(opened, [create("a"), create("a"), create("b")]);
      expect(created.map(({ outcome }) => outcome).sort()).toEqual(["created", "created", "name_taken"]);
      const named = await raced(
        opened,
        ["1", "2"].map(
          (id) => (connection) =>
            connection.tokens.createIfNameFree(newToken({ id: `${round}-${id}`, name: `n-${round}` })),
        ),
      );
      expect(named.sort()).toEqual([false, true]);
    });
  });
}

async function begin(storage: OpenedStorage, sessionId: string, given: Partial<Admission> = {}, id = storage.newId()) {
  const turn = { id, sessionId, ephemeral: false, startedAt: 1_000, prompt: "work", checkpoint: {} };
  const admission = { maxRunning: 1_000, limits: ANY_QUEUE, ownerToken: undefined, choice: undefined };
  return storage.turns.begin(turn, { ...admission, ...given });
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
