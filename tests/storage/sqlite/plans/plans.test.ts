import { beforeAll, describe, expect, test } from "bun:test";
import type { ApprovalScope } from "../../../../src/storage/approvals.ts";
import { approvalQueries } from "../../../../src/storage/sqlite/approvals/approvals.ts";
import { decidedApprovalQueries } from "../../../../src/storage/sqlite/approvals/decided-approvals.ts";
import { heldApprovalQueries } from "../../../../src/storage/sqlite/approvals/held-approvals.ts";
import { largeApprovalQueries } from "../../../../src/storage/sqlite/approvals/large-approvals.ts";
import { unchainedApprovalQueries } from "../../../../src/storage/sqlite/approvals/unchained-approvals.ts";
import { usedApprovalQueries } from "../../../../src/storage/sqlite/approvals/used-approvals.ts";
import { auditQueries } from "../../../../src/storage/sqlite/audit/audit.ts";
import { changeQueries } from "../../../../src/storage/sqlite/events/changes.ts";
import { newApproval } from "../../rows.ts";
import { unchainedOutcome } from "../support/sqlite-rows.ts";
import { openPlans } from "./query-plans.ts";

const { sqlite, orm, plansOf } = openPlans();
const approvals = {
  ...approvalQueries(orm),
  ...heldApprovalQueries(orm, true),
  ...largeApprovalQueries(orm),
  ...unchainedApprovalQueries(orm),
  ...usedApprovalQueries(orm),
};
const decided = decidedApprovalQueries(orm, approvals);
const audit = auditQueries(orm, sqlite);
const changes = changeQueries(orm, sqlite);
const ask = { askedIn: "turn-1", toolUseId: "toolu_1", askHash: "hash" };

/** The statement that finds a page: not the ones that load its rows or count a filter's matches. */
const isPage = ({ text }: { text: string }) => text.startsWith('select "id", octet_length');

const BY_ID = /where "loopback_approvals"\."id" = \?$/;

