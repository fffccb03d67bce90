import { describe, expect, test } from "bun:test";
import type { Waited } from "../../../src/contract/tools/wait-answers.ts";
import { ANY_PENDING, newApproval, newToken, outcome, UNRULED } from "../../storage/rows.ts";
import { begin, filed } from "../../storage/suite/engine.ts";
import { allow, deny, OPERATOR, stoppedClock, temporaryCore } from "../open-core.ts";
import { begunTurn, endTurn, output, turnIds, waiting } from "./ended-turns.ts";

const CI = { kind: "token", id: "1", name: "ci" } as const;
const MINUTE_MS = 60_000;
const atOnce = { ...waiting, timeoutMs: 0 };

const approvalIds = (waited: Waited) => (waited.type === "ok" ? waited.approvals.map(({ id }) => id) : []);

describe("eventFeed.wait for requests", () => {
  test("returns at once with the pending approvals, oldest first", async () => {
    await using core = await temporaryCore();
    const session = await core.session();
    const asks = [await core.ask(session), await core.ask(session)];
    const waited = await core.eventFeed.wait(OPERATOR, waiting);
    expect(approvalIds(waited)).toEqual(asks.map(({ approvalId }) => approvalId));
  });

  test("returns as soon as a child asks", async () => {
    await using core = await temporaryCore();
    const session = await core.session();
    const wait = core.eventFeed.wait(OPERATOR, waiting);
    expect(Bun.peek.status(wait)).toBe("pending");
    using ask = await core.ask(session);
    const waited = await wait;
    expect(approvalIds(waited)).toEqual([ask.approvalId]);
    expect(waited).toMatchObject({ type: "ok", finished: [], running: [], has_more: false, cursor: 1 });
  });

  test("returns a time-out when its time is up", async () => {
    await using core = await temporaryCore();
    await core.session();
    const waited = await core.eventFeed.wait(OPERATOR, { ...waiting, timeoutMs: 5 });
    expect(waited).toEqual({ type: "timeout", running: [], cursor: 0 });
  });

  test("returns when the caller is gone, before or during the wait", async () => {
    await using core = await temporaryCore();
    await core.session();
    const gone = new AbortController();
    const wait = core.eventFeed.wait(OPERATOR, { ...waiting, signal: gone.signal });
    gone.abort();
    expect((await wait).type).toBe("timeout");
    const late = await core.eventFeed.wait(OPERATOR, { ...waiting, signal: AbortSignal.abort() });
    expect(late.type).toBe("timeout");
  });

  test("goes on waiting if the request was already decided", async () => {
    await using core = await temporaryCore();
    const session = await core.session();
    const wait = core.eventFeed.wait(OPERATOR, waiting);
    const quick = newApproval({ sessionId: session.id });
    const { approvals } = core.storage;
    // In one commit, so that no reader sees it pending.
    await Promise.all([
      approvals.file(quick, ANY_PENDING, UNRULED),
      approvals.settleIfPending(quick.id, outcome(), undefined),
    ]);
    using ask = await core.ask(session);
    expect(approvalIds(await wait)).toEqual([ask.approvalId]);
  });

  test("does not return for another session or another owner", async () => {
    await using core = await temporaryCore({ tokens: [CI] });
    const [mine, other] = [await core.session("mine"), await core.session("other")];
    const own = await core.sessions.createByHand(CI, "own");
    const waits = [core.eventFeed.wait(OPERATOR, { ...waiting, sessionId: mine.id }), core.eventFeed.wait(CI, waiting)];
    using _ = await core.ask(other);
    using ask = await core.ask(mine);
    using owned = await core.ask(own);
    expect((await Promise.all(waits)).map(approvalIds)).toEqual([[ask.approvalId], [owned.approvalId]]);
  });

  test("is not woken by skipped approvals, does not list them, and still counts them as pending", async () => {
    await using core = await temporaryCore();
    const session = await core.session();
    using first = await core.ask(session);
    const skipping = { ...waiting, skip: [first.approvalId] };
    expect((await core.eventFeed.wait(OPERATOR, { ...skipping, timeoutMs: 5 })).type).toBe("timeout");
    const wait = core.eventFeed.wait(OPERATOR, skipping);
    using second = await core.ask(session);
    const waited = await wait;
    expect(approvalIds(waited)).toEqual([second.approvalId]);
    expect(waited).toMatchObject({ has_more: false });
  });

  test("misses nothing between two waits", async () => {
    await using core = await temporaryCore();
    const session = await core.session();
    const seen = new Set<string>();
    const asking = Promise.all(
      Array.from({ length: 200 }, async (_, number) => {
        for (let turn = 0; turn < number % 50; turn++) await new Promise((resolve) => setImmediate(resolve));
        using ask = await core.ask(session);
        await ask.answer();
      }),
    );
    while (seen.size < 200) {
      for (const id of approvalIds(await core.eventFeed.wait(OPERATOR, { ...waiting, limit: 3 }))) {
        expect(seen.has(id)).toBe(false);
        seen.add(id);
        await core.approvals.decide(OPERATOR, id, allow);
      }
    }
    await asking;
  });

  test("leaves no waiter behind", async () => {
    await using core = await temporaryCore();
    await core.session();
    const gone = new AbortController();
    const waits = Array.from({ length: 5 }, () => core.eventFeed.wait(OPERATOR, { ...waiting, signal: gone.signal }));
    gone.abort();
    await Promise.all(waits);
    expect([...core.broadcast.waitedFor()]).toEqual([]);
  });
});

