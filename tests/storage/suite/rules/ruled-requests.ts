import { expect, test } from "bun:test";
import type { Change } from "../../../../src/contract/change.ts";
import type { Judged, NewRule } from "../../../../src/storage/rules.ts";
import { ANY_PENDING, builtinOutcome, newApproval, newToken, outcome, ruleOutcome } from "../../rows.ts";
import { filed, NOW, type OpenedStorage, type OpenForRaces, raced, repeated, storedTurn } from "../engine.ts";
import { changeOf, filedUnderAnyRules, judgedBy, storedRule, usesLeft } from "./stored-rules.ts";

/** The three commands that record an evaluation. */
const WAYS: Record<string, (storage: OpenedStorage, judged: Judged) => Promise<{ outcome: string }>> = {
  file: (storage, judged) =>
    storage.approvals.file(newApproval({ id: storage.newId(), createdAt: NOW }), ANY_PENDING, judged),
  fileDecided: (storage, judged) =>
    storage.approvals.fileDecided(
      newApproval({ id: storage.newId(), createdAt: NOW }),
      ruleOutcome(judged.used[0] ?? ""),
      judged,
    ),
  settleByRuleIfPending: async (storage, judged) => {
    const { id } = await filedUnderAnyRules(storage);
    return storage.approvals.settleByRuleIfPending(id, outcome({ resolvedAt: NOW }), judged);
  },
};

/** What happens to the rules between evaluating and filing. */
const EVENTS: Record<string, (storage: OpenedStorage, rule: NewRule) => Promise<unknown>> = {
  "one was added": (storage) => storedRule(storage),
  "it was changed": (storage, rule) => storage.rules.changeIfMade(rule.id, undefined, changeOf(rule, { reason: "x" })),
  "it was removed": (storage, rule) => storage.rules.removeIfMade(rule.id, undefined),
};

/** How a rule ends by itself. That changes no version, so storage must check it. */
const ENDS: Record<string, Partial<NewRule>> = {
  "has expired": { expiresAt: NOW },
  "is used up": { usesLeft: 0 },
};

async function decidedIn(storage: OpenedStorage): Promise<number> {
  return (await storage.approvals.listDecided({}, { status: "resolved", limit: 100, maxBytes: 1e6 })).rows.length;
}

