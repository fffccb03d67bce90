import { expect, test } from "bun:test";
import type { ApprovalOutcome, ApprovalScope, DecidedPlace, DecidedQuery } from "../../../src/storage/approvals.ts";
import { builtinOutcome, newApproval, outcome, UNRULED } from "../rows.ts";
import { filed, type OpenedStorage, type OpenForRaces } from "./engine.ts";

type Asked = Parameters<typeof newApproval>[0];
type Wanted = Partial<DecidedQuery> & { scope?: ApprovalScope };

/** The promises of every engine about the list of decisions. */
export function decidedPromises(open: OpenForRaces): void {
  test("decisions are listed by decision time, latest first, whatever was requested first", async () => {
    await using opened = await open();
    const { storage } = opened;
    const [first, second, third] = [await filed(storage), await filed(storage), await filed(storage)];
    for (const [at, { id }] of [second, third, first].entries())
      await storage.approvals.settleIfPending(id, outcome({ resolvedAt: 5_000 + at }), undefined);
    await filed(storage);
    expect(await found(storage)).toEqual([first.id, third.id, second.id]);
  });

  test("decisions are listed page by page, each once, even if many have the same time", async () => {
    await using opened = await open();
    const { storage } = opened;
    const ids: string[] = [];
    for (let at = 0; at < 9; at++) ids.push(await decided(storage, {}, { resolvedAt: 5_000 + Math.floor(at / 4) }));
    for (const limit of [1, 2, 3, 4, 100]) {
      const listed = await found(storage, { limit });
      expect(listed).toHaveLength(9);
      expect(new Set(listed)).toEqual(new Set(ids));
      expect(listed[0]).toBe(ids[8] ?? "");
    }
  });

  test("decisions are listed by owner, session, status, tool and time, with those of built-in rules in order when requested", async () => {
    await using opened = await open();
    const { storage } = opened;
    await filed(storage);
    const a = await decided(storage, { owner: "token:1", sessionId: "s1" }, { resolvedAt: 5_000 });
    const b = await decided(storage, { toolName: "Edit" }, { resolvedAt: 6_000 });
    const c = await decided(storage, { sessionId: "s1" }, { resolvedAt: 7_000, status: "denied" });
    const builtin = newApproval({ id: storage.newId(), createdAt: 6_500 });
    await storage.approvals.fileDecided(builtin, builtinOutcome(), UNRULED);
    expect(await found(storage)).toEqual([c, b, a]);
    expect(await found(storage, { withBuiltin: true })).toEqual([c, builtin.id, b, a]);
    expect(await found(storage, { withBuiltin: true, limit: 1 })).toEqual([c, builtin.id, b, a]);
    expect(await found(storage, { scope: { owner: "token:1" } })).toEqual([a]);
    expect(await found(storage, { scope: { sessionId: "s1" } })).toEqual([c, a]);
    expect(await found(storage, { status: "denied" })).toEqual([c]);
    expect(await found(storage, { toolName: "Edit" })).toEqual([b]);
    expect(await found(storage, { from: 6_000 })).toEqual([c, b]);
    expect(await found(storage, { until: 6_000 })).toEqual([a]);
    expect(await found(storage, { from: 6_000, until: 7_000, limit: 1 })).toEqual([b]);
    expect(await found(storage, { until: 7_000, after: { at: 6_000, id: b } })).toEqual([a]);
  });

  test("a decision is found by any of its texts, ignoring case, and not by the keys of its input", async () => {
    await using opened = await open();
    const { storage } = opened;
    const asked = {
      toolName: "mcp__Forge__Open",
      sessionName: "Night Shift",
      input: { command: 'echo "Grüße\nan alle" | tee C:\\docs', nested: [{ depth: 42 }] },
    };
    const ended = { responseMessage: "Not on a Friday", resolvedBy: "token:Ci", updatedInput: { command: "make it" } };
    const id = await decided(storage, asked, ended);
    await decided(storage, { input: { command: "true" } });
    const texts = ["forge__open", "night SHIFT", 'ECHO "GRÜ', 'echo "grüße\nan', "C:\\DOCS", "42", "a friday"];
    for (const search of [...texts, "token:ci", "MAKE IT"])
      expect({ search, ids: await found(storage, { search }) }).toEqual({ search, ids: [id] });
    for (const search of ["command", "nested", "%", "_orge", "\\n", "null"])
      expect({ search, ids: await found(storage, { search }) }).toEqual({ search, ids: [] });
  });

  test("a search looks at a bounded number of decisions at a time, and finds matches behind them", async () => {
    await using opened = await open();
    const { storage } = opened;
    const old = await decided(storage, { input: { command: "needle" } }, { resolvedAt: 4_000 });
    await Promise.all(Array.from({ length: 1_500 }, () => decided(storage)));
    const query = { status: "resolved", search: "needle", limit: 10, maxBytes: 1e6 } as const;
    const first = await storage.approvals.listDecided({}, query);
    expect(first.rows).toEqual([]);
    expect(first.reached?.at).toBe(5_000);
    expect(await found(storage, query)).toEqual([old]);
    expect(await found(storage, { toolName: "none" })).toEqual([]);
  });

  test("a page of decisions stays within its limit, and always contains one decision", async () => {
    await using opened = await open();
    const { storage } = opened;
    for (let at = 0; at < 3; at++)
      await decided(storage, { input: { text: "x".repeat(1_000) } }, { resolvedAt: 5_000 + at });
    const list = async (maxBytes: number) => {
      const page = await storage.approvals.listDecided({}, { status: "resolved", limit: 10, maxBytes });
      return { rows: page.rows.length, isOver: page.reached === undefined };
    };
    expect(await list(1)).toEqual({ rows: 1, isOver: false });
    expect(await list(2_500)).toEqual({ rows: 2, isOver: false });
    expect(await list(10_000)).toEqual({ rows: 3, isOver: true });
  });

  test("a list continues after a decision that was deleted meanwhile", async () => {
    await using opened = await open();
    const { storage } = opened;
    const id = await decided(storage);
    expect(await found(storage, { after: { at: 5_001, id: "forgotten" } })).toEqual([id]);
    expect(await found(storage, { after: { at: 5_000, id: "forgotten" } })).toEqual([]);
  });
}

async function decided(storage: OpenedStorage, asked: Asked = {}, ended: Partial<ApprovalOutcome> = {}) {
  const { id } = await filed(storage, asked);
  await storage.approvals.settleIfPending(id, outcome({ resolvedAt: 5_000, ...ended }), undefined);
  return id;
}

/** All matches, through as many reads as needed. */
async function found(storage: OpenedStorage, { scope = {}, ...wanted }: Wanted = {}): Promise<string[]> {
  const ids: string[] = [];
  let after: DecidedPlace | undefined = wanted.after;
  do {
    const query: DecidedQuery = { status: "resolved", limit: 100, maxBytes: 1e6, ...wanted, after };
    const page = await storage.approvals.listDecided(scope, query);
    ids.push(...page.rows.map(({ id }) => id));
    after = page.reached;
  } while (after);
  return ids;
}
