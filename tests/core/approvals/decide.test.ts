import { Database } from "bun:sqlite";
import { describe, expect, test } from "bun:test";
import { join } from "node:path";
import type { Principal } from "../../../src/core/access/principals.ts";
import { newToken } from "../../storage/rows.ts";
import { allow, deny, edit, OPERATOR, stoppedClock, temporaryCore } from "../open-core.ts";

const CI = { kind: "token", id: "1", name: "ci" } as const;
const OTHER: Principal = { kind: "token", id: "2", name: "other" };
const NAMESAKE = { kind: "token", id: "another", name: "ci" } as const;

describe("approvals.decide", () => {
  test("answers ok once the decision is on disk", async () => {
    await using core = await temporaryCore();
    using ask = await core.ask(await core.session());
    using other = new Database(join(core.dataDir, "plexus.db"), { readonly: true });
    const stored = () => other.query("SELECT status, resolved_by FROM loopback_approvals").get();
    const onDisk = core.approvals.decide(OPERATOR, ask.approvalId, allow).then((answer) => ({ answer, row: stored() }));
    expect(await onDisk).toEqual({
      answer: { type: "ok", approval_id: ask.approvalId, status: "allowed" },
      row: { status: "allowed", resolved_by: "operator" },
    });
  });

  test("refuses the second decision and names the first", async () => {
    const clock = stoppedClock(1_700_000_000_123);
    await using core = await temporaryCore({ tokens: [CI], clock });
    const session = await core.sessions.createByHand(CI, "child");
    using ask = await core.ask(session);
    clock.advance(5_000);
    await core.approvals.decide(CI, ask.approvalId, deny("no"));
    clock.advance(5_000);
    expect(await core.approvals.decide(OPERATOR, ask.approvalId, allow)).toEqual({
      type: "already_resolved",
      approval_id: ask.approvalId,
      status: "denied",
      resolved_by: "token:ci",
      resolved_at: 1_700_000_005,
    });
    expect(await core.approvals.get(OPERATOR, ask.approvalId)).toMatchObject({
      status: "denied",
      response_message: "no",
    });
  });

  test("answers ok to one of many simultaneous deciders, and names it to all others", async () => {
    await using core = await temporaryCore({ tokens: [CI] });
    const session = await core.sessions.createByHand(CI, "child");
    for (let round = 0; round < 20; round++) {
      using ask = await core.ask(session);
      const deciders = [OPERATOR, CI, OPERATOR, CI];
      const answers = await Promise.all(
        deciders.map((decider, number) =>
          core.approvals.decide(decider, ask.approvalId, number % 2 ? allow : deny(`${number}`)),
        ),
      );
      const { status, resolved_by } = await core.approvals.get(OPERATOR, ask.approvalId);
      const types = answers.map(({ type }) => type).sort();
      expect(types).toEqual(["already_resolved", "already_resolved", "already_resolved", "ok"]);
      for (const answer of answers) {
        expect(answer.status).toBe(status);
        if (answer.type === "already_resolved") expect(answer.resolved_by).toBe(resolved_by ?? "");
      }
    }
  });

  test("announces one change, for the decision that counts", async () => {
    await using core = await temporaryCore();
    using ask = await core.ask(await core.session());
    await Promise.all(
      [allow, deny("a"), deny("b")].map((decision) => core.approvals.decide(OPERATOR, ask.approvalId, decision)),
    );
    const kinds = (await core.storage.changes.listAfter(0, undefined, 10)).map(({ kind }) => kind);
    expect(kinds).toEqual(["approval_requested", "approval_resolved"]);
  });

  test("stores the edited input or the reason", async () => {
    await using core = await temporaryCore();
    const session = await core.session();
    using edited = await core.ask(session);
    using denied = await core.ask(session);
    await core.approvals.decide(OPERATOR, edited.approvalId, edit({ command: "ls" }));
    await core.approvals.decide(OPERATOR, denied.approvalId, deny("too risky"));
    expect(await core.approvals.get(OPERATOR, edited.approvalId)).toMatchObject({
      status: "allowed",
      input: { command: "true" },
      updated_input: { command: "ls" },
    });
    expect(await core.approvals.get(OPERATOR, denied.approvalId)).toMatchObject({
      status: "denied",
      response_message: "too risky",
      updated_input: null,
    });
  });

  test("comes too late after the deadline, even if no timer has fired yet", async () => {
    const clock = stoppedClock();
    await using core = await temporaryCore({ clock, timeoutSecs: 10 });
    using ask = await core.ask(await core.session());
    const answer = ask.answer();
    clock.advance(10_000);
    expect(await core.approvals.decide(OPERATOR, ask.approvalId, allow)).toMatchObject({
      type: "already_resolved",
      status: "timed_out",
      resolved_by: "timeout",
    });
    expect(await answer).toMatchObject({ behavior: "deny", message: expect.stringContaining("Approval timed out") });
  });

  test("comes in time a millisecond before the deadline", async () => {
    const clock = stoppedClock();
    await using core = await temporaryCore({ clock, timeoutSecs: 10 });
    using ask = await core.ask(await core.session());
    clock.advance(9_999);
    expect(await core.approvals.decide(OPERATOR, ask.approvalId, allow)).toMatchObject({ type: "ok" });
  });

  test("leaves the approval pending when the database fails, and succeeds afterwards", async () => {
    await using core = await temporaryCore();
    using ask = await core.ask(await core.session());
    using sqlite = new Database(join(core.dataDir, "plexus.db"));
    sqlite.run("CREATE TRIGGER broken BEFORE INSERT ON changes BEGIN SELECT RAISE(ABORT, 'broken'); END");
    await expect(core.approvals.decide(OPERATOR, ask.approvalId, allow)).rejects.toMatchObject({
      code: "storage_unavailable",
    });
    expect((await core.approvals.get(OPERATOR, ask.approvalId)).status).toBe("pending");
    sqlite.run("DROP TRIGGER broken");
    expect(await core.approvals.decide(OPERATOR, ask.approvalId, allow)).toMatchObject({ type: "ok" });
  });
});

