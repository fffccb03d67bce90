import { describe, expect, test } from "bun:test";
import { createBroadcast } from "../../../src/core/events/broadcast.ts";
import { createEventFeed } from "../../../src/core/events/feed.ts";
import { builtinOutcome, newApproval, outcome, UNRULED } from "../../storage/rows.ts";
import { filed } from "../../storage/suite/engine.ts";
import { OPERATOR, temporaryCore } from "../open-core.ts";
import { begunTurn, endedTurn, endTurn, output, turnIds, waiting } from "./ended-turns.ts";

const atOnce = { ...waiting, timeoutMs: 0 };

describe("eventFeed.wait for ends", () => {
  test("reports how a turn ended, with its last message, the counts of its requests, and its cost", async () => {
    await using core = await temporaryCore();
    const { storage } = core;
    const { session, turn } = await begunTurn(storage, { name: "worker" });
    const ask = () => filed(storage, { sessionId: session.id, isInTurn: true });
    for (const status of ["allowed", "allowed", "denied"] as const)
      await storage.approvals.settleIfPending((await ask()).id, outcome({ status }), undefined);
    const asked = newApproval({ id: storage.newId(), sessionId: session.id, isInTurn: true });
    await storage.approvals.fileDecided(asked, builtinOutcome(), UNRULED);
    const late = await ask();
    await storage.approvals.expireDue(late.expiresAt, 10);
    const abandoned = await ask();
    const counted = { inputTokens: 1, outputTokens: 2, numTurns: 3, totalCostUsd: 0.1 + 0.2 };
    const end = { status: "failed", error: "no more", counted, claudeSessionId: undefined } as const;
    await storage.turns.appendIfRunning(turn, output("First."), 1);
    await storage.turns.appendIfRunning(turn, output("Last words."), 1);
    await storage.turns.endIfRunning(turn, end, 2_000);
    expect((await storage.approvals.get(abandoned.id))?.status).toBe("abandoned");
    expect(await core.eventFeed.wait(OPERATOR, waiting)).toMatchObject({
      type: "ok",
      approvals: [],
      finished: [
        {
          session_id: session.id,
          name: "worker",
          turn_id: turn.id,
          status: "failed",
          text: "Last words.",
          error: "no more",
          asks: { allowed: 2, denied: 1, timed_out: 1, abandoned: 1, builtin: 1, unasked: 0 },
          cost_usd: 0.3,
          num_turns: 3,
        },
      ],
    });
  });

  test("reports each end once, also one between two calls or before the first", async () => {
    await using core = await temporaryCore();
    const wait = async () => turnIds(await core.eventFeed.wait(OPERATOR, atOnce));
    const first = await endedTurn(core.storage);
    expect(await wait()).toEqual([first.id]);
    const second = await endedTurn(core.storage);
    expect(await wait()).toEqual([second.id]);
    expect(await wait()).toEqual([]);
  });

  test("misses no end between its read and its wait", async () => {
    await using core = await temporaryCore();
    const { turn } = await begunTurn(core.storage);
    const { changes } = core.storage;
    let ended: Promise<void> | undefined;
    const awaited: typeof changes.awaited = async (...query) => {
      const found = await changes.awaited(...query);
      ended ??= endTurn(core.storage, turn);
      await ended;
      return found;
    };
    const storage = { ...core.storage, changes: { ...changes, awaited } };
    const feed = createEventFeed({ storage, broadcast: core.broadcast, now: () => 0, onError: () => {} });
    expect(turnIds(await feed.wait(OPERATOR, waiting))).toEqual([turn.id]);
  });

  test("finds an end without a broadcast in the periodic re-read", async () => {
    await using core = await temporaryCore();
    const { turn } = await begunTurn(core.storage);
    const mute = createBroadcast();
    const feed = createEventFeed({ storage: core.storage, broadcast: mute, now: () => 0, onError: () => {} });
    const wait = feed.wait(OPERATOR, waiting);
    await endTurn(core.storage, turn);
    feed.reread();
    expect(turnIds(await wait)).toEqual([turn.id]);
  });

  test("does not count an end as told if the caller is gone", async () => {
    await using core = await temporaryCore();
    const gone = new AbortController();
    const turn = await endedTurn(core.storage);
    const { changes } = core.storage;
    const awaited: typeof changes.awaited = async (...query) => {
      const found = await changes.awaited(...query);
      gone.abort();
      return found;
    };
    const storage = { ...core.storage, changes: { ...changes, awaited } };
    const feed = createEventFeed({ storage, broadcast: core.broadcast, now: () => 0, onError: () => {} });
    expect((await feed.wait(OPERATOR, { ...waiting, signal: gone.signal })).type).toBe("timeout");
    expect(turnIds(await core.eventFeed.wait(OPERATOR, atOnce))).toEqual([turn.id]);
  });

  test("cuts message and error to 2,000 characters of JSON together", async () => {
    await using core = await temporaryCore();
    const { turn } = await begunTurn(core.storage);
    await core.storage.turns.appendIfRunning(turn, output(`${'"\n'.repeat(5_000)}the end`), 1);
    const end = { status: "failed", error: "\u0001".repeat(5_000), counted: undefined, claudeSessionId: undefined };
    await core.storage.turns.endIfRunning(turn, { ...end, status: "failed" }, 2_000);
    const waited = await core.eventFeed.wait(OPERATOR, waiting);
    const [{ text, error } = { text: "", error: "" }] = waited.type === "ok" ? waited.finished : [];
    expect(JSON.stringify(text).length + JSON.stringify(error).length).toBeWithin(1_500, 2_005);
    expect(text).toEndWith("the end");
  });

  test("delivers many ends in parts, each once, and leaves none out", async () => {
    await using core = await temporaryCore();
    const ids: string[] = [];
    for (let number = 0; number < 60; number++)
      ids.push((await endedTurn(core.storage, { text: "x".repeat(number % 5 === 0 ? 3_000 : 10) })).id);
    const told: string[] = [];
    for (let isMore = true; isMore; ) {
      const waited = await core.eventFeed.wait(OPERATOR, atOnce);
      expect(JSON.stringify(waited).length).toBeLessThan(20_000);
      told.push(...turnIds(waited));
      isMore = waited.type === "ok" && waited.has_more;
    }
    expect(told).toEqual(ids);
    expect((await core.eventFeed.wait(OPERATOR, atOnce)).type).toBe("idle");
  });

  test("leaves out the turns of a deleted session, and continues after them", async () => {
    await using core = await temporaryCore();
    const gone = await endedTurn(core.storage);
    const kept = await endedTurn(core.storage);
    await core.storage.sessions.removeTurnsIfIdle(gone.sessionId, 100);
    await core.storage.sessions.removeIfIdle(gone.sessionId);
    expect(turnIds(await core.eventFeed.wait(OPERATOR, atOnce))).toEqual([kept.id]);
  });
});
