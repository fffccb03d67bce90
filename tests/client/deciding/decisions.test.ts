import { describe, expect, test } from "bun:test";
import { createApi } from "../../../src/client/api.ts";
import { createDecisions } from "../../../src/client/deciding/decisions.ts";
import type { RequestEnd } from "../../../src/client/inbox.ts";
import { approval, idOf, resolved } from "../requests.ts";

const words = { unreachable: () => "away", noPlexus: () => "no Plexus", otherVersion: () => "another version" };

/** Decisions with a server whose answers, and their times, the test controls. */
function deciding() {
  const answer = Promise.withResolvers<Response>();
  const decided: string[] = [];
  const beaten: RequestEnd[] = [];
  const api = createApi({ server: () => ({ url: "", token: undefined }), fetch: () => answer.promise, words });
  const decisions = createDecisions({
    api,
    onDecided: (id) => {
      decided.push(`${id}, ours: ${decisions.isUnderWay(id)}`);
    },
    onBeaten: (_, outcome) => void beaten.push(outcome),
  });
  return { answer, decided, beaten, decisions };
}

describe("a decision", () => {
  test("is ours while it is being sent, and its event is ignored", async () => {
    const { answer, decided, decisions } = deciding();
    expect(decisions.isOurs(resolved(1))).toBe(false);
    const sent = decisions.send([approval(1)], { approve: true });
    expect([decisions.isOurs(resolved(1)), decisions.isOurs(resolved(2))]).toEqual([true, false]);
    answer.resolve(Response.json({ type: "ok", approval_id: idOf(1), status: "allowed" }));
    expect(await sent).toEqual([{ kind: "decided" }]);
    expect(decided).toEqual([`${idOf(1)}, ours: true`]);
    expect(decisions.isOurs(resolved(1))).toBe(false);
  });

  test("that comes second reports who was first", async () => {
    const { answer, beaten, decisions } = deciding();
    const sent = decisions.send([approval(1)], { approve: true });
    const first = { approval_id: idOf(1), status: "denied", resolved_by: "token:night", resolved_at: 1_500 };
    answer.resolve(Response.json({ type: "already_resolved", ...first }));
    expect(await sent).toMatchObject([{ kind: "beaten" }]);
    expect(beaten).toEqual([{ status: "denied", by: "token:night", at: 1_500, message: null, lost: true }]);
  });

  test("whose answer was lost has the outcome of its event", async () => {
    const { answer, beaten, decisions } = deciding();
    const sent = decisions.send([approval(1)], { approve: true });
    decisions.isOurs(resolved(1));
    answer.reject(new Error("the connection broke"));
    expect(await sent).toMatchObject([{ kind: "beaten" }]);
    expect(beaten).toMatchObject([{ status: "denied", by: "operator" }]);
  });

  test("that failed has a reason, and can be made again", async () => {
    const { answer, decided, beaten, decisions } = deciding();
    const sent = decisions.send([approval(1)], { approve: true });
    answer.reject(new Error("the connection broke"));
    expect(await sent).toMatchObject([{ kind: "failed", reason: { code: "unreachable", message: "away" } }]);
    expect({ decided, beaten, isUnderWay: decisions.isUnderWay(idOf(1)) }).toEqual({
      decided: [],
      beaten: [],
      isUnderWay: false,
    });
  });

  test("on several requests is sent once, and each request has its own result", async () => {
    const { answer, decided, beaten, decisions } = deciding();
    const sent = decisions.send([approval(1), approval(2), approval(3)], { approve: true });
    const first = { approval_id: idOf(2), status: "denied", resolved_by: "token:night", resolved_at: 1_500 };
    const results = [
      { type: "ok", approval_id: idOf(1), status: "allowed" },
      { type: "already_resolved", ...first },
      { type: "error", code: "not_found", message: "There is none.", approval_id: idOf(3) },
    ];
    answer.resolve(Response.json({ type: "ok", results }));
    expect((await sent).map(({ kind }) => kind)).toEqual(["decided", "beaten", "failed"]);
    expect(decided).toEqual([`${idOf(1)}, ours: true`]);
    expect(beaten).toMatchObject([{ by: "token:night" }]);
    expect([1, 2, 3].map((number) => decisions.isUnderWay(idOf(number)))).toEqual([false, false, false]);
  });

  test("on several requests whose answer was lost has the outcomes of their events", async () => {
    const { answer, decisions } = deciding();
    const sent = decisions.send([approval(1), approval(2)], { approve: true });
    decisions.isOurs(resolved(2));
    answer.reject(new Error("the connection broke"));
    expect((await sent).map(({ kind }) => kind)).toEqual(["failed", "beaten"]);
  });
});