describe("approvals.abandon", () => {
  test("settles any number of pending approvals in batches, and leaves decided ones alone", async () => {
    await using core = await temporaryCore();
    const session = await core.session();
    const asks = await Promise.all(Array.from({ length: 1_100 }, () => core.ask(session)));
    const ids = asks.map(({ approvalId }) => approvalId);
    await core.approvals.decide(OPERATOR, ids[3] ?? "", allow);
    await core.approvals.abandon(ids, "the child has ended");
    const settled = await Promise.all(ids.map((id) => core.approvals.get(OPERATOR, id)));
    const statuses = settled.map(({ status }) => status);
    expect(statuses.filter((status) => status === "abandoned")).toHaveLength(1_099);
    expect(statuses[3]).toBe("allowed");
    const answer = await asks[0]?.answer();
    expect(answer).toEqual({
      behavior: "deny",
      message: "Abandoned: the child has ended. Plexus did not allow the call.",
    });
  });

  test("records a time-out if the deadline has passed", async () => {
    const clock = stoppedClock();
    await using core = await temporaryCore({ clock, timeoutSecs: 10 });
    using ask = await core.ask(await core.session());
    clock.advance(10_000);
    await core.approvals.abandon([ask.approvalId], "the child has ended");
    expect((await core.approvals.get(OPERATOR, ask.approvalId)).status).toBe("timed_out");
  });
});

describe("who may decide", () => {
  test("is the creator of the session and the operator; for all others the approval does not exist", async () => {
    await using core = await temporaryCore({ tokens: [CI, OTHER] });
    const session = await core.sessions.createByHand(CI, "child");
    using ask = await core.ask(session);
    const strangers: Principal[] = [
      OTHER,
      { kind: "session", sessionId: session.id },
      { kind: "session", sessionId: "x" },
    ];
    for (const stranger of strangers) {
      const unknown = core.approvals.decide(OPERATOR, "018f0000-0000-7000-8000-000000000000", allow);
      const notTheirs = core.approvals.decide(stranger, ask.approvalId, allow);
      const [expected, got] = await Promise.all([refusalOf(unknown), refusalOf(notTheirs)]);
      expect(got).toEqual({
        ...expected,
        message: expected.message.replace(/approval \S+:/, `approval ${ask.approvalId}:`),
      });
      expect(async () => await core.approvals.get(stranger, ask.approvalId)).toThrow(got.message);
      expect((await core.approvals.pending(stranger, undefined, 10)).approvals).toEqual([]);
      expect((await core.approvals.list(stranger, { limit: 10 })).approvals).toEqual([]);
    }
    for (const decider of [CI, OPERATOR]) {
      expect((await core.approvals.get(decider, ask.approvalId)).id).toBe(ask.approvalId);
      expect((await core.approvals.pending(decider, undefined, 10)).approvals).toHaveLength(1);
      expect((await core.approvals.list(decider, { limit: 10 })).approvals).toHaveLength(1);
    }
    expect(await core.approvals.decide(CI, ask.approvalId, allow)).toMatchObject({ type: "ok" });
  });

  test("is never a child, even if it has the name of its creator's token", async () => {
    await using core = await temporaryCore({ tokens: [CI] });
    const session = await core.sessions.createByHand(CI, "child");
    using ask = await core.ask(session);
    await core.storage.tokens.revoke(CI.id, "token:1", 0);
    await core.storage.tokens.createIfNameFree(newToken({ id: NAMESAKE.id, name: NAMESAKE.name }));
    await expect(core.approvals.decide(NAMESAKE, ask.approvalId, allow)).rejects.toMatchObject({ code: "not_found" });
  });
});

async function refusalOf(work: Promise<unknown>): Promise<{ code: unknown; message: string }> {
  const cause = await work.then(
    () => undefined,
    (refusal: unknown) => refusal,
  );
  if (!(cause instanceof Error) || !("code" in cause)) throw new Error("nothing was refused");
  return { code: cause.code, message: cause.message };
}
