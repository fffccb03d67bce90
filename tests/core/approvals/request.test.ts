import { Database } from "bun:sqlite";
import { describe, expect, spyOn, test } from "bun:test";
import { join } from "node:path";
import fc from "fast-check";
import { type PermitAnswer, PermitInput } from "../../../src/contract/approvals/approval.ts";
import type { Decision } from "../../../src/contract/approvals/decision.ts";
import type { JsonObject } from "../../../src/contract/values.ts";
import { createRequests } from "../../../src/core/approvals/request.ts";
import { createBroadcast } from "../../../src/core/events/broadcast.ts";
import { newApproval, newSession, outcome, UNRULED } from "../../storage/rows.ts";
import { temporaryStorage } from "../../storage/sqlite/support/temporary-storage.ts";
import { until } from "../../support/until.ts";
import { allow, blockUpdates, deny, edit, OPERATOR, temporaryCore } from "../open-core.ts";

describe("approvals.request", () => {
  test("files the call with its deadline", async () => {
    await using core = await temporaryCore({ timeoutSecs: 60 });
    const session = await core.session("worker");
    using ask = await core.ask(session, { tool: "Write", input: { b: 1, a: [2] }, toolUseId: "toolu_1" });
    const approval = await core.approvals.get(OPERATOR, ask.approvalId);
    expect(approval).toMatchObject({
      session_id: session.id,
      session_name: "worker",
      tool_name: "Write",
      tool_use_id: "toolu_1",
      input: { b: 1, a: [2] },
      status: "pending",
      resolved_at: null,
      resolved_by: null,
    });
    expect(approval.expires_at - approval.created_at).toBe(60);
  });

  test("uses the session's time-out if it has one", async () => {
    await using core = await temporaryCore({ timeoutSecs: 60 });
    const session = { ...(await core.session()), loopbackTimeoutSecs: 7 };
    using ask = await core.ask(session);
    const { created_at, expires_at } = await core.approvals.get(OPERATOR, ask.approvalId);
    expect(expires_at - created_at).toBe(7);
  });

  test("waits until somebody decides", async () => {
    await using core = await temporaryCore();
    using ask = await core.ask(await core.session());
    const answer = ask.answer();
    await turns();
    expect(Bun.peek.status(answer)).toBe("pending");
    await core.approvals.decide(OPERATOR, ask.approvalId, deny("because"));
    expect(await answer).toEqual({ behavior: "deny", message: "because" });
  });

  test("gives every waiter the same answer, also when one reads it twice", async () => {
    await using core = await temporaryCore();
    using ask = await core.ask(await core.session());
    const answers = [ask.answer(), ask.answer(), ask.answer()];
    await turns();
    await core.approvals.decide(OPERATOR, ask.approvalId, edit({ command: "false" }));
    const same: PermitAnswer = { behavior: "allow", updatedInput: { command: "false" } };
    expect(await Promise.all([...answers, ask.answer()])).toEqual([same, same, same, same]);
  });

  test("answers from the wake-up without a read; long and edited inputs are read", async () => {
    await using core = await temporaryCore();
    const session = await core.session();
    const long = { command: "x".repeat(9_000) };
    const reads = spyOn(core.storage.approvals, "get");
    const answerTo = async (input: JsonObject, decision: Decision) => {
      using ask = await core.ask(session, { input });
      const answer = ask.answer();
      reads.mockClear();
      await core.approvals.decide(OPERATOR, ask.approvalId, decision);
      return [await answer, reads.mock.calls.length];
    };
    const command = { command: "true" };
    expect(await answerTo(command, allow)).toEqual([{ behavior: "allow", updatedInput: command }, 0]);
    expect(await answerTo(command, deny("no"))).toEqual([{ behavior: "deny", message: "no" }, 0]);
    expect(await answerTo(long, deny("no"))).toEqual([{ behavior: "deny", message: "no" }, 0]);
    expect(await answerTo(long, allow)).toEqual([{ behavior: "allow", updatedInput: {} }, 1]);
    const other = { command: "false" };
    // One read checks the edit, the other answers the child.
    expect(await answerTo(command, edit(other))).toEqual([{ behavior: "allow", updatedInput: other }, 2]);
  });

  test("refuses a session with 20,000 pending requests", async () => {
    await using core = await temporaryCore();
    const session = await core.session();
    core.direct.write(() => {
      for (let count = 0; count < 20_000; count++) core.direct.approvals.create(newApproval({ sessionId: session.id }));
    });
    await expect(core.ask(session)).rejects.toMatchObject({ code: "too_many_requests" });
    using other = await core.ask(await core.session("other"));
    expect((await core.approvals.get(OPERATOR, other.approvalId)).status).toBe("pending");
  });

  test("denies when the row is gone", async () => {
    await using core = await temporaryCore({ rereadEveryMs: 10 });
    using ask = await core.ask(await core.session());
    using sqlite = new Database(join(core.dataDir, "plexus.db"));
    sqlite.run("DELETE FROM loopback_approvals");
    expect(await ask.answer()).toMatchObject({ behavior: "deny", message: expect.stringContaining("was not run") });
  });
});

