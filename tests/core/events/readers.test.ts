import { describe, expect, test } from "bun:test";
import type { ReaderName } from "../../../src/core/events/readers.ts";
import { newToken } from "../../storage/rows.ts";
import { until } from "../../support/until.ts";
import { OPERATOR, openCore, stoppedClock, type TemporaryCore, temporaryCore } from "../open-core.ts";
import { begunTurn, endedTurn, endTurn, turnIds, waiting } from "./ended-turns.ts";

const CI = { kind: "token", id: "1", name: "ci" } as const;
const HOUR_MS = 3_600_000;
const ANOTHER: ReaderName = { client: "another" };

/** The ends that this reader gets at once. */
async function told(core: Pick<TemporaryCore, "eventFeed">, reader: ReaderName = {}, given: object = {}) {
  return turnIds(await core.eventFeed.wait(OPERATOR, { ...waiting, timeoutMs: 0, reader, ...given }));
}

describe("readers of one principal", () => {
  test("each get every end, whichever reads first", async () => {
    await using core = await temporaryCore();
    const readers: ReaderName[] = [{}, { client: "1" }, { client: "2" }, { consumer: "1" }, { consumer: "2" }];
    const { turn } = await begunTurn(core.storage);
    const waits = readers.map((reader) => core.eventFeed.wait(OPERATOR, { ...waiting, reader }));
    await endTurn(core.storage, turn);
    expect((await Promise.all(waits)).map(turnIds)).toEqual(readers.map(() => [turn.id]));
    expect(await Promise.all(readers.map((reader) => told(core, reader)))).toEqual(readers.map(() => []));
  });

  test("continue at their position after a restart", async () => {
    await using core = await temporaryCore();
    const reader = { client: "1" };
    const first = await endedTurn(core.storage);
    expect(await told(core, reader)).toEqual([first.id]);
    const second = await endedTurn(core.storage);
    core.storage[Symbol.dispose]();
    using later = await openCore(core.dataDir);
    expect(await told(later, reader)).toEqual([second.id]);
    expect(await told(later, reader)).toEqual([]);
  });

  test("that begin with work of their own get no end that another was told", async () => {
    await using core = await temporaryCore();
    const old = await endedTurn(core.storage);
    expect(await told(core)).toEqual([old.id]);
    const deciding = { client: "decides" };
    const starting = { client: "starts" };
    expect(await told(core, deciding, { beginning: "unread" })).toEqual([]);
    await core.eventFeed.cursor(OPERATOR, starting);
    const own = await endedTurn(core.storage);
    expect(await told(core, deciding)).toEqual([own.id]);
    expect(await told(core, starting)).toEqual([own.id]);
    expect(await told(core, { client: "asks" })).toEqual([old.id, own.id]);
  });

  test("read a lost answer again with an older cursor", async () => {
    await using core = await temporaryCore();
    const { cursor } = await core.eventFeed.wait(OPERATOR, { ...waiting, timeoutMs: 0 });
    const lost = await endedTurn(core.storage);
    expect(await told(core)).toEqual([lost.id]);
    expect(await told(core)).toEqual([]);
    expect(await told(core, {}, { since: cursor })).toEqual([lost.id]);
    expect(await told(core)).toEqual([]);
  });

  test("get the same ends from a wait that is repeated with its own start as since", async () => {
    await using core = await temporaryCore();
    const { turn } = await begunTurn(core.storage);
    const begun: number[] = [];
    const wait = core.eventFeed.wait(OPERATOR, { ...waiting, onBegun: (since) => begun.push(since) });
    await until("the wait", () => begun.length > 0);
    await endTurn(core.storage, turn);
    expect(turnIds(await wait)).toEqual([turn.id]);
    expect(begun).toHaveLength(1);
    expect(await told(core, {}, { since: begun[0] })).toEqual([turn.id]);
  });

  test("still get every end with a cursor of another database", async () => {
    await using core = await temporaryCore();
    expect(await told(core, {}, { since: 1_000_000 })).toEqual([]);
    const known = await endedTurn(core.storage);
    expect(await told(core, {}, { since: 1_000_000 })).toEqual([known.id]);
    expect(await told(core, ANOTHER, { since: 1_000_000 })).toEqual([known.id]);
  });

  test("get every end at their first call if no reader was told before", async () => {
    await using core = await temporaryCore();
    const old = await endedTurn(core.storage, { at: 1_000 });
    expect(await told(core, { client: "new" })).toEqual([old.id]);
  });

  test("get at their first call all ends told to nobody, and those of the last hour told to another", async () => {
    const clock = stoppedClock();
    await using core = await temporaryCore({ clock });
    const end = () => endedTurn(core.storage, { at: clock.now() });
    const [old] = [await end(), clock.advance(HOUR_MS + 1)];
    const recent = await end();
    expect(await told(core, { client: "first" })).toEqual([old.id, recent.id]);
    expect(await told(core, { client: "second" })).toEqual([recent.id]);
    const untold = await end();
    clock.advance(30 * HOUR_MS);
    expect(await told(core, { client: "third" })).toEqual([untold.id]);
  });

  test("get at their first call an end that another was not told, although that one was told of another session", async () => {
    const clock = stoppedClock();
    await using core = await temporaryCore({ clock });
    const [forgotten, watched] = [await endedTurn(core.storage), await endedTurn(core.storage)];
    const chatted = await endedTurn(core.storage);
    clock.advance(2 * HOUR_MS);
    const ofWatched = { sessionId: watched.sessionId };
    expect(await told(core, { client: "first" }, ofWatched)).toEqual([watched.id]);
    await core.eventFeed.cursor(OPERATOR, { client: "first" }, [chatted.id]);
    expect(await told(core, ANOTHER)).toContain(forgotten.id);
    expect(await told(core, { client: "first" })).toEqual([forgotten.id]);
  });

  test("accept a cursor of one session for that session alone", async () => {
    await using core = await temporaryCore();
    const [other, mine] = [await endedTurn(core.storage), await endedTurn(core.storage)];
    const ofMine = { sessionId: mine.sessionId };
    const { cursor } = await core.eventFeed.wait(OPERATOR, { ...waiting, ...ofMine, reader: { client: "old" } });
    expect(await told(core, ANOTHER, { ...ofMine, since: cursor })).toEqual([]);
    expect(await told(core, { client: "third" }, { since: cursor })).toContain(other.id);
  });

  test("get at most the fifty newest ends that another was told within the hour", async () => {
    await using core = await temporaryCore();
    const ids: string[] = [];
    for (let number = 0; number < 60; number++) ids.push((await endedTurn(core.storage, { text: "" })).id);
    for (let isMore = true; isMore; ) isMore = (await told(core)).length > 0;
    const seen: string[] = [];
    for (let some = await told(core, ANOTHER); some.length > 0; some = await told(core, ANOTHER)) seen.push(...some);
    expect(seen).toEqual(ids.slice(-50));
  });

  test("accept the cursor of another reader of the same principal", async () => {
    await using core = await temporaryCore();
    await endedTurn(core.storage);
    const { cursor } = await core.eventFeed.wait(OPERATOR, { ...waiting, timeoutMs: 0, reader: { client: "old" } });
    const next = await endedTurn(core.storage);
    expect(await told(core, { client: "new" }, { since: cursor })).toEqual([next.id]);
  });

  test("of one session lose no end of another session, and get none twice", async () => {
    await using core = await temporaryCore();
    const other = await endedTurn(core.storage);
    const mine = await endedTurn(core.storage);
    const ofMine = { sessionId: mine.sessionId };
    const waited = await core.eventFeed.wait(OPERATOR, { ...waiting, ...ofMine });
    expect(turnIds(waited)).toEqual([mine.id]);
    expect(await told(core, {}, ofMine)).toEqual([]);
    expect(await told(core, {}, { since: waited.cursor })).toEqual([other.id]);
    expect(await told(core)).toEqual([]);
    const later = await endedTurn(core.storage, { sessionId: mine.sessionId });
    expect(await told(core)).toEqual([later.id]);
    expect(await told(core, {}, ofMine)).toEqual([]);
  });

  test("are removed when their token is revoked, also during a wait", async () => {
    await using core = await temporaryCore();
    const { tokens } = core.storage;
    await tokens.createIfNameFree(newToken({ id: CI.id, name: CI.name }));
    const { turn } = await begunTurn(core.storage, { owner: CI });
    const wait = core.eventFeed.wait(CI, waiting);
    expect(await core.eventFeed.cursor(CI, {})).toBe(0);
    await tokens.revoke(CI.id, "token:1", 2_000);
    await endTurn(core.storage, turn);
    expect(turnIds(await wait)).toEqual([turn.id]);
    await core.eventFeed.cursor(CI, { client: "late" });
    expect(core.direct.sqlite.query("SELECT owner FROM readers WHERE owner <> ''").all()).toEqual([]);
  });
});

