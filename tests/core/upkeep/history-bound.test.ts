import { Database } from "bun:sqlite";
import { describe, expect, test } from "bun:test";
import { statSync } from "node:fs";
import { join } from "node:path";
import { newApproval } from "../../storage/rows.ts";
import { allow, OPERATOR, stoppedClock, temporaryDomain } from "../open-core.ts";
import { storeDecided, storeEnded, storeRunning, storeSession } from "./history.ts";

const DAY_MS = 86_400_000;
const MEGABYTE = 1024 * 1024;
const clock = stoppedClock();
const daysAgo = (days: number) => clock.now() - days * DAY_MS;

describe("what is older than the retention time", () => {
  test("goes, a turn with its events and read positions, and a running turn with nothing of its own", async () => {
    await using domain = await temporaryDomain({ clock, retentionDays: 30 });
    const { storage, dataDir } = domain;
    const [idle, busy] = [await storeSession(storage, "idle"), await storeSession(storage, "busy")];
    const old = await storeEnded(storage, { sessionId: idle, at: daysAgo(31) });
    const young = await storeEnded(storage, { sessionId: idle, at: daysAgo(29) });
    const running = await storeRunning(storage, { sessionId: busy, at: daysAgo(60) });
    const asked = await storeDecided(storage, { sessionId: busy, at: daysAgo(50) });
    await domain.retention.sweep();
    expect([old, young, running].map((id) => storage.turns.get(id)?.eventCount)).toEqual([undefined, 3, 3]);
    expect(storage.approvals.get(asked)?.status).toBe("allowed");
    expect(countOf(dataDir, "turn_events")).toBe(6);
    expect(countOf(dataDir, "read_positions")).toBe(2);
  });

  test("goes in steps: a long turn is shorter in between, never with a gap, and decisions get their turn", async () => {
    await using domain = await temporaryDomain({ clock, retentionDays: 30 });
    const { storage } = domain;
    const sessionId = await storeSession(storage, "long");
    const turn = await storeEnded(storage, { sessionId, at: daysAgo(31), events: 5_000 });
    using ask = await domain.ask(await domain.session());
    const sweeping = domain.retention.sweep();
    const lengths: number[] = [];
    for (let left = storage.turns.get(turn); left; left = storage.turns.get(turn)) {
      const events = storage.turns.events(turn, 0, 10_000);
      expect(events.map(({ seq }) => seq)).toEqual(Array.from({ length: left.eventCount }, (_, seq) => seq));
      lengths.push(left.eventCount);
      if (lengths.length === 3) await domain.approvals.decide(OPERATOR, ask.approvalId, allow);
      await new Promise(setImmediate);
    }
    await sweeping;
    expect(new Set(lengths).size).toBeGreaterThan(5);
    expect(domain.approvals.get(OPERATOR, ask.approvalId).status).toBe("allowed");
  });

  test("is removed by its size too: what is large goes a few at a time", async () => {
    await using domain = await temporaryDomain({ clock });
    const { storage } = domain;
    for (let count = 0; count < 9; count++) await storeDecided(storage, { sessionId: "s", at: 1, chars: MEGABYTE });
    expect(await storage.write(() => storage.approvals.removeUnchainedBefore(2, 500))).toBeLessThan(4);
    const sessionId = await storeSession(storage, "large");
    await storeEnded(storage, { sessionId, at: 1, events: 9, chars: MEGABYTE });
    expect(await storage.write(() => storage.turns.removeEndedBefore(2, 500))).toBeLessThan(4);
  });

  test("includes what was said in a session of which the server was killed while it deleted it", async () => {
    await using domain = await temporaryDomain({ clock });
    const { storage, dataDir } = domain;
    await storeSession(storage, "kept", 2);
    const gone = await storeSession(storage, "gone", 1_200);
    await storage.write(() => storage.sessions.remove(gone));
    await domain.retention.sweep();
    expect(countOf(dataDir, "nodes")).toBe(2);
  });
});