describe("a repeated ask", () => {
  test("attaches to the pending approval, whatever the order of its keys", async () => {
    await using core = await temporaryCore();
    const session = await core.session();
    using first = await core.ask(session, { input: { a: 1, b: { c: [1, 2], d: null } }, toolUseId: "toolu_1" });
    using again = await core.ask(session, { input: { b: { d: null, c: [1, 2] }, a: 1 }, toolUseId: "toolu_1" });
    expect(again.approvalId).toBe(first.approvalId);
    expect((await core.approvals.pending(OPERATOR, session.id, 10)).approvals).toHaveLength(1);
    const answers = [first.answer(), again.answer()];
    await core.approvals.decide(OPERATOR, first.approvalId, deny("once"));
    const once: PermitAnswer = { behavior: "deny", message: "once" };
    expect(await Promise.all(answers)).toEqual([once, once]);
  });

  test("gets a decision that was made while nobody was connected, without a new request", async () => {
    await using core = await temporaryCore();
    const session = await core.session();
    const first = await core.ask(session, { toolUseId: "toolu_1" });
    first[Symbol.dispose]();
    await core.approvals.decide(OPERATOR, first.approvalId, edit({ command: "false" }));
    expect((await core.approvals.get(OPERATOR, first.approvalId)).delivered_at).toBeNull();
    using again = await core.ask(session, { toolUseId: "toolu_1" });
    expect(await again.answer()).toEqual({ behavior: "allow", updatedInput: { command: "false" } });
    expect((await core.approvals.get(OPERATOR, first.approvalId)).delivered_at).not.toBeNull();
    expect(await core.storage.changes.newestId()).toBe(2);
  });

  test("is a new request once the decision was delivered: an allow runs one call", async () => {
    await using core = await temporaryCore();
    const session = await core.session();
    using first = await core.ask(session, { toolUseId: "call_0" });
    await core.approvals.decide(OPERATOR, first.approvalId, allow);
    expect(await first.answer()).toMatchObject({ behavior: "allow" });
    using again = await core.ask(session, { toolUseId: "call_0" });
    expect(again.approvalId).not.toBe(first.approvalId);
    expect((await core.approvals.get(OPERATOR, again.approvalId)).status).toBe("pending");
  });

  test("is used up by the decision's own commit if its child waits, even if the server is killed right then", async () => {
    await using core = await temporaryCore();
    const session = await core.session();
    using first = await core.ask(session, { toolUseId: "call_0" });
    await core.approvals.decide(OPERATOR, first.approvalId, allow);
    // The row already says delivered, before anybody has read the answer.
    expect((await core.approvals.get(OPERATOR, first.approvalId)).delivered_at).not.toBeNull();
    using resumed = await core.approvals.resume({ kind: "session", sessionId: session.id }, first);
    expect(await resumed?.answer()).toMatchObject({ behavior: "allow" });
  });

  test("gives an allow to one of two connections: the one that asked last", async () => {
    await using core = await temporaryCore();
    const session = await core.session();
    using first = await core.ask(session, { toolUseId: "call_0" });
    using second = await core.ask(session, { toolUseId: "call_0" });
    expect(second.approvalId).toBe(first.approvalId);
    await core.approvals.decide(OPERATOR, first.approvalId, allow);
    expect(await first.answer()).toMatchObject({
      behavior: "deny",
      message: expect.stringContaining("another connection"),
    });
    expect(await second.answer()).toMatchObject({ behavior: "allow" });
  });

  test("gives an allow to one of two connections, also when both were lost and have reconnected", async () => {
    await using core = await temporaryCore();
    const session = await core.session();
    const child = { kind: "session", sessionId: session.id } as const;
    const asks = [await core.ask(session, { toolUseId: "call_0" }), await core.ask(session, { toolUseId: "call_0" })];
    for (const ask of asks) ask[Symbol.dispose]();
    const approvalId = asks[0]?.approvalId ?? "";
    const [first, second, ...others] = await Promise.all(
      [...asks.map(({ asker }) => asker), "", "x", null].map((asker) =>
        core.approvals.resume(child, { approvalId, asker }),
      ),
    );
    await core.approvals.decide(OPERATOR, asks[0]?.approvalId ?? "", allow);
    expect(await second?.answer()).toMatchObject({ behavior: "allow" });
    for (const ask of [first, ...others]) expect(await ask?.answer()).toMatchObject({ behavior: "deny" });
    // A later resume does not get it either.
    using again = await core.approvals.resume(child, { approvalId: asks[0]?.approvalId ?? "", asker: "x" });
    expect(await again?.answer()).toMatchObject({ behavior: "deny" });
    for (const ask of [first, second, ...others]) ask?.[Symbol.dispose]();
  });

  test("gives an allow that was made while nobody was connected to one of several simultaneous asks", async () => {
    await using core = await temporaryCore();
    const session = await core.session();
    const lost = await core.ask(session, { toolUseId: "call_0" });
    lost[Symbol.dispose]();
    await core.approvals.decide(OPERATOR, lost.approvalId, allow);
    const asks = await Promise.all([1, 2, 3].map(() => core.ask(session, { toolUseId: "call_0" })));
    const answers = await Promise.all(asks.map((ask) => ask.answer()));
    expect(answers.map(({ behavior }) => behavior)).toEqual(["deny", "deny", "allow"]);
    for (const ask of asks) ask[Symbol.dispose]();
  });

  test("attaches even if it is made at the same moment", async () => {
    await using core = await temporaryCore();
    const session = await core.session();
    const asks = await Promise.all(Array.from({ length: 10 }, () => core.ask(session, { toolUseId: "toolu_1" })));
    expect(new Set(asks.map(({ approvalId }) => approvalId)).size).toBe(1);
  });

  test.each<[string, Parameters<Awaited<ReturnType<typeof temporaryCore>>["ask"]>[1]]>([
    ["another tool", { tool: "Write", toolUseId: "toolu_1" }],
    ["another input", { input: { command: "false" }, toolUseId: "toolu_1" }],
    ["one key more", { input: { command: "true", timeout: null }, toolUseId: "toolu_1" }],
    ["another tool_use_id", { toolUseId: "toolu_2" }],
    ["no tool_use_id", {}],
  ])("with %s is a new request", async (_, given) => {
    await using core = await temporaryCore();
    const session = await core.session();
    using first = await core.ask(session, { toolUseId: "toolu_1" });
    await core.approvals.decide(OPERATOR, first.approvalId, allow);
    using other = await core.ask(session, given);
    expect(other.approvalId).not.toBe(first.approvalId);
    expect((await core.approvals.get(OPERATOR, other.approvalId)).status).toBe("pending");
  });

  test("with an array instead of an object is a new request", async () => {
    await using core = await temporaryCore();
    const session = await core.session();
    const asks = [{ object: 1 }, [["object", 1]], [[1]], ["object", [1]], ["array", 1], { array: 1 }].map((value) =>
      core.ask(session, { input: { value }, toolUseId: "toolu_1" }),
    );
    expect(new Set((await Promise.all(asks)).map(({ approvalId }) => approvalId)).size).toBe(asks.length);
  });

  test("of another session is a new request", async () => {
    await using core = await temporaryCore();
    using first = await core.ask(await core.session("one"), { toolUseId: "toolu_1" });
    using other = await core.ask(await core.session("two"), { toolUseId: "toolu_1" });
    expect(other.approvalId).not.toBe(first.approvalId);
  });

  test("without tool_use_id is always a new request", async () => {
    await using core = await temporaryCore();
    const session = await core.session();
    const asks = await Promise.all(Array.from({ length: 10 }, () => core.ask(session)));
    expect(new Set(asks.map(({ approvalId }) => approvalId)).size).toBe(10);
  });

  test("for an abandoned approval opens a new one, and later asks attach to that", async () => {
    await using core = await temporaryCore();
    const session = await core.session();
    using gone = await core.ask(session, { toolUseId: "toolu_1" });
    await core.approvals.abandon([gone.approvalId], "the child has ended");
    using fresh = await core.ask(session, { toolUseId: "toolu_1" });
    using again = await core.ask(session, { toolUseId: "toolu_1" });
    expect(fresh.approvalId).not.toBe(gone.approvalId);
    expect(again.approvalId).toBe(fresh.approvalId);
    expect(await gone.answer()).toMatchObject({ behavior: "deny" });
    await core.approvals.decide(OPERATOR, fresh.approvalId, allow);
    expect(await again.answer()).toMatchObject({ behavior: "allow" });
  });

  test("attaches exactly when its input is equal", async () => {
    await using core = await temporaryCore();
    const session = await core.session();
    const plain = fc.dictionary(fc.string(), fc.jsonValue({ maxDepth: 3 }), { maxKeys: 4 });
    let pairs = 0;
    await fc.assert(
      fc.asyncProperty(plain, fc.oneof(fc.constant(undefined), plain), async (one, different) => {
        const input = parsed(one);
        const other = parsed(different ?? reversed(one));
        const toolUseId = `toolu_${++pairs}`;
        using first = await core.ask(session, { input, toolUseId });
        using second = await core.ask(session, { input: other, toolUseId });
        expect(second.approvalId === first.approvalId).toBe(Bun.deepEquals(input, other));
      }),
      { numRuns: 150 },
    );
  });
});