/** The promises of every engine about requests that rules evaluate. */
export function ruledRequestPromises(open: OpenForRaces): void {
  for (const [way, put] of Object.entries(WAYS)) {
    for (const [event, happens] of Object.entries(EVENTS)) {
      test(`${way} is stale, and records nothing, if after the evaluation ${event}`, async () => {
        await using opened = await open();
        const { storage } = opened;
        const rule = await storedRule(storage);
        const judged = await judgedBy(storage, rule);
        await happens(storage, rule);
        expect(await put(storage, judged)).toEqual({ outcome: "stale" });
        expect(await decidedIn(storage)).toBe(0);
      });
    }

    for (const [end, given] of Object.entries(ENDS)) {
      test(`${way} is stale, and records nothing, by a rule that ${end}`, async () => {
        await using opened = await open();
        const { storage } = opened;
        const rule = await storedRule(storage, given);
        expect(await put(storage, await judgedBy(storage, rule))).toEqual({ outcome: "stale" });
        expect(await decidedIn(storage)).toBe(0);
        expect((await storage.rules.get(rule.id))?.hits).toBe(0);
      });
    }

    test(`${way} is recorded under the present rules, and each rule used loses one use`, async () => {
      await using opened = await open();
      const { storage } = opened;
      const rules = [await storedRule(storage, { usesLeft: 3 }), await storedRule(storage)];
      expect((await put(storage, await judgedBy(storage, ...rules))).outcome).not.toBe("stale");
      expect(await usesLeft(storage, ...rules)).toEqual([2, null]);
      const stored = await Promise.all(rules.map(({ id }) => storage.rules.get(id)));
      expect(stored.map((rule) => [rule?.hits, rule?.lastHitAt])).toEqual([
        [1, NOW],
        [1, NOW],
      ]);
    });

    test(`if calls of ${way} race for the last use of a rule, one is recorded`, async () => {
      await using opened = await open();
      const { storage } = opened;
      await repeated(async () => {
        const rule = await storedRule(storage, { usesLeft: 1 });
        const judged = await judgedBy(storage, rule);
        // The requests are filed before, so that they race only for the rule.
        const results = await raced(
          opened,
          Array.from({ length: 5 }, () => (connection: OpenedStorage) => put(connection, judged)),
        );
        expect(results.filter(({ outcome }) => outcome !== "stale")).toHaveLength(1);
        expect(await usesLeft(storage, rule)).toEqual([0]);
      });
    });
  }

  test("an evaluation by several rules uses all of them, or none", async () => {
    await using opened = await open();
    const { storage } = opened;
    const [many, last] = [await storedRule(storage, { usesLeft: 5 }), await storedRule(storage, { usesLeft: 1 })];
    const judged = await judgedBy(storage, many, last);
    for (const [, put] of Object.entries(WAYS).slice(1)) await put(storage, judged);
    expect(await usesLeft(storage, many, last)).toEqual([4, 0]);
  });

  test("a rule's decision is recorded with its position in the chain, its event and its change, and is delivered", async () => {
    const told: Change[] = [];
    await using opened = await open((changes) => told.push(...changes));
    const { storage } = opened;
    const { session, turn } = await storedTurn(storage);
    const rule = await storedRule(storage);
    told.length = 0;
    const asked = newApproval({ id: storage.newId(), sessionId: session.id, isInTurn: true, createdAt: NOW });
    const denial = ruleOutcome(rule.id, { status: "denied", responseMessage: "never", interrupt: true });
    const decided = await storage.approvals.fileDecided(asked, denial, await judgedBy(storage, rule));
    expect(decided).toMatchObject({
      outcome: "decided",
      approval: { status: "denied", resolvedBy: `rule:${rule.id}` },
    });
    expect(await storage.approvals.get(asked.id)).toMatchObject({
      ...{ status: "denied", responseMessage: "never", interrupt: true, resolvedBy: `rule:${rule.id}` },
      ...{ askedIn: turn.id, resolvedAt: NOW, deliveredAt: NOW, isBuiltin: false, auditSeq: expect.any(Number) },
    });
    expect((await storage.audit.page("decisions", 0, 10)).rows).toMatchObject([{ approvalId: asked.id }]);
    const events = (await storage.turns.events(turn.id, 0, 10)).map(({ event }) => event);
    expect(events.at(-1)).toMatchObject({
      ...{ type: "approval_resolved", approval_id: asked.id, status: "denied" },
      ...{ resolved_by: `rule:${rule.id}`, response_message: "never" },
    });
    expect(told).toMatchObject([{ kind: "approval_resolved", subjectId: asked.id, sessionId: session.id }]);
    expect(await storage.approvals.interruption(turn.id)).toMatchObject({ responseMessage: "never" });
    expect(await storage.turns.get(turn.id)).toMatchObject({ denied: 1, builtin: 0 });
  });

  test("a pending request is settled by the rule, and not filed a second time", async () => {
    await using opened = await open();
    const { storage } = opened;
    const first = await filed(storage, { toolUseId: "call", asker: "first" });
    const rule = await storedRule(storage);
    const again = newApproval({ id: storage.newId(), toolUseId: "call", asker: "second", createdAt: NOW });
    const decided = await storage.approvals.fileDecided(again, ruleOutcome(rule.id), await judgedBy(storage, rule));
    expect(decided).toMatchObject({ outcome: "decided", approval: { id: first.id, asker: "second" } });
    expect(await storage.approvals.get(again.id)).toBeUndefined();
    const row = await storage.approvals.get(first.id);
    expect(row).toMatchObject({ status: "allowed", resolvedBy: `rule:${rule.id}`, deliveredAt: NOW, asker: "second" });
  });

  test("a rule does not decide again a request whose decision is not delivered yet", async () => {
    await using opened = await open();
    const { storage } = opened;
    const first = await filed(storage, { toolUseId: "call", asker: "first" });
    await storage.approvals.releaseIfPending(first, 9_000);
    await storage.approvals.settleIfPending(first.id, outcome({ status: "denied" }), undefined);
    const rule = await storedRule(storage, { usesLeft: 1 });
    const again = newApproval({ id: storage.newId(), toolUseId: "call", createdAt: NOW });
    const decided = await storage.approvals.fileDecided(again, ruleOutcome(rule.id), await judgedBy(storage, rule));
    expect(decided).toMatchObject({ outcome: "same", approval: { id: first.id, status: "denied" } });
    expect(await usesLeft(storage, rule)).toEqual([1]);
  });

  test("a passed deadline decides before a rule does", async () => {
    await using opened = await open();
    const { storage } = opened;
    const due = { expiresAt: NOW, createdAt: 1_000 };
    const [asked, waiting] = [await filed(storage, { ...due, toolUseId: "call" }), await filed(storage, due)];
    const rule = await storedRule(storage, { usesLeft: 9 });
    const judged = await judgedBy(storage, rule);
    const again = newApproval({ id: storage.newId(), toolUseId: "call", createdAt: NOW });
    expect(await storage.approvals.fileDecided(again, ruleOutcome(rule.id), judged)).toMatchObject({
      outcome: "same",
      approval: { id: asked.id, status: "timed_out" },
    });
    const settled = await storage.approvals.settleByRuleIfPending(waiting.id, outcome({ resolvedAt: NOW }), judged);
    expect(settled).toMatchObject({ outcome: "settled_before", approval: { status: "timed_out" } });
    expect(await usesLeft(storage, rule)).toEqual([9]);
  });

  test("the first of a rule and a person to decide a pending request wins, and the rule is used only if it was first", async () => {
    await using opened = await open();
    const { storage } = opened;
    await repeated(async () => {
      const rule = await storedRule(storage, { usesLeft: 1 });
      const judged = await judgedBy(storage, rule);
      const { id } = await filedUnderAnyRules(storage);
      const byRule = outcome({ resolvedBy: `rule:${rule.id}` });
      const settled = await raced(opened, [
        (one) => one.approvals.settleByRuleIfPending(id, byRule, judged),
        (one) => one.approvals.settleIfPending(id, outcome({ status: "denied" }), undefined),
      ]);
      expect(settled.filter((one) => one.outcome === "settled")).toHaveLength(1);
      const row = await storage.approvals.get(id);
      const [left] = await usesLeft(storage, rule);
      expect([row?.resolvedBy, left]).toEqual(row?.status === "allowed" ? [`rule:${rule.id}`, 0] : ["operator", 1]);
    });
  });

  test("rules without a row are counted by their id", async () => {
    await using opened = await open();
    const { storage } = opened;
    const judged = { ...(await judgedBy(storage)), counted: ["builtin:read"] };
    for (let count = 0; count < 3; count++)
      await storage.approvals.fileDecided(
        newApproval({ id: storage.newId(), createdAt: NOW + count }),
        builtinOutcome(),
        judged,
      );
    expect(await storage.rules.hits()).toEqual([{ id: "builtin:read", hits: 3, lastHitAt: NOW + 2 }]);
  });

  test("hits of rules without a row are counted per owner, and stay in the total when an owner is gone", async () => {
    await using opened = await open();
    const { storage } = opened;
    const token = newToken();
    await storage.tokens.createIfNameFree(token);
    const gone = `token:${token.id}`;
    const judged = { ...(await judgedBy(storage)), counted: ["builtin:read"] };
    for (const [at, owner] of [gone, "operator", gone, "token:another"].entries())
      await storage.approvals.fileDecided(
        newApproval({ id: storage.newId(), owner, createdAt: NOW + at }),
        builtinOutcome(),
        judged,
      );
    const of = async (owner?: string) =>
      (await storage.rules.hits(owner)).map(({ hits, lastHitAt }) => [hits, lastHitAt]);
    expect(await of(gone)).toEqual([[2, NOW + 2]]);
    expect(await of("operator")).toEqual([[1, NOW + 1]]);
    for (let count = 0; count < 2; count++) {
      await storage.tokens.revoke(token.id, gone, NOW);
      expect([await of(gone), await of()]).toEqual([[], [[4, NOW + 3]]]);
    }
  });

  test("shadow rules' hits are compared with the actual decisions, and deleted with the request", async () => {
    await using opened = await open();
    const { storage } = opened;
    const shadow = await storedRule(storage, { mode: "shadow" });
    const other = await storedRule(storage, { mode: "shadow", decision: "deny" });
    const judged = { ...(await judgedBy(storage)), shadows: [shadow.id, other.id] };
    const ask = async () => {
      const asked = newApproval({ id: storage.newId() });
      await storage.approvals.file(asked, ANY_PENDING, judged);
      return asked;
    };
    const [allowed, denied] = [await ask(), await ask()];
    const [timedOut, byRule, last] = [await ask(), await ask(), await ask()];
    await storage.approvals.settleIfPending(allowed.id, outcome(), undefined);
    await storage.approvals.settleIfPending(denied.id, outcome({ status: "denied" }), undefined);
    await storage.approvals.settleIfPending(timedOut.id, outcome({ status: "timed_out" }), undefined);
    const denial = outcome({ status: "denied", resolvedBy: "rule:x" });
    await storage.approvals.settleIfPending(byRule.id, denial, undefined);
    // Only what people and agents have decided counts, as in a rule's trial on the past.
    const counted = await storage.rules.shadowHits();
    expect(counted).toContainEqual({ ruleId: shadow.id, wouldDecide: 2, contradictions: 1 });
    expect(counted).toContainEqual({ ruleId: other.id, wouldDecide: 2, contradictions: 1 });
    expect(await usesLeft(storage, shadow)).toEqual([null]);
    expect((await storage.rules.get(shadow.id))?.hits).toBe(0);
    await storage.audit.forgetBefore("decisions", 9_000, 100, 9_000);
    expect(await storage.rules.shadowHits()).toEqual([]);
    await storage.approvals.settleIfPending(last.id, outcome(), undefined);
    const left = await storage.rules.shadowHits();
    expect(left).toContainEqual({ ruleId: shadow.id, wouldDecide: 1, contradictions: 0 });
    await storage.rules.removeIfMade(shadow.id, undefined);
    expect((await storage.rules.shadowHits()).map(({ ruleId }) => ruleId)).toEqual([other.id]);
  });
}
