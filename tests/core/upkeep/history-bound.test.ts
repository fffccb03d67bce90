import { Database } from "bun:sqlite";
import { describe, expect, test } from "bun:test";
import { statSync } from "node:fs";
import { join } from "node:path";
import { newApproval } from "../../storage/rows.ts";
import { allow, OPERATOR, stoppedClock, temporaryCore } from "../open-core.ts";
import { storeDecided, storeEnded, storeRunning, storeSession } from "./history.ts";

const DAY_MS = 86_400_000;
const MEGABYTE = 1024 * 1024;
const clock = stoppedClock();
const daysAgo = (days: number) => clock.now() - days * DAY_MS;

describe("history older than the retention time", () => {
  test("is removed: ended turns with their events and read positions, and nothing of a running turn", async () => {
    await using core = await temporaryCore({ clock, retentionDays: 30 });
    const { direct, dataDir } = core;
    const [idle, busy] = [await storeSession(direct, "idle"), await storeSession(direct, "busy")];
    const old = await storeEnded(direct, { sessionId: idle, at: daysAgo(31) });
    const young = await storeEnded(direct, { sessionId: idle, at: daysAgo(29) });
    const running = await storeRunning(direct, { sessionId: busy, at: daysAgo(60) });
    const asked = await storeDecided(direct, { sessionId: busy, at: daysAgo(50) });
    await core.retention.sweep();
    expect([old, young, running].map((id) => direct.turns.get(id)?.eventCount)).toEqual([undefined, 3, 3]);
    expect(direct.approvals.get(asked)?.status).toBe("allowed");
    expect(countOf(dataDir, "turn_events")).toBe(6);
    expect(countOf(dataDir, "read_positions")).toBe(2);
  });

  test("is removed in steps: a long turn shrinks without a gap, and decisions are committed in between", async () => {
    await using core = await temporaryCore({ clock, retentionDays: 30 });
    const { direct } = core;
    const sessionId = await storeSession(direct, "long");
    const turn = await storeEnded(direct, { sessionId, at: daysAgo(31), events: 5_000 });
    using ask = await core.ask(await core.session());
    const sweeping = core.retention.sweep();
    const lengths: number[] = [];
    for (let left = direct.turns.get(turn); left; left = direct.turns.get(turn)) {
      const events = direct.turns.events(turn, 0, 10_000);
      expect(events.map(({ seq }) => seq)).toEqual(Array.from({ length: left.eventCount }, (_, seq) => seq));
      lengths.push(left.eventCount);
      if (lengths.length === 3) await core.approvals.decide(OPERATOR, ask.approvalId, allow);
      await new Promise(setImmediate);
    }
    await sweeping;
    expect(new Set(lengths).size).toBeGreaterThan(5);
    expect((await core.approvals.get(OPERATOR, ask.approvalId)).status).toBe("allowed");
  });

  test("is removed in smaller steps if the rows are large", async () => {
    await using core = await temporaryCore({ clock });
    const { direct } = core;
    for (let count = 0; count < 9; count++) await storeDecided(direct, { sessionId: "s", at: 1, chars: MEGABYTE });
    expect(direct.write(() => direct.approvals.removeUnchainedBefore(2, 500))).toBeLessThan(4);
    const sessionId = await storeSession(direct, "large");
    await storeEnded(direct, { sessionId, at: 1, events: 9, chars: MEGABYTE });
    expect(direct.write(() => direct.turns.removeEndedBefore(2, 500))).toBeLessThan(4);
  });

  test("includes the conversation of a session whose deletion was interrupted", async () => {
    await using core = await temporaryCore({ clock });
    const { direct, dataDir } = core;
    await storeSession(direct, "kept", 2);
    const gone = await storeSession(direct, "gone", 1_200);
    direct.write(() => direct.sessions.remove(gone));
    await core.retention.sweep();
    expect(countOf(dataDir, "nodes")).toBe(2);
  });
});

