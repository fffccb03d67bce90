import { expect, test } from "bun:test";
import { builtinOutcome, newToken, outcome, UNRULED } from "../rows.ts";
import {
  END,
  filed,
  NOW,
  type OpenedStorage,
  type OpenForRaces,
  raced,
  repeated,
  storedSession,
  storedTurn,
} from "./engine.ts";

const BY = { most: 100, ownerToken: undefined, now: NOW };
const FIRST = { endedSince: 0, limit: 10 };
const READER = { owner: "operator", consumer: "one" };
const QUERY = { ended: { since: 0, limit: 9 }, skip: [], maxPending: 9, maxOngoing: 9, seenSince: 0 };

/** The promises of every engine about readers of ended turns, and about what they get. */
export function readerPromises(open: OpenForRaces): void {
  const positionOf = async (storage: OpenedStorage, reader = READER) =>
    (await storage.readers.standing(reader, undefined, FIRST)).position;

  test("a position never moves back, even with concurrent writers, and outlives the server", async () => {
    await using opened = await open();
    await repeated(async (round) => {
      const positions = [3, 9, 1].map((step) => round * 10 + step);
      await raced(
        opened,
        positions.map((position) => (connection) => connection.readers.advance(READER, position, BY)),
      );
      expect(await positionOf(opened.storage)).toBe(round * 10 + 9);
    });
    const furthest = await positionOf(opened.storage);
    await opened.storage.readers.advance(READER, 1, { ...BY, now: NOW + 3_600_000 });
    expect(await positionOf(opened.storage)).toBe(furthest);
    const later = await opened.reopen();
    expect(await positionOf(later)).toBe(furthest);
  });

  test("a reader of one session is at that position, or at its position for all sessions, whichever is later", async () => {
    await using opened = await open();
    const { readers } = opened.storage;
    const ofOne = { ...READER, sessionId: "s" };
    await readers.advance(READER, 5, BY);
    await readers.advance(ofOne, 7, BY);
    const stand = async (reader: typeof ofOne) => (await readers.standing(reader, undefined, FIRST)).position;
    expect([await stand(ofOne), await positionOf(opened.storage), await stand({ ...READER, sessionId: "t" })]).toEqual([
      7, 5, 5,
    ]);
    await readers.advance(READER, 9, BY);
    expect(await stand(ofOne)).toBe(9);
  });

  test("what a reader has seen in one session does not advance a new reader in others", async () => {
    await using opened = await open();
    const { readers } = opened.storage;
    await readers.advance(READER, 5, BY);
    await readers.advance({ ...READER, sessionId: "s" }, 7, BY);
    const stand = (sessionId?: string) =>
      readers.standing({ owner: "operator", consumer: "new", sessionId }, undefined, FIRST);
    expect(await stand()).toEqual({ position: 5, isKnown: false, furthest: 5 });
    expect(await stand("s")).toEqual({ position: 5, isKnown: false, furthest: 7 });
    expect(await stand("t")).toEqual({ position: 5, isKnown: false, furthest: 5 });
  });

  test("a new reader begins with turns that no reader of its owner has seen, and with recently ended ones", async () => {
    await using opened = await open();
    const { storage } = opened;
    const ends: number[] = [];
    for (const at of [10, 20, 30]) {
      const { turn } = await storedTurn(storage);
      await storage.turns.endIfRunning(turn, END, at);
      ends.push(await storage.changes.newestId());
    }
    const [first = 0, second = 0, third = 0] = ends;
    const begins = async (since: number, limit = 10) => {
      const given = { endedSince: since, limit };
      return storage.readers.standing({ owner: "operator", consumer: "new" }, undefined, given);
    };
    expect(await begins(0)).toEqual({ position: 0, isKnown: false, furthest: 0 });
    await storage.readers.advance(READER, second, BY);
    expect(await begins(40)).toEqual({ position: second, isKnown: false, furthest: second });
    expect((await begins(20)).position).toBe(second - 1);
    expect((await begins(0)).position).toBe(first - 1);
    expect((await begins(0, 1)).position).toBe(second - 1);
    await storage.readers.advance(READER, third, BY);
    const stranger = { owner: "token:1", consumer: "" };
    expect(await storage.readers.standing(stranger, "token:1", FIRST)).toMatchObject({ position: 0, furthest: 0 });
  });

  test("an owner keeps its most recently used readers, and other owners keep theirs", async () => {
    await using opened = await open();
    const { readers } = opened.storage;
    const other = { owner: "token:1", consumer: "" };
    await readers.advance(other, 1, { ...BY, now: 0 });
    for (const number of [1, 2, 3, 4])
      await readers.advance({ ...READER, consumer: `${number}` }, number, { ...BY, most: 3, now: number });
    const isKnown = async (consumer: string) =>
      (await readers.standing({ ...READER, consumer }, undefined, FIRST)).isKnown;
    expect(await Promise.all(["1", "2", "3", "4"].map(isKnown))).toEqual([false, true, true, true]);
    expect((await readers.standing(other, "token:1", FIRST)).isKnown).toBe(true);
    expect(await readers.removeUnusedSince(4, 2)).toBe(2);
    expect(await readers.removeUnusedSince(4, 2)).toBe(1);
    expect(await readers.removeUnusedSince(4, 2)).toBe(0);
    expect(await isKnown("4")).toBe(true);
  });

  test("revoking a token leaves no reader of it, even if one is advanced at the same time", async () => {
    await using opened = await open();
    const { storage } = opened;
    await repeated(async (round) => {
      const [id, owner] = [`t-${round}`, `token:t-${round}`];
      await storage.tokens.createIfNameFree(newToken({ id, name: id }));
      const reader = { owner, consumer: "" };
      await raced<unknown>(opened, [
        (connection) => connection.readers.advance(reader, 5, { ...BY, ownerToken: id }),
        (connection) => connection.tokens.revoke(id, owner, NOW),
      ]);
      expect(await storage.readers.standing(reader, owner, FIRST)).toMatchObject({ isKnown: false });
    });
  });

  test("ended turns are found by owner and session, without those that the reader has seen in their session", async () => {
    await using opened = await open();
    const { storage } = opened;
    const [mine, theirs] = [await storedTurn(storage), await storedTurn(storage, { owner: "token:1" })];
    for (const { turn } of [mine, theirs]) await storage.turns.endIfRunning(turn, END, NOW);
    const found = async (scope: object, query: object = {}) =>
      (await storage.changes.ended(scope, { since: 0, limit: 9, ...query })).map(({ turn }) => turn.id);
    expect(await found({})).toEqual([mine.turn.id, theirs.turn.id]);
    expect(await found({ owner: "token:1" })).toEqual([theirs.turn.id]);
    expect(await found({ sessionId: mine.session.id })).toEqual([mine.turn.id]);
    expect(await found({}, { limit: 1 })).toEqual([mine.turn.id]);
    const told = { ...READER, sessionId: mine.session.id };
    await storage.readers.advance(told, await storage.changes.newestId(), BY);
    expect(await found({}, { reader: READER })).toEqual([theirs.turn.id]);
    expect(await found({}, { reader: { ...READER, consumer: "other" } })).toEqual([mine.turn.id, theirs.turn.id]);
  });

  test("an ongoing turn is listed with its session's name, its child's last output, and whether it asks", async () => {
    await using opened = await open();
    const { storage } = opened;
    const { session, turn } = await storedTurn(storage, { name: "worker" });
    const stands = async () => (await storage.changes.awaited({}, QUERY)).ongoing[0];
    const about = { id: turn.id, sessionId: session.id, owner: "operator", name: "worker", status: "running" };
    expect(await stands()).toMatchObject({ ...about, spokeAt: turn.startedAt, isAsking: false });
    const events = [{ type: "content", text: "x" }] as const;
    const output = { events: [...events], blocks: [], checkpoint: {}, mustAsk: true };
    await storage.turns.appendIfRunning(turn, output, 5_000);
    await storage.turns.appendIfRunning(turn, { ...output, events: [] }, 6_000);
    expect(await stands()).toMatchObject({ spokeAt: 5_000 });
    const { id } = await filed(storage, { sessionId: session.id, isInTurn: true, createdAt: 7_000 });
    expect(await stands()).toMatchObject({ spokeAt: 7_000, isAsking: true });
    const awaited = async (skip: string[]) => storage.changes.awaited({}, { ...QUERY, skip });
    expect(await awaited([])).toMatchObject({ pending: { rows: [{ id }] }, mayAsk: true });
    expect(await awaited([id])).toMatchObject({ pending: { rows: [], hasMore: false }, mayAsk: true });
    await storage.approvals.settleIfPending(id, outcome({ resolvedAt: 8_000 }), undefined);
    expect(await stands()).toMatchObject({ spokeAt: 8_000, isAsking: false });
    await storage.turns.endIfRunning(turn, END, 9_000);
    expect(await awaited([])).toMatchObject({ ongoing: [], mayAsk: false, ended: [{ turn: { endedAt: 9_000 } }] });
  });

  test("a claude started by hand may ask once it was configured or made a request, whoever decides", async () => {
    await using opened = await open();
    const { storage } = opened;
    const session = await storedSession(storage, { kind: "by_hand", seenAt: 1_000 });
    const mayAsk = async (seenSince: number) =>
      (await storage.changes.awaited({ sessionId: session.id }, { ...QUERY, seenSince })).mayAsk;
    expect([await mayAsk(999), await mayAsk(1_000)]).toEqual([true, false]);
    await storage.sessions.noteSeen(session.id, 10_000);
    expect([await mayAsk(9_999), await mayAsk(10_000)]).toEqual([true, false]);
    const asked = { ...(await filed(storage, { sessionId: session.id, createdAt: 20_000, expiresAt: 20_001 })) };
    await storage.approvals.expireDue(20_001, 9);
    expect([await mayAsk(19_999), await mayAsk(20_000)]).toEqual([true, false]);
    const again = { ...asked, id: storage.newId(), createdAt: 30_000 };
    await storage.approvals.fileDecided(again, builtinOutcome(), UNRULED);
    expect([await mayAsk(29_999), await mayAsk(30_000)]).toEqual([true, false]);
    const managed = await storedSession(storage);
    await storage.sessions.noteSeen(managed.id, 40_000);
    expect((await storage.sessions.get(managed.id))?.seenAt).toBeNull();
  });

  test("a turn counts the outcomes of its requests, however many end at once", async () => {
    await using opened = await open();
    const { storage } = opened;
    const { session, turn } = await storedTurn(storage);
    const ask = () => filed(storage, { sessionId: session.id, isInTurn: true });
    const asked = await Promise.all(Array.from({ length: 9 }, ask));
    const by = { responseMessage: null, updatedInput: null, interrupt: false, resolvedAt: NOW, resolvedBy: "x" };
    await raced<unknown>(
      opened,
      asked.flatMap(({ id }, index) =>
        // Two callers decide each request: one decision counts.
        [0, 1].map(() => (connection: OpenedStorage) => {
          const status = index < 4 ? "allowed" : index < 6 ? "denied" : "abandoned";
          return connection.approvals.settleIfPending(id, { ...by, status }, undefined);
        }),
      ),
    );
    const counts = { allowed: 4, denied: 2, abandoned: 3, timedOut: 0, builtin: 0 };
    expect(await storage.turns.get(turn.id)).toMatchObject(counts);
  });
}
