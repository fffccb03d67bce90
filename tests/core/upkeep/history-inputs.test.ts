import { Database } from "bun:sqlite";
import { describe, expect, test } from "bun:test";
import { join } from "node:path";
import { createAudit } from "../../../src/core/audit/audit.ts";
import { createHistoryBound, type RemoveSome } from "../../../src/core/upkeep/history-bound.ts";
import type { Storage } from "../../../src/storage/sqlite/database.ts";
import { allow, type Clock, type Domain, OPERATOR, stoppedClock, temporaryDomain } from "../open-core.ts";
import { storeDecided, storeEnded, storeSession } from "./history.ts";

const MEGABYTE = 1024 * 1024;
const BOUND = 4 * MEGABYTE;
const LARGE = "x".repeat(MEGABYTE);
const DECIDED_MS = 60_000;

describe("large inputs that can be cut out of decisions", () => {
  test("go before any decision does, the oldest first, and no further than to the bound", async () => {
    const clock = stoppedClock();
    await using domain = await temporaryDomain({ clock });
    using cutter = openCutter(domain.dataDir);
    const small = await decide(domain, clock, 20, "true");
    const large = await decide(domain, clock, 8, LARGE);
    await bounded(domain.storage, clock, cutter.cutInputs).removeExcess();
    const sizes = [...small, ...large].map((id) => JSON.stringify(domain.storage.approvals.get(id)?.input).length);
    expect(sizes.slice(0, 20)).toEqual(Array(20).fill('{"command":"true"}'.length));
    expect(sizes.slice(20).map((size) => size > MEGABYTE)).toEqual([...Array(5).fill(false), ...Array(3).fill(true)]);
    expect((await domain.auditCheck.verify()).chains[0]?.forgotten_through).toBe(-1);
  });

  test("go after the turns of their owner, and before those of an owner that holds less", async () => {
    const clock = stoppedClock();
    await using domain = await temporaryDomain({ clock });
    const { storage } = domain;
    using cutter = openCutter(domain.dataDir);
    const sessionId = await storeSession(storage, "busy");
    const turn = { sessionId, at: clock.now(), events: 1 };
    const own = await storeEnded(storage, { ...turn, chars: MEGABYTE });
    const other = await storeEnded(storage, { ...turn, chars: MEGABYTE, owner: "token:other" });
    await decide(domain, clock, 8, LARGE);
    await bounded(storage, clock, cutter.cutInputs).removeExcess();
    expect([own, other].map((id) => storage.turns.get(id)?.eventCount)).toEqual([undefined, 1]);
    expect(new Set(cutter.owners)).toEqual(new Set(["operator"]));
  });

  test("count with the turns of their owner, and stay while there are turns to remove", async () => {
    const clock = stoppedClock();
    await using domain = await temporaryDomain({ clock });
    const { storage } = domain;
    using cutter = openCutter(domain.dataDir);
    const turn = { sessionId: await storeSession(storage, "busy"), events: 1 };
    const other = await storeEnded(storage, { ...turn, at: 1, chars: 1.5 * MEGABYTE, owner: "token:other" });
    const own = [];
    for (const at of [2, 3]) own.push(await storeEnded(storage, { ...turn, at, chars: MEGABYTE }));
    await decide(domain, clock, 1, LARGE);
    await bounded(storage, clock, cutter.cutInputs).removeExcess();
    expect([other, ...own].map((id) => storage.turns.get(id)?.eventCount)).toEqual([1, undefined, 1]);
    expect(cutter.owners).toEqual([]);
  });

  test("push out nothing else when they can't be cut", async () => {
    const clock = stoppedClock();
    await using domain = await temporaryDomain({ clock });
    const { storage } = domain;
    const turn = { sessionId: await storeSession(storage, "busy"), owner: "token:other", events: 1, chars: MEGABYTE };
    const turns = [];
    for (const at of [1, 2, 3]) turns.push(await storeEnded(storage, { ...turn, at }));
    const ids = await decide(domain, clock, 8, LARGE);
    const bound = bounded(storage, clock, () => 0);
    await bound.removeExcess();
    expect(ids.filter((id) => !storage.approvals.head(id))).toEqual([]);
    expect(turns.filter((id) => !storage.turns.get(id))).toEqual([]);
    for (const at of [4, 5, 6]) turns.push(await storeEnded(storage, { ...turn, at }));
    await bound.removeExcess();
    expect(turns.map((id) => storage.turns.get(id)?.eventCount)).toEqual([...Array(3), 1, 1, 1]);
  });

  test("are forgotten with their decisions when these are older than the hash chain", async () => {
    const clock = stoppedClock();
    await using domain = await temporaryDomain({ clock });
    const { storage } = domain;
    const old = [];
    for (const at of [1, 2, 3, 4, 5, 6]) {
      old.push(await storeDecided(storage, { sessionId: "s", at: at * 3_600_000, chars: MEGABYTE }));
    }
    const chained = await decide(domain, clock, 2, LARGE);
    await bounded(storage, clock, () => 0).removeExcess();
    expect(old.map((id) => storage.approvals.head(id) !== undefined)).toEqual([false, false, false, true, true, true]);
    expect(chained.filter((id) => !storage.approvals.head(id))).toEqual([]);
  });
});

/** Cuts inputs as the audit does, on a connection of its own, and notes whose. */
function openCutter(dataDir: string) {
  const sqlite = new Database(join(dataDir, "plexus.db"));
  const owners: string[] = [];
  return {
    owners,
    cutInputs(owner: string, before: number, limit: number): number {
      owners.push(owner);
      const large = `SELECT id FROM loopback_approvals WHERE status <> 'pending' AND owner = ? AND resolved_at < ?
        AND octet_length(input) > 4096 ORDER BY resolved_at LIMIT ?`;
      return sqlite.query(`UPDATE loopback_approvals SET input = '{}' WHERE id IN (${large})`).run(owner, before, limit)
        .changes;
    },
    [Symbol.dispose]: () => sqlite.close(true),
  };
}

function bounded(storage: Storage, clock: Clock, cutInputs: (owner: string, before: number, limit: number) => number) {
  const onError = () => {};
  const need = { storage, now: clock.now, onError };
  return createHistoryBound({
    storage,
    audit: { ...createAudit(need), cutInputs },
    maxBytes: BOUND,
    recent: clock.now,
    // Outside of a transaction, in which no other connection could write.
    removeAll: async (remove: RemoveSome, before: number) => {
      let removed = 0;
      for (let some = 1; some > 0; removed += some) some = remove(before, 500);
      return removed;
    },
    isStopped: () => false,
    onError,
  });
}

async function decide(
  domain: Pick<Domain, "session" | "ask" | "approvals">,
  clock: Clock,
  count: number,
  command: string,
): Promise<string[]> {
  const session = await domain.session("own");
  const ids: string[] = [];
  for (let number = 0; number < count; number++) {
    using asked = await domain.ask(session, { input: { command } });
    await domain.approvals.decide(OPERATOR, asked.approvalId, allow);
    ids.push(asked.approvalId);
    clock.advance(DECIDED_MS);
  }
  return ids;
}
