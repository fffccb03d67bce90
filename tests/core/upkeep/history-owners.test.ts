import { describe, expect, test } from "bun:test";
import type { Principal } from "../../../src/core/access/principals.ts";
import { newApproval, newConfig } from "../../storage/rows.ts";
import {
  allow,
  type Clock,
  type Core,
  OPERATOR,
  stoppedClock,
  type TemporaryCore,
  temporaryCore,
} from "../open-core.ts";
import { storeEnded, storeRunning, storeSession } from "./history.ts";

const MEGABYTE = 1024 * 1024;
const MINUTE_MS = 60_000;
const HOSTILE: Principal = { kind: "token", id: "hostile", name: "hostile" };

describe("the operator's decisions stay on record", () => {
  test("when a token's sessions exceed the bound of the history, which is reported once", async () => {
    const clock = stoppedClock();
    await using core = await temporaryCore({ tokens: [HOSTILE], clock, maxHistoryBytes: 2 * MEGABYTE });
    const decided = await decide(core, clock, 50);
    for (let made = 0; made < 15; made++) {
      const metadata = { filler: "x".repeat(200_000) };
      await core.sessions.createManaged(HOSTILE, `${made}`, newConfig({ metadata }), () => []);
    }
    await core.retention.sweep();
    await core.retention.sweep();
    await expectAllKept(core, decided);
    expect(core.errors.map(String)).toEqual([
      expect.stringMatching(/holds 4 MB, of which only about 1 MB are history.*\(2\)/),
    ]);
  });

  test("when pending requests, running turns and conversations exceed the bound", async () => {
    const clock = stoppedClock();
    await using core = await temporaryCore({ tokens: [HOSTILE], clock, maxHistoryBytes: 2 * MEGABYTE });
    const { direct } = core;
    const decided = await decide(core, clock, 50);
    const sessionId = await storeSession(direct, "hostile", 5_000);
    await storeRunning(direct, { sessionId, at: clock.now(), owner: "token:hostile", events: 20, chars: 100_000 });
    const filler = { command: "x".repeat(2 * MEGABYTE) };
    direct.write(() => direct.approvals.create(newApproval({ input: filler, owner: "token:hostile" })));
    expect(direct.space.usedBytes()).toBeGreaterThan(4 * MEGABYTE);
    await core.retention.sweep();
    await expectAllKept(core, decided);
  });

  test.each([
    ["of the last ten minutes", 0],
    ["however old", 11 * MINUTE_MS],
  ])("when a child's asks, %s, are larger than the history may be", async (_, age) => {
    const clock = stoppedClock();
    await using core = await temporaryCore({ tokens: [HOSTILE], clock, maxHistoryBytes: 2 * MEGABYTE });
    const decided = await decide(core, clock, 50);
    const hostile = await core.session("hostile");
    for (let count = 0; count < 8; count++) {
      using asked = await core.ask(hostile, { input: { command: "x".repeat(MEGABYTE) } });
      await core.approvals.abandon([asked.approvalId], "its child is gone");
    }
    clock.advance(age);
    await core.retention.sweep();
    await expectAllKept(core, decided);
    if (age > 0) expect(core.direct.space.usedBytes()).toBeLessThan(2.2 * MEGABYTE);
  });

  test("and so do the operator's turns, when a token's turns exceed the bound", async () => {
    const clock = stoppedClock();
    await using core = await temporaryCore({ clock, maxHistoryBytes: 4 * MEGABYTE });
    const { direct } = core;
    const sessionId = await storeSession(direct, "busy");
    const turn = { sessionId, events: 10, chars: 100_000 };
    const own = await storeEnded(direct, { ...turn, at: clock.now() });
    const decided = await decide(core, clock, 50);
    const hostile: string[] = [];
    for (let count = 0; count < 8; count++) {
      hostile.push(await storeEnded(direct, { ...turn, at: clock.now(), owner: "token:hostile" }));
      clock.advance(11 * MINUTE_MS);
    }
    await core.retention.sweep();
    await expectAllKept(core, decided);
    expect(direct.turns.get(own)?.eventCount).toBe(10);
    const kept = hostile.map((id) => direct.turns.get(id) !== undefined);
    expect(kept).toEqual([false, false, false, false, false, false, true, true]);
  });
});

