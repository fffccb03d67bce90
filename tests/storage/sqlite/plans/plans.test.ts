import { beforeAll, describe, expect, test } from "bun:test";
import { approvalQueries } from "../../../../src/storage/sqlite/approvals/approvals.ts";
import { heldApprovalQueries } from "../../../../src/storage/sqlite/approvals/held-approvals.ts";
import { largeApprovalQueries } from "../../../../src/storage/sqlite/approvals/large-approvals.ts";
import { unchainedApprovalQueries } from "../../../../src/storage/sqlite/approvals/unchained-approvals.ts";
import { usedApprovalQueries } from "../../../../src/storage/sqlite/approvals/used-approvals.ts";
import { auditQueries } from "../../../../src/storage/sqlite/audit/audit.ts";
import { changeQueries } from "../../../../src/storage/sqlite/events/changes.ts";
import { newApproval } from "../../rows.ts";
import { unchainedOutcome } from "../sqlite-rows.ts";
import { openPlans } from "./query-plans.ts";

const { sqlite, orm, plansOf } = openPlans();
const approvals = {
  ...approvalQueries(orm),
  ...heldApprovalQueries(orm),
  ...largeApprovalQueries(orm),
  ...unchainedApprovalQueries(orm),
  ...usedApprovalQueries(orm),
};
const audit = auditQueries(orm, sqlite);
const changes = changeQueries(orm, sqlite);
const ask = { askedIn: "turn-1", toolUseId: "toolu_1", askHash: "hash" };

const BY_ID = /where "loopback_approvals"\."id" = \?$/;

/** How SQLite goes about the statement that `work` runs; what it found may be loaded by id behind it. */
function planOf(work: () => unknown): string {
  const [statement, ...loads] = plansOf(work);
  const others = loads.filter(({ text }) => !BY_ID.test(text));
  if (!statement || others.length > 0) throw new Error(`more than one statement was run: ${JSON.stringify(others)}`);
  return statement.plan;
}

describe.each(["without statistics", "with statistics"])("with many decided approvals, %s,", (statistics) => {
  beforeAll(() => {
    sqlite.run("DELETE FROM loopback_approvals");
    sqlite.transaction(() => {
      for (let number = 0; number < 2_000; number++) {
        const { id } = approvals.create(
          newApproval({ toolUseId: `toolu_${number}`, sessionId: `s-${number % 9}` }),
          null,
        );
        if (number % 100 > 0) approvals.settleIfPending(id, unchainedOutcome());
      }
    })();
    if (statistics === "with statistics") sqlite.run("ANALYZE");
  });

  test("the next deadline and what is due are read from the pending ones alone", () => {
    expect(planOf(() => approvals.nextDeadline())).toBe(
      "SEARCH loopback_approvals USING COVERING INDEX approvals_pending_by_deadline",
    );
    expect(planOf(() => approvals.dueIds(1, 1))).toBe(
      "SEARCH loopback_approvals USING INDEX approvals_pending_by_deadline (expires_at<?)",
    );
  });

  test("pending ones are listed and counted from the pending ones alone", () => {
    for (const scope of [{}, { owner: "operator" }, { sessionId: "s-1" }, { owner: "operator", sessionId: "s-1" }]) {
      expect(planOf(() => approvals.listPending(scope, 10))).toContain("USING INDEX approvals_pending_by");
      expect(planOf(() => approvals.list(scope, { status: "pending", cursor: "x", limit: 10 }))).toContain(
        "USING INDEX approvals_pending_by",
      );
    }
    expect(planOf(() => approvals.pendingIds())).toContain("USING COVERING INDEX approvals_pending_by");
    expect(planOf(() => approvals.countPending("s-1"))).toContain("USING COVERING INDEX approvals_pending_by_session");
  });

  test("those of one session are found by their session, in order", () => {
    expect(planOf(() => approvals.listPending({ sessionId: "s-1" }, 10))).toBe(
      "SEARCH loopback_approvals USING INDEX approvals_pending_by_session (session_id=?)",
    );
  });

  test("the same ask is found by its key", () => {
    expect(planOf(() => approvals.findSame(ask))).toBe(
      "SEARCH loopback_approvals USING INDEX approvals_same_ask (asked_in=? AND tool_use_id=? AND ask_hash=?)",
    );
  });

  test("one approval is read and settled by its id", () => {
    const byId = "SEARCH loopback_approvals USING INDEX sqlite_autoindex_loopback_approvals_1 (id=?)";
    expect(planOf(() => approvals.get("x"))).toBe(byId);
    expect(planOf(() => approvals.head("x"))).toBe(byId);
    expect(planOf(() => approvals.settleIfPending("x", unchainedOutcome()))).toBe(byId);
    const lost = { id: "x", asker: null };
    expect(planOf(() => approvals.holdIfPending("x", "me"))).toBe(byId);
    expect(planOf(() => approvals.releaseIfPending(lost, "me", 1))).toBe(byId);
    expect(planOf(() => approvals.isPendingUnheld("x"))).toBe(byId);
  });

  test("a page is read along the ids, without sorting everything", () => {
    for (const status of [undefined, "allowed"] as const) {
      for (const scope of [{}, { owner: "operator" }, { sessionId: "s-1" }]) {
        const along = (index: string) => ({
          first: `SCAN loopback_approvals USING INDEX ${index}`,
          next: `SEARCH loopback_approvals USING INDEX ${index} (id<?)`,
        });
        const pages = (withBuiltin: boolean) => ({
          first: planOf(() => approvals.list(scope, { status, withBuiltin, limit: 10 })),
          next: planOf(() => approvals.list(scope, { status, withBuiltin, cursor: "x", limit: 10 })),
        });
        expect(pages(false)).toEqual(along("approvals_by_people"));
        expect(pages(true)).toEqual(along("sqlite_autoindex_loopback_approvals_1"));
      }
    }
  });

  test("those from before there was a chain are found by the time of their decision", () => {
    expect(planOf(() => approvals.removeUnchainedBefore(1, 1))).toContain(
      "USING INDEX approvals_unchained (resolved_at<?)",
    );
  });

  test("large inputs are found by their owner and the time of their decision", () => {
    expect(planOf(() => approvals.listLarge("operator", 1, 1))).toStartWith(
      "SEARCH loopback_approvals USING INDEX approvals_large (owner=? AND resolved_at<?)",
    );
  });

  test("what a chain says of itself is found without reading its decisions", () => {
    expect(planOf(() => audit.mark("decisions"))).toBe("SEARCH audit USING INDEX audit_of_the_chain (chain=?)");
  });

  test("the decision on a call is found by its turn", () => {
    expect(planOf(() => approvals.takeResult({ turnId: "turn-1", toolUseId: "toolu_1" }, 1))).toBe(
      "SEARCH loopback_approvals USING INDEX approvals_without_result (asked_in=? AND tool_use_id=?); USE TEMP B-TREE FOR ORDER BY",
    );
  });

  test("changes are read along their ids", () => {
    expect(planOf(() => changes.listAfter(1, "operator", 10))).toBe(
      "SEARCH changes USING INTEGER PRIMARY KEY (rowid>?)",
    );
    expect(planOf(() => changes.newestId())).toBe("SEARCH changes");
  });
});