describe("a database above its bound", () => {
  test("loses its turns first, then the oldest of the rest, until it is well below the bound, and shrinks its file", async () => {
    await using core = await temporaryCore({ clock, maxHistoryBytes: 4 * MEGABYTE });
    const { direct, dataDir } = core;
    // Tables that are empty take room too, and are no history.
    const empty = direct.space.usedBytes();
    const sessionId = await storeSession(direct, "busy");
    const turns: string[] = [];
    const approvals: string[] = [];
    for (let day = 20; day > 0; day--) {
      turns.push(await storeEnded(direct, { sessionId, at: daysAgo(day), events: 50, chars: 5_000 }));
      approvals.push(await storeDecided(direct, { sessionId, at: daysAgo(day), chars: 250_000 }));
    }
    expect(direct.space.usedBytes()).toBeGreaterThan(9 * MEGABYTE);
    await core.retention.sweep();
    expect(direct.space.usedBytes() - empty).toBeWithin(3 * MEGABYTE, 4 * MEGABYTE);
    expect(turns.filter((id) => direct.turns.get(id))).toEqual([]);
    const isWhole = approvals.map((id) => JSON.stringify(direct.approvals.get(id)?.input ?? "").length > 250_000);
    expect(isWhole.at(-1)).toBe(true);
    expect(isWhole).toEqual(isWhole.toSorted());
    expect(isWhole.filter(Boolean).length).toBeWithin(12, 16);
    direct.write(() => direct.changes.append(anyChange(clock.now())));
    checkpoint(dataDir);
    expect(statSync(join(dataDir, "plexus.db")).size - empty).toBeLessThan(4 * MEGABYTE);
  });

  test("loses the oldest turns first, each completely", async () => {
    await using core = await temporaryCore({ clock, maxHistoryBytes: 4 * MEGABYTE });
    const { direct } = core;
    const sessionId = await storeSession(direct, "busy");
    const turns: string[] = [];
    for (let day = 20; day > 0; day--) {
      turns.push(await storeEnded(direct, { sessionId, at: daysAgo(day), events: 1_000, chars: 200 }));
    }
    await core.retention.sweep();
    const lengths = turns.map((id) => direct.turns.get(id)?.eventCount ?? 0);
    expect(lengths).toEqual(lengths.toSorted((a, b) => a - b));
    expect(new Set(lengths)).toEqual(new Set([0, 1_000]));
    expect(direct.space.usedBytes()).toBeWithin(3 * MEGABYTE, 4 * MEGABYTE);
  });

  test("loses no more decisions of built-in rules than necessary", async () => {
    const builtinRule = () => "read";
    await using core = await temporaryCore({ clock, maxHistoryBytes: 4 * MEGABYTE, builtinRule });
    const session = await core.session();
    for (let count = 0; count < 60; count++) {
      await core.ask(session, { tool: "Read", input: { file_path: "x".repeat(100_000) } });
    }
    clock.advance(DAY_MS);
    await core.retention.sweep();
    expect(countOf(core.dataDir, "loopback_approvals")).toBeWithin(15, 37);
  });

  test("keeps running turns, pending and recent approvals, and conversations, whatever their size", async () => {
    await using core = await temporaryCore({ clock, maxHistoryBytes: 1, retentionDays: 0 });
    const { direct, dataDir } = core;
    const [idle, busy] = [await storeSession(direct, "idle", 5), await storeSession(direct, "busy")];
    const running = await storeRunning(direct, { sessionId: busy, at: daysAgo(9) });
    const answered = await storeDecided(direct, { sessionId: busy, at: daysAgo(9) });
    const recent = await storeEnded(direct, { sessionId: idle, at: clock.now() - 60_000 });
    const old = await storeEnded(direct, { sessionId: idle, at: clock.now() - 3_600_000 });
    direct.write(() => direct.approvals.create(newApproval({ id: "pending", createdAt: 0 })));
    await core.retention.sweep();
    expect([running, recent, old].map((id) => direct.turns.get(id)?.eventCount)).toEqual([3, 3, undefined]);
    expect(direct.approvals.get(answered)).toBeDefined();
    expect(direct.approvals.get("pending")).toBeDefined();
    expect(countOf(dataDir, "nodes")).toBe(6);
  });
});

test("a session is deleted with all its turns and its conversation, whatever their size", async () => {
  await using core = await temporaryCore({ clock });
  const { direct, dataDir } = core;
  const id = await storeSession(direct, "large", 3_000);
  for (let turn = 0; turn < 3; turn++) await storeEnded(direct, { sessionId: id, at: 1, events: 2_000 });
  const session = await core.sessions.require(OPERATOR, id);
  expect(await core.sessions.removeIfIdle({ kind: "operator" }, session)).toBe(true);
  expect(["sessions", "turns", "turn_events", "nodes"].map((table) => countOf(dataDir, table))).toEqual([0, 0, 0, 0]);
});

test("the write-ahead log shrinks again after a large write", async () => {
  await using core = await temporaryCore({ clock });
  const { direct, dataDir } = core;
  const log = () => statSync(join(dataDir, "plexus.db-wal")).size / MEGABYTE;
  await storeDecided(direct, { sessionId: "s", at: 1, chars: 40 * MEGABYTE });
  expect(log()).toBeGreaterThan(40);
  await storeDecided(direct, { sessionId: "s", at: 1, chars: 10 });
  await storeDecided(direct, { sessionId: "s", at: 1, chars: 10 });
  expect(log()).toBeLessThan(20);
});

function countOf(dataDir: string, table: string): number {
  using db = new Database(join(dataDir, "plexus.db"), { readonly: true });
  return db.query<{ count: number }, []>(`SELECT count(*) AS count FROM ${table}`).get()?.count ?? -1;
}

function checkpoint(dataDir: string): void {
  using db = new Database(join(dataDir, "plexus.db"));
  db.query("PRAGMA wal_checkpoint(TRUNCATE)").all();
}

function anyChange(at: number) {
  return { kind: "approval_requested", owner: "operator", sessionId: "s", subjectId: "a", at } as const;
}
