import { Database } from "bun:sqlite";
import { describe, expect, test } from "bun:test";
import { join } from "node:path";
import { createAuditUpkeep } from "../../../src/core/upkeep/audit-upkeep.ts";
import { createHistoryBound, type RemoveSome } from "../../../src/core/upkeep/history-bound.ts";
import type { Storage } from "../../../src/storage/storage.ts";
import { allow, type Clock, type Core, OPERATOR, stoppedClock, temporaryCore } from "../open-core.ts";
import { storeDecided, storeEnded, storeSession } from "./history.ts";

const MEGABYTE = 1024 * 1024;
const BOUND = 4 * MEGABYTE;
const LARGE = "x".repeat(MEGABYTE);
const DECIDED_MS = 60_000;

describe("large inputs that can be cut out of decisions", () => {
  test("are cut before any decision is removed, oldest first, and only down to the bound", async () => {
    const clock = stoppedClock();
    await using core = await temporaryCore({ clock });
    using cutter = openCutter(core.dataDir);
    const small = await decide(core, clock, 20, "true");
    const large = await decide(core, clock, 8, LARGE);
    await bounded(core.storage, clock, cutter.cutInputs).removeExcess();
    const sizes = [...small, ...large].map((id) => JSON.stringify(core.direct.approvals.get(id)?.input).length);
    expect(sizes.slice(0, 20)).toEqual(Array(20).fill('{"command":"true"}'.length));
    expect(sizes.slice(20).map((size) => size > MEGABYTE)).toEqual([...Array(5).fill(false), ...Array(3).fill(true)]);
    expect((await core.auditCheck.verify()).chains[0]?.forgotten_through).toBe(-1);
  });

  test("are cut after their owner's turns, and before the turns of an owner with less", async () => {
    const clock = stoppedClock();
    await using core = await temporaryCore({ clock });
    const { direct } = core;
    using cutter = openCutter(core.dataDir);
    const sessionId = await storeSession(direct, "busy");
    const turn = { sessionId, at: clock.now(), events: 1 };
    const own = await storeEnded(direct, { ...turn, chars: MEGABYTE });
    const other = await storeEnded(direct, { ...turn, chars: MEGABYTE, owner: "token:other" });
    await decide(core, clock, 8, LARGE);
    await bounded(core.storage, clock, cutter.cutInputs).removeExcess();
    expect([own, other].map((id) => direct.turns.get(id)?.eventCount)).toEqual([undefined, 1]);
    expect(new Set(cutter.owners)).toEqual(new Set(["operator"]));
  });

  test("count as their owner's bytes, and stay while it has turns to remove", async () => {
    const clock = stoppedClock();
    await using core = await temporaryCore({ clock });
    const { direct } = core;
    using cutter = openCutter(core.dataDir);
    const turn = { sessionId: await storeSession(direct, "busy"), events: 1 };
    const other = await storeEnded(direct, { ...turn, at: 1, chars: 1.5 * MEGABYTE, owner: "token:other" });
    const own = [];
    for (const at of [2, 3]) own.push(await storeEnded(direct, { ...turn, at, chars: MEGABYTE }));
    await decide(core, clock, 1, LARGE);
    await bounded(core.storage, clock, cutter.cutInputs).removeExcess();
    expect([other, ...own].map((id) => direct.turns.get(id)?.eventCount)).toEqual([1, undefined, 1]);
    expect(cutter.owners).toEqual([]);
  });

  test("displace nothing else if they can't be cut", async () => {
    const clock = stoppedClock();
    await using core = await temporaryCore({ clock });
    const { direct } = core;
    const turn = { sessionId: await storeSession(direct, "busy"), owner: "token:other", events: 1, chars: MEGABYTE };
    const turns = [];
    for (const at of [1, 2, 3]) turns.push(await storeEnded(direct, { ...turn, at }));
    const ids = await decide(core, clock, 8, LARGE);
    const bound = bounded(core.storage, clock, () => 0);
    await bound.removeExcess();
    expect(ids.filter((id) => !direct.approvals.head(id))).toEqual([]);
    expect(turns.filter((id) => !direct.turns.get(id))).toEqual([]);
    for (const at of [4, 5, 6]) turns.push(await storeEnded(direct, { ...turn, at }));
    await bound.removeExcess();
    expect(turns.map((id) => direct.turns.get(id)?.eventCount)).toEqual([...Array(3), 1, 1, 1]);
  });

  test("are removed with their decisions if these are older than the hash chain", async () => {
    const clock = stoppedClock();
    await using core = await temporaryCore({ clock });
    const { direct } = core;
    const old = [];
    for (const at of [1, 2, 3, 4, 5, 6]) {
      old.push(await storeDecided(direct, { sessionId: "s", at: at * 3_600_000, chars: MEGABYTE }));
    }
    const chained = await decide(core, clock, 2, LARGE);
    await bounded(core.storage, clock, () => 0).removeExcess();
    expect(old.map((id) => direct.approvals.head(id) !== undefined)).toEqual([false, false, false, true, true, true]);
    expect(chained.filter((id) => !direct.approvals.head(id))).toEqual([]);
  });
});

/** Cuts inputs like the audit, on its own connection, and records their owners. */
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
    audit: { ...createAuditUpkeep(need), cutInputs: async (...cut) => cutInputs(...cut) },
    maxBytes: BOUND,
    recent: clock.now,
    removeAll: async (remove: RemoveSome, before: number) => {
      let removed = 0;
      for (let some = 1; some > 0; removed += some) some = await remove(before, 500);
      return removed;
    },
    isStopped: () => false,
    onError,
  });
}

async function decide(
  core: Pick<Core, "session" | "ask" | "approvals">,
  clock: Clock,
  count: number,
  command: string,
): Promise<string[]> {
  const session = await core.session("own");
  const ids: string[] = [];
  for (let number = 0; number < count; number++) {
    using asked = await core.ask(session, { input: { command } });
    await core.approvals.decide(OPERATOR, asked.approvalId, allow);
    ids.push(asked.approvalId);
    clock.advance(DECIDED_MS);
  }
  return ids;
}