/** The plan of the statement that `work` runs; statements that then load rows by id are ignored. */
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

  test("the next deadline and due approvals are read from pending rows only", () => {
    expect(planOf(() => approvals.nextDeadline())).toBe(
      "SEARCH loopback_approvals USING COVERING INDEX approvals_pending_by_deadline",
    );
    expect(planOf(() => approvals.dueIds(1, 1))).toBe(
      "SEARCH loopback_approvals USING INDEX approvals_pending_by_deadline (expires_at<?)",
    );
  });

  test("pending approvals are listed and counted from pending rows only", () => {
    for (const scope of [{}, { owner: "operator" }, { sessionId: "s-1" }, { owner: "operator", sessionId: "s-1" }]) {
      expect(planOf(() => approvals.listPending(scope, 10))).toContain("USING INDEX approvals_pending_by");
      expect(planOf(() => approvals.list(scope, { status: "pending", cursor: "x", limit: 10 }))).toContain(
        "USING INDEX approvals_pending_by",
      );
    }
    expect(planOf(() => approvals.pendingIds())).toContain("USING COVERING INDEX approvals_pending_by");
    expect(planOf(() => approvals.countPending("s-1"))).toContain("USING COVERING INDEX approvals_pending_by_session");
  });

  test("the pending approvals of one session are found by session, in order", () => {
    expect(planOf(() => approvals.listPending({ sessionId: "s-1" }, 10))).toBe(
      "SEARCH loopback_approvals USING INDEX approvals_pending_by_session (session_id=?)",
    );
  });

  test("the same request is found by its key", () => {
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
    expect(planOf(() => approvals.isExpectedBack("x", "me"))).toBe(byId);
  });

  test("a page is read in id order along its filter's index, without sorting", () => {
    const along = {
      approvals_of_session: { sessionId: "s-1" },
      approvals_of_owner: { owner: "token:1" },
      approvals_of_tool: { toolName: "Rare" },
    };
    for (const [index, { toolName, ...scope }] of Object.entries<ApprovalScope & { toolName?: string }>(along)) {
      const found = (query: object) =>
        plansOf(() => approvals.list(scope, { toolName, limit: 10, ...query }))
          .filter(isPage)
          .map(({ plan }) => plan);
      const first = `SEARCH loopback_approvals USING INDEX ${index} (`;
      expect(found({})).toEqual([expect.stringContaining(first)]);
      expect(found({ cursor: "x" })[0]).toEndWith("is_builtin=? AND id<?)");
      // Decisions of built-in rules come from a second query, and are merged with the others.
      expect(found({ withBuiltin: true })).toEqual(Array(2).fill(expect.stringContaining(first)));
      expect(found({ withBuiltin: true }).join()).not.toContain("TEMP B-TREE");
    }
    expect(planOf(() => approvals.list({}, { limit: 10 }))).toBe(
      "SCAN loopback_approvals USING INDEX approvals_by_people",
    );
    expect(planOf(() => approvals.list({}, { withBuiltin: true, cursor: "x", limit: 10 }))).toBe(
      "SEARCH loopback_approvals USING INDEX sqlite_autoindex_loopback_approvals_1 (id<?)",
    );
  });

  test("of two filters, the query follows the index of the one with fewer matches", () => {
    const [found] = plansOf(() => approvals.list({ sessionId: "s-1" }, { toolName: "Rare", limit: 10 })).filter(isPage);
    expect(found?.plan).toContain("approvals_of_tool (tool_name=?");
  });

  test("decisions are read by decision time without sorting, and searched by rowid", () => {
    const query = { status: "denied", search: "x", limit: 10, maxBytes: 1e6 } as const;
    const plans = plansOf(() => decided.listDecided({ owner: "operator" }, { ...query, from: 1, until: 9_000 }));
    expect(plans.map(({ plan }) => plan)).toEqual([
      "SEARCH loopback_approvals USING INDEX approvals_decided (is_builtin=? AND resolved_at>? AND resolved_at<?)",
      "SEARCH loopback_approvals USING INTEGER PRIMARY KEY (rowid=?); LIST SUBQUERY 1; SCAN json_each VIRTUAL TABLE INDEX 1:",
    ]);
  });

  test("decisions from before there was a chain are found by decision time", () => {
    expect(planOf(() => approvals.removeUnchainedBefore(1, 1))).toContain(
      "USING INDEX approvals_unchained (resolved_at<?)",
    );
  });

  test("large inputs are found by owner and decision time", () => {
    expect(planOf(() => approvals.listLarge("operator", 1, 1))).toStartWith(
      "SEARCH loopback_approvals USING INDEX approvals_large (owner=? AND resolved_at<?)",
    );
  });

  test("a chain's entries about itself are found without reading its decisions", () => {
    expect(planOf(() => audit.mark("decisions"))).toBe("SEARCH audit USING INDEX audit_of_the_chain (chain=?)");
  });

  test("the decision on a call is found by its turn", () => {
    expect(planOf(() => approvals.takeResult({ turnId: "turn-1", toolUseId: "toolu_1" }, 1))).toBe(
      "SEARCH loopback_approvals USING INDEX approvals_without_result (asked_in=? AND tool_use_id=?); USE TEMP B-TREE FOR ORDER BY",
    );
  });

  test("the denial that ends a turn is found by its turn, among the interrupting denials", () => {
    expect(planOf(() => approvals.interruption("turn-1"))).toBe(
      "SEARCH loopback_approvals USING INDEX approvals_interrupting (asked_in=?)",
    );
  });

  test("changes are read in id order, of all owners or of one", () => {
    expect(planOf(() => changes.listAfter(1, undefined, 10))).toBe(
      "SEARCH changes USING INTEGER PRIMARY KEY (rowid>?)",
    );
    expect(planOf(() => changes.listAfter(1, "token:1", 10))).toBe(
      "SEARCH changes USING INDEX changes_of_owner (owner=? AND id>?)",
    );
    expect(planOf(() => changes.newestId())).toBe("SEARCH changes");
  });
});