describe("a waiter", () => {
  test("is registered with its connection before the approval is visible", async () => {
    const order: string[] = [];
    const broadcast = createBroadcast();
    await using storage = await temporaryStorage(broadcast.publish);
    const session = newSession();
    const { request } = createRequests({
      storage,
      broadcast,
      now: Date.now,
      timeoutSecs: 300,
      outputStored: async () => {},
      judge: async () => ({ outcome: undefined, judged: UNRULED }),
      onStale: () => {},
      onBuiltin: () => {},
      connect: (id) => {
        using sqlite = new Database(join(storage.dataDir, "plexus.db"), { readonly: true });
        const visible = sqlite.query("SELECT id FROM loopback_approvals WHERE id = ?").get(id) !== null;
        order.push(`held, ${[...broadcast.waitedFor()].includes(id) ? "waited for" : "not waited for"}, ${visible}`);
        return { noteAsker() {}, finish() {}, undo() {}, lose() {} };
      },
      onFiled: () => {},
    });
    using _ = await request(session, PermitInput.parse({ tool_name: "Bash", input: {} }));
    expect(order).toEqual(["held, waited for, false"]);
  });

  test("misses no decision, even one made the moment the request is announced", async () => {
    await using core = await temporaryCore();
    const session = await core.session();
    using _ = core.broadcast.listen((change) => {
      if (change.kind !== "approval_requested") return;
      void core.approvals.decide(OPERATOR, change.subjectId, deny(change.subjectId));
    });
    const answered = await Promise.all(
      Array.from({ length: 300 }, async (_, number) => {
        for (let turn = 0; turn < number % 7; turn++) await turns(1);
        using ask = await core.ask(session);
        return { approvalId: ask.approvalId, answer: await ask.answer() };
      }),
    );
    for (const { approvalId, answer } of answered) expect(answer).toEqual({ behavior: "deny", message: approvalId });
  });

  test("finds a decision without a broadcast in the periodic re-read", async () => {
    await using core = await temporaryCore({ rereadEveryMs: 10 });
    using ask = await core.ask(await core.session());
    const answer = ask.answer();
    using sqlite = new Database(join(core.dataDir, "plexus.db"));
    sqlite.run("UPDATE loopback_approvals SET status='denied', resolved_at=1, resolved_by='a stranger'");
    expect(await answer).toMatchObject({ behavior: "deny", message: expect.stringContaining("a stranger") });
  });

  test("is woken by the re-read even while the disk takes no writes", async () => {
    await using core = await temporaryCore({ rereadEveryMs: 10, timeoutSecs: 0 });
    const session = await core.session();
    using sqlite = new Database(join(core.dataDir, "plexus.db"));
    using ask = await core.ask({ ...session, loopbackTimeoutSecs: 300 });
    const answer = ask.answer();
    using _ = blockUpdates(core.dataDir);
    using due = await core.ask(session);
    await until("an expiry that fails", () => core.errors.length > 0);
    sqlite.run("DELETE FROM loopback_approvals WHERE id = ?", [ask.approvalId]);
    expect(await answer).toMatchObject({ behavior: "deny" });
    expect((await core.approvals.get(OPERATOR, due.approvalId)).status).toBe("pending");
  });

  test("is unregistered, however its request ends", async () => {
    await using core = await temporaryCore();
    const session = await core.session();
    const asks = await Promise.all(Array.from({ length: 20 }, () => core.ask(session, { toolUseId: "toolu_1" })));
    asks.push(...(await Promise.all(Array.from({ length: 20 }, () => core.ask(session)))));
    for (const ask of asks.slice(0, 30)) await core.approvals.decide(OPERATOR, ask.approvalId, allow);
    for (const ask of asks) ask[Symbol.dispose]();
    for (const ask of asks) ask[Symbol.dispose]();
    using sqlite = new Database(join(core.dataDir, "plexus.db"));
    sqlite.run("CREATE TRIGGER broken BEFORE INSERT ON loopback_approvals BEGIN SELECT RAISE(ABORT, 'broken'); END");
    await expect(core.ask(session)).rejects.toMatchObject({ code: "storage_unavailable" });
    expect([...core.broadcast.waitedFor()]).toEqual([]);
  });
});

