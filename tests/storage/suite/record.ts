import { expect, test } from "bun:test";
import type { Change } from "../../../src/contract/change.ts";
import { hashOfEntry, NO_HASH } from "../../../src/storage/record/audit-entry.ts";
import { ANY_NUMBER, ANY_PENDING, newApproval, newSession, newToken, outcome, UNRULED } from "../rows.ts";
import {
  filed,
  NOW,
  type OpenedStorage,
  type OpenForRaces,
  race,
  raced,
  repeated,
  storedSession,
  storedTurn,
} from "./engine.ts";

/** The promises of every engine about changes, the audit, upkeep, sessions and failures. */
export function recordPromises(open: OpenForRaces): void {
  test("changes are announced in order, each once, and never before they can be read", async () => {
    const told: Change[] = [];
    const unseen: Promise<boolean>[] = [];
    await using opened = await open((changes) => {
      told.push(...changes);
      unseen.push(...changes.map(async ({ subjectId }) => (await storage.approvals.get(subjectId)) === undefined));
    });
    const { storage } = opened;
    const asked = Array.from({ length: 40 }, () => newApproval({ id: storage.newId() }));
    await raced<unknown>(
      opened,
      asked.map((one) => (connection) => connection.approvals.file(one, ANY_PENDING, UNRULED)),
    );
    await raced<unknown>(
      opened,
      asked.map(
        ({ id }) =>
          (connection) =>
            connection.approvals.settleIfPending(id, outcome(), undefined),
      ),
    );
    const stored = await storage.changes.listAfter(0, undefined, 1_000);
    expect(told.map(({ decision: _, ...change }) => change)).toEqual(stored);
    const ids = stored.map(({ id }) => id);
    expect(ids).toEqual([...new Set(ids)].sort((a, b) => a - b));
    expect(ids).toHaveLength(2 * asked.length);
    expect(await Promise.all(unseen)).toEqual(told.map(() => false));
  });

  test("an acknowledged write is visible to every later read", async () => {
    await using opened = await open();
    const { storage } = opened;
    await repeated(async () => {
      const { id } = await filed(storage);
      expect((await storage.approvals.head(id))?.status).toBe("pending");
      await storage.approvals.settleIfPending(id, outcome(), undefined);
      expect((await storage.approvals.head(id))?.status).toBe("allowed");
    });
  });

  test("a failing command fails alone and leaves nothing behind", async () => {
    await using opened = await open();
    const { storage } = opened;
    const { id: taken } = await filed(storage);
    const before = await storage.changes.newestId();
    const others = Array.from({ length: 5 }, () => newApproval({ id: storage.newId() }));
    const results = await race<unknown>(opened, [
      (connection) => connection.approvals.file(newApproval({ id: taken }), ANY_PENDING, UNRULED),
      ...others.map((one) => (connection: OpenedStorage) => connection.approvals.file(one, ANY_PENDING, UNRULED)),
      (connection) => connection.tokens.createIfNameFree(newToken({ kind: "child", name: null, sessionId: "none" })),
    ]);
    const statuses: string[] = results.map(({ status }) => status);
    expect(statuses).toEqual(["rejected", ...others.map(() => "fulfilled"), "rejected"]);
    expect((await storage.approvals.pendingIds()).size).toBe(6);
    expect(await storage.changes.listAfter(before, undefined, 10)).toHaveLength(5);
  });

  test("the chain over decisions is continuous, and every row names its own entry, even with concurrent deciders", async () => {
    await using opened = await open();
    const { storage } = opened;
    await storage.audit.begin(1_000);
    const asked = await Promise.all(Array.from({ length: 30 }, () => filed(storage, { asker: "me" })));
    for (const one of asked.slice(0, 10)) await storage.approvals.releaseIfPending(one, 9_000);
    await raced<unknown>(
      opened,
      asked.flatMap(({ id }) => [
        (connection) => connection.approvals.settleIfPending(id, outcome(), undefined),
        () => storage.approvals.abandonIfUnheld([id], "gone", NOW),
      ]),
    );
    await raced<unknown>(
      opened,
      asked.map(
        ({ id }) =>
          (connection) =>
            connection.approvals.deliverUnlessAskedAgain(id, "me", NOW),
      ),
    );
    const { rows } = await storage.audit.page("decisions", -1, 1_000);
    let previous = NO_HASH;
    for (const [index, row] of rows.entries()) {
      expect([row.seq, row.hash]).toEqual([index, hashOfEntry(previous, row.entry)]);
      previous = row.hash;
    }
    const decided = await storage.audit.decided(undefined, 1_000);
    expect(decided).toHaveLength(30);
    for (const { id, entry } of decided) expect(JSON.parse(entry ?? "{}")).toMatchObject({ approval_id: id });
  });

  test("upkeep never removes what is pending, running, queued or still awaited", async () => {
    await using opened = await open();
    const { storage } = opened;
    const { session, turn } = await storedTurn(storage);
    const [pending, awaited] = [
      await filed(storage, { sessionId: session.id, isInTurn: true }),
      await filed(storage, { sessionId: session.id, isInTurn: true, asker: "me" }),
    ];
    await storage.approvals.releaseIfPending(awaited, 9_000);
    await storage.approvals.settleIfPending(awaited.id, outcome(), undefined);
    const ever = Number.MAX_SAFE_INTEGER;
    await storage.history.removeTurnsEndedBefore(ever, 100);
    await storage.history.removeTurnsOfOwnerEndedBefore(session.owner, ever, 100);
    await storage.history.removeUnchainedBefore(ever, 100);
    await storage.audit.forgetBefore("decisions", ever, 100, NOW);
    await storage.audit.cutInputs(session.owner, ever, 100, NOW);
    await storage.conversations.removeSomeIfUnused(session.treeId ?? "", 100);
    expect(await storage.sessions.removeTurnsIfIdle(session.id, 100)).toBe("busy");
    expect(await storage.sessions.removeIfIdle(session.id)).toBe("busy");
    expect((await storage.turns.get(turn.id))?.eventCount).toBe(4);
    for (const { id } of [pending, awaited])
      expect((await storage.approvals.get(id))?.input).toEqual({ command: "true" });
    expect(await storage.conversations.listTree(session.treeId ?? "", 10)).toHaveLength(2);
  });

  test("old decisions are removed from the front, in steps, with their entries", async () => {
    await using opened = await open();
    const { storage } = opened;
    for (let at = 1; at <= 4; at++) {
      const { id } = await filed(storage, { createdAt: at });
      await storage.approvals.settleIfPending(id, outcome({ resolvedAt: at }), undefined);
    }
    expect(await storage.changes.removeBefore(4, 3)).toBe(3);
    // The first entry records when the chain began.
    expect(await storage.audit.forgetBefore("decisions", 3, 100, NOW)).toEqual({ count: 3, problem: undefined });
    expect(await storage.audit.checkpoint("decisions")).toMatchObject({ seq: 2, chainedSince: 1 });
    expect((await storage.audit.page("decisions", 2, 10)).forgottenThrough).toBe(2);
    expect(await storage.audit.decided(undefined, 10)).toHaveLength(2);
  });

  test("the parts of one read are consistent", async () => {
    await using opened = await open();
    const { storage } = opened;
    const { session, turn } = await storedTurn(storage);
    await filed(storage, { sessionId: session.id, isInTurn: true });
    const progress = await storage.turns.progress(session.id, {
      consumer: "",
      fromSeq: undefined,
      limit: 9,
      maxBytes: 1_000_000,
      maxPending: 9,
    });
    expect(progress).toMatchObject({ turn: { eventCount: 2 }, position: 0, pending: { rows: [{}] } });
    expect(progress.events).toHaveLength(2);
    await storage.turns.advance(turn.id, "", 2);
    await storage.turns.advance(turn.id, "", 1);
    expect(await storage.turns.position(turn.id, "")).toBe(2);
    await storage.turns.endIfRunning(
      turn,
      { status: "failed", error: "x", counted: undefined, claudeSessionId: undefined },
      NOW,
    );
    const query = { ended: { since: 0, limit: 9 }, skip: [], maxPending: 9, maxOngoing: 9, seenSince: 0 };
    const awaited = await storage.changes.awaited({ sessionId: session.id }, query);
    const newestId = await storage.changes.newestId();
    const nothing = { newestId, pending: { rows: [] }, ongoing: [], mayAsk: false };
    expect(awaited).toMatchObject({ ...nothing, ended: [{ changeId: newestId, turn: { id: turn.id } }] });
  });

  test("sessions are limited in number and bytes, found by id and by name, and forks share their tree", async () => {
    await using opened = await open();
    const { storage } = opened;
    const first = await storedSession(storage, { name: "work" });
    const fork = newSession({ ...first, id: storage.newId(), name: "fork" });
    const create = (most = ANY_NUMBER) => storage.sessions.createIfNameFree(fork, "shared", most);
    expect(await create({ count: 1, bytes: 1e9 })).toEqual({
      outcome: "too_many",
      size: { count: 1, bytes: expect.any(Number) },
    });
    expect(await create({ count: 9, bytes: 10 })).toMatchObject({ outcome: "too_many" });
    expect(await create()).toMatchObject({ outcome: "created" });
    expect((await storage.sessions.find("operator", "work"))?.id).toBe(first.id);
    expect((await storage.sessions.find("operator", fork.id))?.id).toBe(fork.id);
    expect(await storage.sessions.find("token:1", "work")).toBeUndefined();
    expect(await storage.sessions.removeIfIdle(first.id)).toBe("removed");
    expect(await storage.conversations.removeSomeIfUnused(first.treeId ?? "", 10)).toBe(0);
    expect(await storage.sessions.removeIfIdle(fork.id)).toBe("removed");
    expect(await storage.conversations.removeSomeIfUnused(first.treeId ?? "", 10)).toBe(1);
  });
}