describe("eventFeed.cursor", () => {
  test("stays at the last end told, so that no end in between is lost", async () => {
    await using core = await temporaryCore();
    const before = await core.eventFeed.cursor(OPERATOR, ANOTHER);
    const ended = await endedTurn(core.storage);
    expect(await core.eventFeed.cursor(OPERATOR, ANOTHER)).toBe(before);
    expect(await told(core, ANOTHER, { since: before })).toEqual([ended.id]);
  });

  test("keeps the ends after a reader's first call for it, even if another was told long before", async () => {
    const clock = stoppedClock();
    await using core = await temporaryCore({ clock });
    await core.eventFeed.cursor(OPERATOR, ANOTHER);
    const ended = await endedTurn(core.storage, { at: clock.now() });
    expect(await told(core)).toEqual([ended.id]);
    clock.advance(30 * HOUR_MS);
    expect(await told(core, ANOTHER)).toEqual([ended.id]);
  });

  test("moves past the ends in an answer, so that no wait repeats them", async () => {
    await using core = await temporaryCore();
    const [one, two] = [await endedTurn(core.storage), await endedTurn(core.storage)];
    await core.eventFeed.cursor(OPERATOR, {}, [one.id]);
    expect(await told(core)).toEqual([two.id]);
  });

  test("passes no end that was not told, and repeats none that was", async () => {
    await using core = await temporaryCore();
    const untold = await endedTurn(core.storage);
    const one = await endedTurn(core.storage);
    const before = await core.eventFeed.cursor(OPERATOR, {});
    expect(await core.eventFeed.cursor(OPERATOR, {}, [one.id])).toBe(before);
    const two = await endedTurn(core.storage);
    expect(await told(core)).toEqual([untold.id, two.id]);
  });

  test("does not take a later turn of a session for an earlier one that was not told", async () => {
    await using core = await temporaryCore();
    const other = await endedTurn(core.storage);
    const earlier = await endedTurn(core.storage);
    const later = await endedTurn(core.storage, { sessionId: earlier.sessionId });
    await core.eventFeed.cursor(OPERATOR, {}, [later.id]);
    expect(await told(core)).toEqual([other.id, earlier.id, later.id]);
  });

  test("is not moved by a turn that has not ended", async () => {
    await using core = await temporaryCore();
    const { turn } = await begunTurn(core.storage);
    const before = await core.eventFeed.cursor(OPERATOR, {}, [turn.id]);
    await endTurn(core.storage, turn);
    expect(await told(core, {}, { since: before })).toEqual([turn.id]);
  });
});