describe("many asks of one session", () => {
  test.each([50, 1_000])("%i at once, answered in random order, each get their own answer", async (count) => {
    await using core = await temporaryCore();
    const session = await core.session();
    const asks = await Promise.all(
      Array.from({ length: count }, (_, number) => core.ask(session, { input: { number }, toolUseId: `t${number}` })),
    );
    const answers = asks.map((ask) => ask.answer());
    const order = asks.map((_, number) => number).sort(() => Math.random() - 0.5);
    await Promise.all(
      order.map(async (number, position) => {
        await turns(position % 5);
        const decision = number % 2 ? edit({ number, edited: true }) : deny(`no ${number}`);
        await core.approvals.decide(OPERATOR, asks[number]?.approvalId ?? "", decision);
      }),
    );
    expect(await Promise.all(answers)).toEqual(
      asks.map((_, number) =>
        number % 2
          ? { behavior: "allow", updatedInput: { number, edited: true } }
          : { behavior: "deny", message: `no ${number}` },
      ),
    );
    for (const ask of asks) ask[Symbol.dispose]();
    expect([...core.broadcast.waitedFor()]).toEqual([]);
  });
});

describe("approvals.resume", () => {
  test("resumes a request of the caller's own session, and no other", async () => {
    await using core = await temporaryCore();
    const session = await core.session();
    const ask = await core.ask(session);
    const child = { kind: "session", sessionId: session.id } as const;
    expect(await core.approvals.resume({ kind: "session", sessionId: "another" }, ask)).toBeUndefined();
    expect(await core.approvals.resume({ kind: "token", id: "1", name: "ci" }, ask)).toBeUndefined();
    expect(await core.approvals.resume(child, { ...ask, approvalId: "unknown" })).toBeUndefined();
    using resumed = await core.approvals.resume(child, ask);
    await core.approvals.decide(OPERATOR, ask.approvalId, deny("found again"));
    expect(await resumed?.answer()).toEqual({ behavior: "deny", message: "found again" });
  });

  test("returns a decision that was made while nobody was connected", async () => {
    await using core = await temporaryCore();
    const session = await core.session();
    const ask = await core.ask(session);
    ask[Symbol.dispose]();
    await core.storage.approvals.settleIfPending(ask.approvalId, outcome(), undefined);
    expect((await core.approvals.get(OPERATOR, ask.approvalId)).delivered_at).toBeNull();
    using resumed = await core.approvals.resume({ kind: "session", sessionId: session.id }, ask);
    expect(await resumed?.answer()).toMatchObject({ behavior: "allow" });
  });
});

/** Lets pending callbacks of the event loop run. */
async function turns(count = 3): Promise<void> {
  for (let turn = 0; turn < count; turn++) await new Promise((resolve) => setImmediate(resolve));
}

/** The value as it arrives over the wire. */
function parsed(value: unknown): JsonObject {
  return JSON.parse(JSON.stringify(value));
}

/** The same value with the keys of every object in the opposite order. */
function reversed(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(reversed);
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(
    Object.entries(value)
      .map(([key, item]) => [key, reversed(item)])
      .reverse(),
  );
}
