import { describe, expect, test } from "bun:test";
import { approvalQueries } from "../../../src/storage/sqlite/approvals/approvals.ts";
import { pendingSizeQueries } from "../../../src/storage/sqlite/approvals/pending-sizes.ts";
import { temporaryDirectory } from "../../support/temporary.ts";
import { newApproval } from "../rows.ts";
import { openPlans } from "./plans/query-plans.ts";
import { type Direct, openDirect, temporaryDirect } from "./support/direct.ts";
import { unchainedOutcome } from "./support/sqlite-rows.ts";

/** An input with exactly this many bytes of JSON. */
const sized = (bytes: number) => ({ a: "x".repeat(bytes - '{"a":""}'.length) });
const filed = ({ approvals }: Pick<Direct, "approvals">, sessionId: string, bytes: number) =>
  approvals.create(newApproval({ sessionId, input: sized(bytes) })).id;
const sums = ({ pendingSizes }: Pick<Direct, "pendingSizes">) => ({
  one: pendingSizes.ofSession("one"),
  two: pendingSizes.ofSession("two"),
  all: pendingSizes.ofAll(),
});
const none = { count: 0, bytes: 0 };

describe("the sums of pending requests", () => {
  test("change with every request and every decision, in bytes", async () => {
    await using storage = await temporaryDirect();
    expect(sums(storage)).toEqual({ one: none, two: none, all: none });
    const first = filed(storage, "one", 100);
    filed(storage, "one", 20);
    const other = filed(storage, "two", 3_000);
    expect(sums(storage)).toEqual({
      one: { count: 2, bytes: 120 },
      two: { count: 1, bytes: 3_000 },
      all: { count: 3, bytes: 3_120 },
    });
    await storage.write(() =>
      storage.approvals.settleIfPending(first, unchainedOutcome({ updatedInput: sized(9_000) })),
    );
    await storage.write(() => storage.approvals.settleIfPending(first, unchainedOutcome()));
    await storage.write(() => storage.approvals.settleIfPending(other, unchainedOutcome({ status: "abandoned" })));
    expect(sums(storage)).toEqual({ one: { count: 1, bytes: 20 }, two: none, all: { count: 1, bytes: 20 } });
  });

  test("count bytes, not characters", async () => {
    await using storage = await temporaryDirect();
    await storage.write(() => storage.approvals.create(newApproval({ input: { a: "€" } })));
    expect(storage.pendingSizes.ofAll()).toEqual({ count: 1, bytes: 11 });
  });

  test("leave out what was rolled back", async () => {
    await using storage = await temporaryDirect();
    const id = filed(storage, "one", 100);
    const undone = storage.write(() => {
      storage.approvals.create(newApproval({ sessionId: "two" }));
      storage.approvals.settleIfPending(id, unchainedOutcome());
      expect(sums(storage)).toMatchObject({ one: none, two: { count: 1 } });
      throw new Error("no");
    });
    await expect(undone).rejects.toThrow();
    expect(sums(storage)).toEqual({ one: { count: 1, bytes: 100 }, two: none, all: { count: 1, bytes: 100 } });
  });

  test("leave out removed requests, and are read along their indexes", () => {
    const { sqlite, orm } = openPlans();
    const pendingSizes = pendingSizeQueries(sqlite);
    const approvals = approvalQueries(orm);
    for (const sessionId of ["one", "two"]) approvals.create(newApproval({ id: sessionId, sessionId }), null);
    sqlite.run("DELETE FROM loopback_approvals WHERE id = 'one'");
    expect(sums({ pendingSizes })).toMatchObject({ one: none, two: { count: 1 }, all: { count: 1 } });
    const planOf = (where: string) =>
      sqlite
        .query<{ detail: string }, []>(`EXPLAIN QUERY PLAN SELECT count(*) FROM loopback_approvals WHERE ${where}`)
        .get()?.detail;
    expect(planOf("session_id = '' AND status = 'pending'")).toContain("approvals_pending_by_session");
    expect(planOf("status = 'pending'")).toContain("approvals_pending_by");
  });

  test("are the same after a restart, and after decided requests were deleted", async () => {
    await using directory = await temporaryDirectory();
    const before = openDirect(directory.path);
    filed(before, "one", 100);
    filed(before, "two", 20);
    const decided = filed(before, "two", 5_000);
    before.approvals.settleIfPending(decided, unchainedOutcome());
    const expected = sums(before);
    before[Symbol.dispose]();
    using after = openDirect(directory.path);
    expect(sums(after)).toEqual(expected);
    expect(after.approvals.removeUnchainedBefore(1e15, 10)).toBe(1);
    expect(sums(after)).toEqual(expected);
  });
});
