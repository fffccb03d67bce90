import { expect, test } from "bun:test";
import type { ApprovalQuery } from "../../../src/storage/approvals.ts";
import { builtinOutcome, newApproval, outcome, runningTurn, UNRULED } from "../rows.ts";
import { END, filed, NOW, type OpenForRaces, said, storedSession, storedTurn } from "./engine.ts";

/** The promises of every engine about lists and pages. */
export function listPromises(open: OpenForRaces): void {
  test("approvals are listed newest first, page by page, each once", async () => {
    await using opened = await open();
    const { storage } = opened;
    const ids: string[] = [];
    for (let count = 0; count < 5; count++) ids.unshift((await filed(storage)).id);
    for (const status of [undefined, "pending"] as const) {
      const list = (cursor: string | undefined) => storage.approvals.list({}, { status, cursor, limit: 2 });
      const first = await list(undefined);
      const second = await list(first.rows.at(-1)?.id);
      const third = await list(second.rows.at(-1)?.id);
      const pages = [first, second, third];
      expect(pages.map(({ rows }) => rows.map(({ id }) => id))).toEqual([
        ids.slice(0, 2),
        ids.slice(2, 4),
        ids.slice(4),
      ]);
      expect(pages.map(({ hasMore }) => hasMore)).toEqual([true, true, false]);
    }
  });

  test("approvals are listed by owner, session, tool and pending status, with those of rules only when requested", async () => {
    await using opened = await open();
    const { storage } = opened;
    const pending = await filed(storage, { owner: "token:1", sessionId: "s1" });
    const allowed = await filed(storage, { toolName: "Edit" });
    const denied = await filed(storage, { sessionId: "s1" });
    await storage.approvals.settleIfPending(allowed.id, outcome({ resolvedAt: 1_500 }), undefined);
    await storage.approvals.settleIfPending(denied.id, outcome({ status: "denied", resolvedAt: NOW }), undefined);
    const builtin = newApproval({ id: storage.newId() });
    await storage.approvals.fileDecided(builtin, builtinOutcome(), UNRULED);
    const list = async (scope: { owner?: string; sessionId?: string }, query: Omit<ApprovalQuery, "limit"> = {}) =>
      (await storage.approvals.list(scope, { ...query, limit: 10 })).rows.map(({ id }) => id);
    expect(await list({})).toEqual([denied.id, allowed.id, pending.id]);
    expect(await list({}, { withBuiltin: true })).toEqual([builtin.id, denied.id, allowed.id, pending.id]);
    expect(await list({ owner: "token:1" })).toEqual([pending.id]);
    expect(await list({ sessionId: "s1" })).toEqual([denied.id, pending.id]);
    expect(await list({}, { status: "pending" })).toEqual([pending.id]);
    expect(await list({}, { toolName: "Edit" })).toEqual([allowed.id]);
  });

  test("the first turn after another is the next turn of the same session", async () => {
    await using opened = await open();
    const { storage } = opened;
    const session = await storedSession(storage);
    const ids: string[] = [];
    for (let count = 0; count < 3; count++) {
      const turn = await runningTurn(storage, session);
      await storage.turns.endIfRunning(turn, END, NOW);
      // A turn of another session in between.
      await storedTurn(storage);
      ids.push(turn.id);
    }
    const after = async (id: string) => (await storage.turns.firstAfter(session.id, id))?.id;
    const [first = "", second = "", third = ""] = ids;
    expect([await after(first), await after(second), await after(third)]).toEqual([second, third, undefined]);
  });

  test("a page of events is limited in number and bytes, and has at least one event", async () => {
    await using opened = await open();
    const { storage } = opened;
    const { turn } = await storedTurn(storage);
    await storage.turns.appendIfRunning(turn, said("x".repeat(500), "y".repeat(500), "z"), NOW);
    const page = async (fromSeq: number, limit: number, maxBytes: number) =>
      (await storage.turns.eventPage(turn.id, fromSeq, { limit, maxBytes })).map(({ seq }) => seq);
    expect(await page(0, 10, 1e6)).toEqual([0, 1, 2, 3]);
    expect(await page(1, 2, 1e6)).toEqual([1, 2]);
    expect(await page(1, 10, 700)).toEqual([1]);
    expect(await page(1, 10, 1)).toEqual([1]);
    expect(await page(4, 10, 1e6)).toEqual([]);
  });

  test("events are read back from a number, as many as fit, and at least one", async () => {
    await using opened = await open();
    const { storage } = opened;
    const { turn } = await storedTurn(storage);
    await storage.turns.appendIfRunning(turn, said("x".repeat(500), "y".repeat(500), "z"), NOW);
    const back = async (before: number, limit: number, maxBytes: number) =>
      (await storage.turns.eventsBefore(turn.id, before, { limit, maxBytes })).map(({ seq, at }) => `${seq} ${at}`);
    expect(await back(4, 10, 1e6)).toEqual([`3 ${NOW}`, `2 ${NOW}`, `1 ${NOW}`, `0 ${turn.startedAt}`]);
    expect(await back(3, 2, 1e6)).toEqual([`2 ${NOW}`, `1 ${NOW}`]);
    expect(await back(4, 10, 700)).toEqual([`3 ${NOW}`, `2 ${NOW}`]);
    expect(await back(3, 10, 1)).toEqual([`2 ${NOW}`]);
    expect(await back(0, 10, 1e6)).toEqual([]);
  });

  test("an event keeps when it was stored", async () => {
    await using opened = await open();
    const { storage } = opened;
    const { turn } = await storedTurn(storage);
    await storage.turns.appendIfRunning(turn, said("one", "two"), NOW + 5);
    await storage.turns.endIfRunning(turn, END, NOW + 9);
    const page = await storage.turns.eventPage(turn.id, 0, { limit: 9, maxBytes: 1e6 });
    expect(page.map(({ at }) => at)).toEqual([turn.startedAt, NOW + 5, NOW + 5, NOW + 9]);
  });

  test("unasked calls are listed newest first, page by page, by owner, session and turn", async () => {
    await using opened = await open();
    const { storage } = opened;
    const ran = async (owner: string) => {
      const { session, turn } = await storedTurn(storage, { owner });
      const result = { type: "tool_result", tool_use_id: "call", output: "", is_error: false } as const;
      const events = [{ ...result, askedAgain: undefined, isRefused: false }];
      const [call] = await storage.turns.appendIfRunning(turn, { ...said(), events }, NOW);
      return { id: call?.id ?? "", session, turn };
    };
    const [a, b, c] = [await ran("one"), await ran("two"), await ran("one")];
    const list = async (
      scope: { owner?: string; sessionId?: string; turnId?: string },
      cursor?: string,
      limit = 10,
    ) => {
      const { rows, hasMore } = await storage.unaskedCalls.list(scope, { cursor, limit });
      return [...rows.map(({ id }) => id), hasMore];
    };
    expect(await list({}, undefined, 2)).toEqual([c.id, b.id, true]);
    expect(await list({}, b.id, 2)).toEqual([a.id, false]);
    expect(await list({ owner: "one" })).toEqual([c.id, a.id, false]);
    expect(await list({ sessionId: b.session.id })).toEqual([b.id, false]);
    expect(await list({ turnId: a.turn.id })).toEqual([a.id, false]);
    expect(await storage.unaskedCalls.get(b.id)).toMatchObject({ turnId: b.turn.id, owner: "two" });
  });
}
