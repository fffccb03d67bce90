import { describe, expect, spyOn, test } from "bun:test";
import { approvalQueries } from "../../../src/storage/sqlite/approvals/approvals.ts";
import { sessionQueries } from "../../../src/storage/sqlite/sessions/sessions.ts";
import { turnQueries } from "../../../src/storage/sqlite/turns/turns.ts";
import { historySizeQueries } from "../../../src/storage/sqlite/upkeep/history-sizes.ts";
import { newApproval, newSession } from "../rows.ts";
import { openPlans } from "./plans/query-plans.ts";
import { unchainedOutcome } from "./support/sqlite-rows.ts";

const EVENT = { type: "content", text: "x".repeat(972) } as const;
/** 1,000 bytes of JSON, and the event's keys. */
const EVENT_BYTES = 1_128;

/** Two owners, each with a turn that ended at 1, 2 and 3, a running turn, and as many requests. */
function openSizes() {
  const { sqlite, orm } = openPlans();
  const [turns, approvals] = [turnQueries(orm, "me"), approvalQueries(orm)];
  for (const owner of ["a", "b"]) {
    for (const at of [1, 2, 3, undefined]) {
      const id = `${owner}-${at}`;
      sessionQueries(orm, sqlite, true).create(newSession({ id, name: id }));
      turns.createIfNoneRuns({ id, sessionId: id, owner, ephemeral: false, startedAt: 1, checkpoint: {} });
      turns.appendEventsIfRunning(id, [EVENT], 1);
      if (at) turns.endIfRunning(id, { status: "complete", error: null, usage: null, endedAt: at });
      approvals.create(newApproval({ id, owner, input: { a: "x".repeat(4_992) } }), null);
      approvals.create(newApproval({ id: `small-${id}`, owner, input: { a: "x".repeat(3_992) } }), null);
      if (!at) continue;
      approvals.settleIfPending(id, unchainedOutcome({ resolvedAt: at }));
      approvals.settleIfPending(`small-${id}`, unchainedOutcome({ resolvedAt: at }));
    }
  }
  const edited = { resolvedAt: 1, updatedInput: { a: "x".repeat(992) } };
  approvals.create(newApproval({ id: "edited", owner: "b", input: { a: "x".repeat(3_992) } }), null);
  approvals.settleIfPending("edited", unchainedOutcome(edited));
  return { sqlite, sizes: historySizeQueries(sqlite) };
}

describe("the sizes of the history", () => {
  test("sum each owner's ended turns", () => {
    const { sizes } = openSizes();
    expect(sizes.endedTurns(9)).toEqual(["a", "b"].map((owner) => ({ owner, bytes: 3 * EVENT_BYTES })));
    expect(sizes.endedTurns(2)).toEqual(["a", "b"].map((owner) => ({ owner, bytes: EVENT_BYTES })));
  });

  test("sum each owner's decided requests whose inputs exceed 4 kB together", () => {
    const { sizes } = openSizes();
    expect(sizes.largeInputs(9)).toEqual([
      { owner: "a", bytes: 15_000 },
      { owner: "b", bytes: 20_000 },
    ]);
    expect(sizes.largeInputs(2)).toEqual([
      { owner: "a", bytes: 5_000 },
      { owner: "b", bytes: 10_000 },
    ]);
  });

  test("sum separately what is in no chain", () => {
    const { sqlite, sizes } = openSizes();
    sqlite.run("UPDATE loopback_approvals SET audit_seq = 1 WHERE id <> 'b-2'");
    expect(sizes.unchainedInputs(9)).toEqual([{ owner: "b", bytes: 5_000 }]);
    expect(sizes.unchainedInputs(2)).toEqual([]);
  });

  test("say up to which time to delete for a number of bytes, at most the given time", () => {
    const { sizes } = openSizes();
    const far = [1, EVENT_BYTES, EVENT_BYTES + 1, 2 * EVENT_BYTES, 9 * EVENT_BYTES];
    expect(far.map((bytes) => sizes.endOfTurns("a", bytes, 9))).toEqual([2, 2, 3, 3, 9]);
    expect([1, 5_000, 5_001, 99_000].map((bytes) => sizes.endOfInputs("a", bytes, 9))).toEqual([2, 2, 3, 9]);
    expect(sizes.endOfTurns("nobody", 1, 9)).toBe(9);
  });

  test("are read along their indexes", () => {
    const { sqlite } = openPlans();
    using queries = spyOn(sqlite, "query");
    historySizeQueries(sqlite);
    const texts = queries.mock.calls.map(([text]) => text);
    expect(texts).toHaveLength(5);
    for (const text of texts) {
      using explained = sqlite.prepare<{ detail: string }, null[]>(`EXPLAIN QUERY PLAN ${text}`);
      const plan = explained.all(...Array.from(text.matchAll(/\?/g), () => null)).map(({ detail }) => detail);
      expect(plan.join()).toMatch(/INDEX (turns_ended_of_owner|approvals_large)/);
      expect(plan.join()).not.toContain("TEMP B-TREE");
    }
  });
});