describe("of two owners above the bound", () => {
  test("both keep the same amount", async () => {
    const clock = stoppedClock();
    await using core = await temporaryCore({ clock, maxHistoryBytes: 4 * MEGABYTE });
    const { direct } = core;
    const sessionId = await storeSession(direct, "busy");
    const turn = { sessionId, events: 10, chars: 10_000 };
    // The operator's turns are all older: removal by age alone would leave none of them.
    const start = clock.now();
    for (let at = start; at < start + 40; at++) await storeEnded(direct, { ...turn, at });
    for (let at = start + 40; at < start + 120; at++) await storeEnded(direct, { ...turn, at, owner: "token:other" });
    clock.advance(11 * MINUTE_MS);
    await core.retention.sweep();
    const [operator = 0, other = 0] = ["operator", "token:other"].map(
      (owner) => direct.turns.list({ owner }, 100).length,
    );
    expect(Math.abs(operator - other)).toBeLessThanOrEqual(1);
    expect(operator + other).toBeWithin(30, 38);
  });

  test("the one with few bytes loses nothing, however many events it has", async () => {
    const clock = stoppedClock();
    await using core = await temporaryCore({ clock, maxHistoryBytes: 4 * MEGABYTE });
    const { direct } = core;
    const sessionId = await storeSession(direct, "busy");
    const start = clock.now();
    const many = await storeEnded(direct, { sessionId, at: start, events: 5_000, chars: 1 });
    const large = { sessionId, owner: "token:other", events: 2, chars: MEGABYTE };
    for (let at = start + 1; at < start + 5; at++) await storeEnded(direct, { ...large, at });
    clock.advance(11 * MINUTE_MS);
    await core.retention.sweep();
    expect(direct.turns.get(many)?.eventCount).toBe(5_000);
    expect(direct.turns.list({ owner: "token:other" }, 10)).toHaveLength(1);
  });
});

test("decisions are removed, oldest first, only if they alone exceed the bound", async () => {
  const clock = stoppedClock();
  await using core = await temporaryCore({ clock, maxHistoryBytes: MEGABYTE });
  // Every table and index takes a page, even if it is empty.
  const emptyBytes = core.direct.space.usedBytes();
  const sessionId = await storeSession(core.direct, "busy");
  for (let count = 0; count < 10; count++) await decide(core, clock, 100);
  const turn = await storeEnded(core.direct, { sessionId, at: clock.now() - 11 * MINUTE_MS });
  await core.retention.sweep();
  const { approvals } = await core.approvals.list(OPERATOR, { limit: 2_000 });
  expect(approvals.length).toBeWithin(400, 700);
  expect(Math.min(...approvals.map(({ resolved_at }) => resolved_at ?? 0)) * 1000).toBeGreaterThan(
    clock.now() - 8 * 11 * MINUTE_MS,
  );
  expect(core.direct.turns.get(turn)).toBeUndefined();
  expect(core.direct.space.usedBytes() - emptyBytes).toBeLessThan(MEGABYTE);
  expect((await core.auditCheck.verify()).intact).toBe(true);
});

test("a turn's stored size is that of its events, and shrinks with them", async () => {
  await using core = await temporaryCore();
  const { direct } = core;
  const sessionId = await storeSession(direct, "busy");
  const id = await storeEnded(direct, { sessionId, at: 1, events: 600, chars: 50 });
  const bytes = () =>
    direct.turns.events(id, 0, 1_000).reduce((sum, { event }) => sum + JSON.stringify(event).length, 0);
  expect(direct.turns.get(id)?.eventBytes).toBe(bytes());
  direct.write(() => direct.turns.removeEndedBefore(2, 100));
  expect(direct.turns.get(id)).toMatchObject({ eventCount: 500, eventBytes: bytes() });
});

/** Makes `count` decisions of the operator, and lets ten minutes pass. */
async function decide(
  core: Pick<Core, "session" | "ask" | "approvals">,
  clock: Clock,
  count: number,
): Promise<string[]> {
  const ids: string[] = [];
  const session = await core.session("own");
  for (let number = 0; number < count; number++) {
    using asked = await core.ask(session, { input: { command: `make ${number}` } });
    await core.approvals.decide(OPERATOR, asked.approvalId, allow);
    ids.push(asked.approvalId);
  }
  clock.advance(11 * MINUTE_MS);
  return ids;
}

async function expectAllKept({ direct, auditCheck }: Pick<TemporaryCore, "direct" | "auditCheck">, ids: string[]) {
  expect(ids.filter((id) => !direct.approvals.head(id))).toEqual([]);
  expect(await auditCheck.verify()).toMatchObject({ intact: true, chains: [{ forgotten_through: -1 }, {}] });
}