describe("eventFeed.wait when nothing happens", () => {
  test("answers idle at once if nothing of the caller's runs, is queued, is pending or could ask", async () => {
    await using core = await temporaryCore();
    await begunTurn(core.storage, { owner: CI });
    const { session, turn } = await begunTurn(core.storage, { owner: { kind: "token", id: "2", name: "other" } });
    expect(await core.eventFeed.wait({ kind: "token", id: "3", name: "new" }, waiting)).toEqual({
      type: "idle",
      cursor: expect.any(Number),
    });
    await endTurn(core.storage, turn);
    const ofSession = { ...waiting, sessionId: session.id };
    expect((await core.eventFeed.wait(OPERATOR, ofSession)).type).toBe("ok");
    expect((await core.eventFeed.wait(OPERATOR, ofSession)).type).toBe("idle");
    expect((await core.eventFeed.wait(OPERATOR, { ...waiting, timeoutMs: 5 })).type).toBe("timeout");
  });

  test("keeps waiting while a turn is queued or a skipped approval is pending", async () => {
    await using core = await temporaryCore();
    await core.storage.tokens.createIfNameFree(newToken({ id: CI.id, name: CI.name }));
    const { turn } = await begunTurn(core.storage, { owner: CI });
    const { session, turn: first } = await begunTurn(core.storage, { owner: CI });
    await endTurn(core.storage, first);
    const choice = { version: "", start: undefined };
    expect((await begin(core.storage, session.id, { maxRunning: 1, choice })).outcome).toBe("queued");
    await endTurn(core.storage, turn);
    expect(turnIds(await core.eventFeed.wait(CI, atOnce))).toHaveLength(2);
    expect(await core.eventFeed.wait(CI, atOnce)).toMatchObject({ type: "timeout", running: [{ status: "queued" }] });
  });

  test("waits for a claude started by hand for ten minutes after it was configured or last asked", async () => {
    const clock = stoppedClock();
    await using core = await temporaryCore({ clock });
    const kind = async () => (await core.eventFeed.wait(OPERATOR, { ...waiting, timeoutMs: 5 })).type;
    const session = await core.session();
    clock.advance(9 * MINUTE_MS);
    expect(await kind()).toBe("timeout");
    using ask = await core.ask(session);
    await core.approvals.decide(OPERATOR, ask.approvalId, deny());
    clock.advance(9 * MINUTE_MS);
    expect(await kind()).toBe("timeout");
    clock.advance(2 * MINUTE_MS);
    expect(await kind()).toBe("idle");
    await core.sessions.noteConfigured(session);
    expect(await kind()).toBe("timeout");
  });

  test("answers idle at the next re-read once the claude by hand can't ask any more", async () => {
    const clock = stoppedClock();
    await using core = await temporaryCore({ clock });
    await core.session();
    const wait = core.eventFeed.wait(OPERATOR, waiting);
    clock.advance(11 * MINUTE_MS);
    core.eventFeed.reread();
    expect((await wait).type).toBe("idle");
  });

  test("lists the running turns with their status and how long their child has been silent", async () => {
    const clock = stoppedClock(10_000);
    await using core = await temporaryCore({ clock });
    const [quiet, asking] = [
      await begunTurn(core.storage, { name: "quiet" }),
      await begunTurn(core.storage, { name: "asking" }),
    ];
    await core.storage.turns.appendIfRunning(quiet.turn, output("Hm."), 4_000);
    const { id } = await filed(core.storage, { sessionId: asking.session.id, isInTurn: true, createdAt: 7_000 });
    const both = [
      { name: "quiet", status: "running", silent_secs: 6 },
      { name: "asking", status: "awaiting_permission", silent_secs: 0 },
    ];
    expect(await core.eventFeed.wait(OPERATOR, { ...atOnce, skip: [id] })).toMatchObject({ running: both });
    // A session with a pending approval is left out.
    expect(await core.eventFeed.wait(OPERATOR, atOnce)).toMatchObject({
      approvals: [{ id }],
      running: [{ session_id: quiet.session.id, ...both[0] }],
    });
  });

  test("names the caller's own sessions in a time-out by name, and those of others also by id", async () => {
    await using core = await temporaryCore();
    const { session } = await begunTurn(core.storage, { name: "worker", owner: CI });
    const [own, seen] = [await core.eventFeed.wait(CI, atOnce), await core.eventFeed.wait(OPERATOR, atOnce)];
    expect(own.type === "timeout" && own.running.map(({ session_id }) => session_id)).toEqual([undefined]);
    expect(seen).toMatchObject({ type: "timeout", running: [{ name: "worker", session_id: session.id }] });
  });

  test("names sessions with equal names in a time-out also by id, the caller's own too", async () => {
    await using core = await temporaryCore();
    const theirs = await begunTurn(core.storage, { name: "worker", owner: CI });
    const own = await begunTurn(core.storage, { name: "worker" });
    await begunTurn(core.storage, { name: "other" });
    const seen = await core.eventFeed.wait(OPERATOR, atOnce);
    const running = seen.type === "timeout" ? seen.running : [];
    expect(running.map(({ name, session_id }) => [name, session_id])).toEqual([
      ["worker", theirs.session.id],
      ["worker", own.session.id],
      ["other", undefined],
    ]);
  });
});
