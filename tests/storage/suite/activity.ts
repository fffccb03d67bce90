import { expect, test } from "bun:test";
import type { ActivitySum } from "../../../src/storage/activity.ts";
import { HOUR_MS, waitedSecs } from "../../../src/storage/record/activity-record.ts";
import { builtinOutcome, newApproval, newConfig, newSession, outcome, ruleOutcome, UNRULED } from "../rows.ts";
import { END, filed, type OpenedStorage, type OpenForRaces, raced, storedSession, storedTurn } from "./engine.ts";

const ALL = { from: 0, to: 1_000 };
/** A time in the hour with this number. */
const inHour = (hour: number, ms = 0) => hour * HOUR_MS + ms;

/** The promises of every engine about its sums. */
export function activityPromises(open: OpenForRaces): void {
  const countsOf = (sums: ActivitySum[]) => sums.map(({ by, outcome, count }) => `${by} ${outcome} ${count}`).sort();

  async function decide(storage: OpenedStorage, resolvedBy: string, given: { owner?: string; at?: number } = {}) {
    const at = given.at ?? inHour(5);
    const owner = given.owner ?? "operator";
    const asked = await filed(storage, { createdAt: at, expiresAt: at + 1_000, owner, sessionId: `s-${owner}` });
    await storage.approvals.settleIfPending(asked.id, outcome({ resolvedBy, resolvedAt: at }), undefined);
  }

  test("every decision is counted once, by decider, with all rules as one", async () => {
    await using opened = await open();
    const { storage } = opened;
    for (const by of ["operator", "operator", "token:ci", "rule:a", "rule:b"]) await decide(storage, by);
    const ruled = newApproval({ id: storage.newId(), createdAt: inHour(5), expiresAt: inHour(6) });
    await storage.approvals.fileDecided(ruled, ruleOutcome("c"), UNRULED);
    await storage.approvals.fileDecided({ ...ruled, id: storage.newId() }, builtinOutcome(), UNRULED);
    expect(countsOf(await storage.activity.sums(undefined, ALL))).toEqual([
      "builtin allowed 1",
      "operator allowed 2",
      "rule allowed 3",
      "token:ci allowed 1",
    ]);
  });

  test("if many decide the same request at once, one decision is counted", async () => {
    await using opened = await open();
    const { storage } = opened;
    const asked = await filed(storage, { createdAt: inHour(5), expiresAt: inHour(6) });
    const at = inHour(5, 10);
    await raced(
      opened,
      Array.from({ length: 8 }, (_, index) => (connection: OpenedStorage) => {
        const decided = outcome({ resolvedBy: `token:${index}`, resolvedAt: at });
        return connection.approvals.settleIfPending(asked.id, decided, undefined);
      }),
    );
    const sums = await storage.activity.sums(undefined, ALL);
    expect(sums.map(({ count }) => count)).toEqual([1]);
  });

  test("timed-out and abandoned requests are counted as such", async () => {
    await using opened = await open();
    const { storage } = opened;
    await filed(storage, { createdAt: inHour(5), expiresAt: inHour(5, 1_000) });
    const abandoned = await filed(storage, { createdAt: inHour(5), expiresAt: inHour(7) });
    await storage.approvals.expireDue(inHour(5, 2_000), 10);
    await storage.approvals.abandonIfPending([abandoned.id], "gone", inHour(5, 3_000));
    expect(countsOf(await storage.activity.sums(undefined, ALL))).toEqual([
      "plexus abandoned 1",
      "timeout timed_out 1",
    ]);
  });

  test("sums cover only the hours and the owner of the query", async () => {
    await using opened = await open();
    const { storage } = opened;
    await decide(storage, "operator", { at: inHour(5) });
    await decide(storage, "operator", { at: inHour(6) - 1, owner: "token:a" });
    await decide(storage, "operator", { at: inHour(6) });
    const count = async (owner: string | undefined, from: number, to: number) =>
      (await storage.activity.sums(owner, { from, to })).reduce((sum, one) => sum + one.count, 0);
    expect(await count(undefined, 5, 6)).toBe(2);
    expect(await count(undefined, 6, 7)).toBe(1);
    expect(await count("token:a", 0, 10)).toBe(1);
    expect(await count("token:b", 0, 10)).toBe(0);
  });

  test.each([0, 99, 100, 1_000, 12_345, 300_000, 604_800_000])(
    "a wait of %d ms is known to an eighth",
    async (waited) => {
      await using opened = await open();
      const { storage } = opened;
      const at = inHour(900);
      const asked = await filed(storage, { createdAt: at - waited, expiresAt: at + 1 });
      await storage.approvals.settleIfPending(asked.id, outcome({ resolvedAt: at }), undefined);
      const [sum] = await storage.activity.sums(undefined, { from: 900, to: 901 });
      const told = waitedSecs(sum?.waitStep ?? -1) * 1000;
      expect(Math.abs(told - waited)).toBeLessThanOrEqual(waited < 100 ? 100 : waited / 8);
    },
  );

  test("a turn is counted once, when it ends, with its cost, in the session that it ran in", async () => {
    await using opened = await open();
    const { storage } = opened;
    const { session, turn } = await storedTurn(storage, { name: "worker" });
    const counted = { inputTokens: 70, outputTokens: 7, numTurns: 1, totalCostUsd: 0.25 };
    for (const status of ["complete", "failed"] as const)
      await storage.turns.endIfRunning(turn, { ...END, status, counted, claudeSessionId: "c" }, inHour(5));
    await decide(storage, "rule:a");
    expect(await storage.activity.sums(undefined, ALL)).toContainEqual({
      ...{ outcome: "complete", by: "", waitStep: 0, count: 1, costUsd: 0.25, inputTokens: 70, outputTokens: 7 },
    });
    expect(await storage.activity.sessions(undefined, ALL)).toContainEqual({
      ...{ sessionId: session.id, sessionName: "worker", owner: "operator" },
      ...{ decisions: 0, byRules: 0, turns: 1, failedTurns: 0, costUsd: 0.25 },
    });
    expect(await storage.activity.sessions(undefined, ALL)).toContainEqual({
      ...{ sessionId: "s-operator", sessionName: "one", owner: "operator" },
      ...{ decisions: 1, byRules: 1, turns: 0, failedTurns: 0, costUsd: 0 },
    });
  });

  test("sums outlive the session and the server, and are deleted by the hour", async () => {
    await using opened = await open();
    const session = await storedSession(opened.storage);
    const asked = await filed(opened.storage, { sessionId: session.id, createdAt: inHour(5), expiresAt: inHour(9) });
    await opened.storage.approvals.settleIfPending(asked.id, outcome({ resolvedAt: inHour(5) }), undefined);
    await decide(opened.storage, "operator", { at: inHour(7) });
    await opened.storage.sessions.removeIfIdle(session.id);
    const { activity } = await opened.reopen();
    expect(countsOf(await activity.sums(undefined, ALL))).toEqual(["operator allowed 2"]);
    expect([await activity.removeBefore(inHour(6, 5), 10), await activity.removeBefore(inHour(6, 5), 10)]).toEqual([
      1, 0,
    ]);
    expect(countsOf(await activity.sums(undefined, ALL))).toEqual(["operator allowed 1"]);
  });

  test("pending, running and queued numbers are reported for one owner or for all", async () => {
    await using opened = await open();
    const { storage } = opened;
    await filed(storage, { createdAt: 700 });
    await filed(storage, { createdAt: 600, owner: "token:a" });
    await storedTurn(storage, { owner: "token:a" });
    expect(await storage.activity.present(undefined)).toEqual({
      pending: 2,
      oldestPendingAt: 600,
      running: 1,
      queued: 0,
    });
    expect(await storage.activity.present("operator")).toEqual({
      pending: 1,
      oldestPendingAt: 700,
      running: 0,
      queued: 0,
    });
  });

  test("budgets are listed by the share that is spent, and sessions without a budget are left out", async () => {
    await using opened = await open();
    const { storage } = opened;
    const made = async (name: string, max: number | null, ownCostUsd: number, owner = "operator") => {
      const config = newConfig({ max_budget_usd: max });
      await storedSession(storage, newSession({ kind: "managed", name, owner, ownCostUsd, config }));
    };
    await made("half", 4, 2);
    await made("full", 1, 1);
    await made("without", null, 9);
    await made("others", 10, 1, "token:a");
    const names = async (owner: string | undefined, limit: number) =>
      (await storage.activity.budgets(owner, limit)).map(({ sessionName }) => sessionName);
    expect(await names(undefined, 9)).toEqual(["full", "half", "others"]);
    expect(await names(undefined, 1)).toEqual(["full"]);
    expect(await names("token:a", 9)).toEqual(["others"]);
  });
}