describe("a database that is larger than it may be", () => {
  test("loses its turns first, then the oldest of the rest, until it is well below, and gives the space back", async () => {
    await using domain = await temporaryDomain({ clock, maxHistoryBytes: 4 * MEGABYTE });
    const { storage, dataDir } = domain;
    const sessionId = await storeSession(storage, "busy");
    const turns: string[] = [];
    const approvals: string[] = [];
    for (let day = 20; day > 0; day--) {
      turns.push(await storeEnded(storage, { sessionId, at: daysAgo(day), events: 50, chars: 5_000 }));
      approvals.push(await storeDecided(storage, { sessionId, at: daysAgo(day), chars: 250_000 }));
    }
    expect(storage.space.usedBytes()).toBeGreaterThan(9 * MEGABYTE);
    await domain.retention.sweep();
    expect(storage.space.usedBytes()).toBeWithin(3 * MEGABYTE, 4 * MEGABYTE);
    expect(turns.filter((id) => storage.turns.get(id))).toEqual([]);
    const isWhole = approvals.map((id) => JSON.stringify(storage.approvals.get(id)?.input ?? "").length > 250_000);
    expect(isWhole.at(-1)).toBe(true);
    expect(isWhole).toEqual(isWhole.toSorted());
    expect(isWhole.filter(Boolean).length).toBeWithin(12, 16);
    await storage.write(() => storage.changes.append(anyChange(clock.now())));
    checkpoint(dataDir);
    expect(statSync(join(dataDir, "plexus.db")).size).toBeLessThan(4 * MEGABYTE);
  });

  test("loses the oldest turns first, each as a whole", async () => {
    await using domain = await temporaryDomain({ clock, maxHistoryBytes: 4 * MEGABYTE });
    const { storage } = domain;
    const sessionId = await storeSession(storage, "busy");
    const turns: string[] = [];
    for (let day = 20; day > 0; day--) {
      turns.push(await storeEnded(storage, { sessionId, at: daysAgo(day), events: 1_000, chars: 200 }));
    }
    await domain.retention.sweep();
    const lengths = turns.map((id) => storage.turns.get(id)?.eventCount ?? 0);
    expect(lengths).toEqual(lengths.toSorted((a, b) => a - b));
    expect(new Set(lengths)).toEqual(new Set([0, 1_000]));
    expect(storage.space.usedBytes()).toBeWithin(3 * MEGABYTE, 4 * MEGABYTE);
  });

  test("loses no more of what built-in rules decided than it has to", async () => {
    const builtinRule = () => ({ rule: "read" });
    await using domain = await temporaryDomain({ clock, maxHistoryBytes: 4 * MEGABYTE, builtinRule });
    const session = await domain.session();
    for (let count = 0; count < 60; count++) {
      await domain.ask(session, { tool: "Read", input: { file_path: "x".repeat(100_000) } });
    }
    clock.advance(DAY_MS);
    await domain.retention.sweep();
    expect(countOf(domain.dataDir, "loopback_approvals")).toBeWithin(15, 37);
  });

  test("keeps what runs, what is pending, what is recent and what was said, whatever it comes to", async () => {
    await using domain = await temporaryDomain({ clock, maxHistoryBytes: 1, retentionDays: 0 });
    const { storage, dataDir } = domain;
    const [idle, busy] = [await storeSession(storage, "idle", 5), await storeSession(storage, "busy")];
    const running = await storeRunning(storage, { sessionId: busy, at: daysAgo(9) });
    const answered = await storeDecided(storage, { sessionId: busy, at: daysAgo(9) });
    const recent = await storeEnded(storage, { sessionId: idle, at: clock.now() - 60_000 });
    const old = await storeEnded(storage, { sessionId: idle, at: clock.now() - 3_600_000 });
    await storage.write(() => storage.approvals.create(newApproval({ id: "pending", createdAt: 0 })));
    await domain.retention.sweep();
    expect([running, recent, old].map((id) => storage.turns.get(id)?.eventCount)).toEqual([3, 3, undefined]);
    expect(storage.approvals.get(answered)).toBeDefined();
    expect(storage.approvals.get("pending")).toBeDefined();
    expect(countOf(dataDir, "nodes")).toBe(6);
  });
});

test("a session is deleted with all of its turns and all that was said in it, however much that is", async () => {
  await using domain = await temporaryDomain({ clock });
  const { storage, dataDir } = domain;
  const id = await storeSession(storage, "large", 3_000);
  for (let turn = 0; turn < 3; turn++) await storeEnded(storage, { sessionId: id, at: 1, events: 2_000 });
  const session = domain.sessions.require(OPERATOR, id);
  expect(await domain.sessions.removeIfIdle(session)).toBe(true);
  expect(["sessions", "turns", "turn_events", "nodes"].map((table) => countOf(dataDir, table))).toEqual([0, 0, 0, 0]);
});

test("the write-ahead log does not stay as long as it had to become", async () => {
  await using domain = await temporaryDomain({ clock });
  const { storage, dataDir } = domain;
  const log = () => statSync(join(dataDir, "plexus.db-wal")).size / MEGABYTE;
  await storeDecided(storage, { sessionId: "s", at: 1, chars: 40 * MEGABYTE });
  expect(log()).toBeGreaterThan(40);
  await storeDecided(storage, { sessionId: "s", at: 1, chars: 10 });
  await storeDecided(storage, { sessionId: "s", at: 1, chars: 10 });
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
