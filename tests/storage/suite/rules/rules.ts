import { expect, test } from "bun:test";
import type { NewRule } from "../../../../src/storage/rules.ts";
import {
  ANY_NUMBER,
  ANY_PENDING,
  ANY_RULES,
  newApproval,
  newConfig,
  newRule,
  newSession,
  newToken,
  outcome,
} from "../../rows.ts";
import { filed, NOW, type OpenedStorage, type OpenForRaces, raced, repeated, storedSession } from "../engine.ts";
import { changeOf, filedUnderAnyRules, judgedBy, storedRule } from "./stored-rules.ts";

const withRoom = (rules: NewRule[]) => ({ rules, most: ANY_RULES, madeBy: undefined });

/** The promises of every engine about the rules themselves. */
export function rulePromises(open: OpenForRaces): void {
  test("an acknowledged rule is on disk as it was given", async () => {
    await using opened = await open();
    const rule = newRule({ id: opened.storage.newId(), reason: "it is safe", expiresAt: 9_000, usesLeft: 3 });
    expect(await opened.storage.rules.addIfNew(rule, ANY_RULES)).toMatchObject({ outcome: "added", rule });
    const storage = await opened.reopen();
    expect((await storage.rules.book()).rules).toEqual([{ ...rule, hits: 0, lastHitAt: null }]);
  });

  test("the version changes whenever a rule is added, changed or removed, and at no other time", async () => {
    await using opened = await open();
    const { storage } = opened;
    const versions = [await storage.rules.version()];
    const note = async () => void versions.push(await storage.rules.version());
    const rule = await storedRule(storage);
    await note();
    await storage.rules.changeIfMade(rule.id, undefined, changeOf(rule, { decision: "deny" }));
    await note();
    await storage.rules.removeIfMade(rule.id, undefined);
    await note();
    expect(new Set(versions).size).toBe(versions.length);
    await storage.rules.removeIfMade(rule.id, undefined);
    await storage.rules.changeIfMade(rule.id, undefined, changeOf(rule, {}));
    await storage.rules.addIfNew(rule, { ofOwner: 0, inAll: 9 });
    await storage.rules.removeSpent(NOW, 10);
    expect(await storage.rules.version()).toBe(versions.at(-1) ?? -1);
  });

  test("the rule book's version matches its rules", async () => {
    await using opened = await open();
    await repeated(async () => {
      const known = new Map<number, string>();
      const books = await raced(opened, [
        ...Array.from({ length: 3 }, () => async (one: OpenedStorage) => void (await storedRule(one))),
        ...Array.from({ length: 6 }, () => (one: OpenedStorage) => one.rules.book()),
      ]);
      for (const book of [...books, await opened.storage.rules.book()]) {
        if (!book) continue;
        const ids = book.rules.map(({ id }) => id).join();
        expect(known.get(book.version) ?? ids).toBe(ids);
        known.set(book.version, ids);
      }
    });
  });

  test("only its creator, or a caller without limits, changes or removes a rule", async () => {
    await using opened = await open();
    const { storage } = opened;
    const rule = await storedRule(storage, { createdBy: "token:1" });
    const change = changeOf(rule, { match: "Bash(false)" });
    expect(await storage.rules.changeIfMade(rule.id, "token:2", change)).toBeUndefined();
    expect(await storage.rules.removeIfMade(rule.id, "token:2")).toBeUndefined();
    expect(await storage.rules.changeIfMade(rule.id, "token:1", change)).toMatchObject({ match: "Bash(false)" });
    expect(await storage.rules.removeIfMade(rule.id, undefined)).toMatchObject({ id: rule.id });
    expect(await storage.rules.get(rule.id)).toBeUndefined();
  });

  test("if rules race for the last room, one is added", async () => {
    await using opened = await open();
    const { storage } = opened;
    await repeated(async (round) => {
      const createdBy = `token:${round}`;
      const rules = Array.from({ length: 4 }, (_, at) =>
        newRule({ id: storage.newId(), createdBy, match: `Bash(true ${at})` }),
      );
      const added = await raced(
        opened,
        rules.map((rule) => (one) => one.rules.addIfNew(rule, { ofOwner: 1, inAll: 1_000 })),
      );
      expect(added.filter(({ outcome }) => outcome === "added")).toHaveLength(1);
    });
    expect(await storage.rules.addIfNew(newRule(), { ofOwner: 1_000, inAll: 25 })).toEqual({ outcome: "too_many" });
  });

  test("a rule that its creator already has is not added again, even if equal ones race", async () => {
    await using opened = await open();
    const { storage } = opened;
    await repeated(async (round) => {
      const equal = () => newRule({ id: storage.newId(), match: `Bash(true ${round})`, reason: "because" });
      const added = await raced(
        opened,
        Array.from({ length: 4 }, () => (one: OpenedStorage) => one.rules.addIfNew(equal(), ANY_RULES)),
      );
      expect(added.map(({ outcome }) => outcome).toSorted()).toEqual(["added", "existing", "existing", "existing"]);
      expect(new Set(added.map((one) => ("rule" in one ? one.rule.id : undefined))).size).toBe(1);
    });
    const version = await storage.rules.version();
    const one = newRule({ id: storage.newId(), match: "Bash(true 0)", reason: "because" });
    expect(await storage.rules.addIfNew(one, { ofOwner: 0, inAll: 0 })).toMatchObject({ outcome: "existing" });
    expect(await storage.rules.version()).toBe(version);
  });

  test("a rule that differs in its reason alone is the one that there is, which keeps its own", async () => {
    await using opened = await open();
    const { storage } = opened;
    const first = newRule({ id: storage.newId(), decision: "deny", reason: "because" });
    await storage.rules.addIfNew(first, ANY_RULES);
    for (const reason of ["since", null]) {
      const other = newRule({ id: storage.newId(), decision: "deny", reason });
      const added = await storage.rules.addIfNew(other, ANY_RULES);
      expect(added).toMatchObject({ outcome: "existing", rule: { id: first.id, reason: "because" } });
    }
    expect((await storage.rules.book()).rules).toHaveLength(1);
  });

  test("a rule that differs in content, scope, creator or duration is added", async () => {
    await using opened = await open();
    const { storage } = opened;
    const session = await storedSession(storage);
    const others: Partial<NewRule>[] = [
      { decision: "deny" },
      { match: "Bash(false)" },
      { owner: "token:1" },
      { sessionId: session.id },
      { createdBy: "token:1" },
      { mode: "shadow" },
      { expiresAt: 9_000 },
      { expiresAt: 9_000 },
      { usesLeft: 3 },
      { usesLeft: 3 },
    ];
    await storage.rules.addIfNew(newRule({ id: storage.newId() }), ANY_RULES);
    for (const other of others)
      expect([
        other,
        (await storage.rules.addIfNew(newRule({ id: storage.newId(), ...other }), ANY_RULES)).outcome,
      ]).toEqual([other, "added"]);
    // Rules from the settings are deleted when the settings are replaced, so they don't count as the same rule.
    await storedRule(storage, { match: "Bash(set)", reason: null, sessionId: session.id, isSetting: true });
    const kept = newRule({ id: storage.newId(), match: "Bash(set)", sessionId: session.id });
    expect((await storage.rules.addIfNew(kept, ANY_RULES)).outcome).toBe("added");
  });

  test("expired and used-up rules are deleted, at most `limit` at a time, and no others", async () => {
    await using opened = await open();
    const { storage } = opened;
    const kept = [
      await storedRule(storage),
      await storedRule(storage, { expiresAt: NOW + 1 }),
      await storedRule(storage, { usesLeft: 1 }),
    ];
    for (const given of [{ expiresAt: NOW - 1 }, { usesLeft: 0 }, { expiresAt: 1 }]) await storedRule(storage, given);
    expect([await storage.rules.removeSpent(NOW, 2), await storage.rules.removeSpent(NOW, 2)]).toEqual([2, 1]);
    const { rules } = await storage.rules.book();
    expect(rules.map(({ id }) => id)).toEqual(kept.map(({ id }) => id));
  });

  test("revoking a token deletes its allow rules and keeps its deny rules", async () => {
    await using opened = await open();
    const { storage } = opened;
    const token = newToken();
    await storage.tokens.createIfNameFree(token);
    const owner = `token:${token.id}`;
    const session = await storedSession(storage, { owner });
    const own = { owner, createdBy: owner };
    const allows = [await storedRule(storage, own), await storedRule(storage, { ...own, sessionId: session.id })];
    const kept = [
      await storedRule(storage, { ...own, decision: "deny" }),
      await storedRule(storage, { ...own, decision: "ask", sessionId: session.id }),
      await storedRule(storage, { owner, createdBy: "operator" }),
      await storedRule(storage, { createdBy: "token:another" }),
    ];
    const judged = await judgedBy(storage, ...allows);
    await storage.tokens.revoke(token.id, owner, NOW);
    const { rules } = await storage.rules.book();
    expect(rules.map(({ id }) => id)).toEqual(kept.map(({ id }) => id));
    expect(await storage.approvals.file(newApproval(), ANY_PENDING, judged)).toEqual({ outcome: "stale" });
  });

  test("deleting a session deletes its rules, and no others", async () => {
    await using opened = await open();
    const { storage } = opened;
    const [session, other] = [await storedSession(storage), await storedSession(storage)];
    await storedRule(storage, { sessionId: session.id });
    await storedRule(storage, { sessionId: session.id, isSetting: true, decision: "deny" });
    const kept = [await storedRule(storage, { sessionId: other.id }), await storedRule(storage)];
    const version = await storage.rules.version();
    await storage.sessions.removeIfIdle(session.id);
    const book = await storage.rules.book();
    expect(book.rules.map(({ id }) => id)).toEqual(kept.map(({ id }) => id));
    expect(book.version).not.toBe(version);
  });

  test("a session and its rules are created together or not at all, and so are changes of both", async () => {
    await using opened = await open();
    const { storage } = opened;
    const session = newSession({ kind: "managed", config: newConfig() });
    const setting = { sessionId: session.id, isSetting: true };
    const first = newRule({ id: storage.newId(), ...setting });
    const { createIfNameFree, updateIfUnchanged } = storage.sessions;
    const idsOf = async () => (await storage.rules.book()).rules.map(({ id }) => id);
    await createIfNameFree(session, "none", ANY_NUMBER, undefined, { rules: [first], most: ANY_RULES });
    expect(await idsOf()).toEqual([first.id]);
    const again = { ...session, id: storage.newId() };
    expect(
      await createIfNameFree(again, "none", ANY_NUMBER, undefined, {
        rules: [newRule({ ...setting, sessionId: again.id })],
        most: ANY_RULES,
      }),
    ).toEqual({ outcome: "name_taken" });
    expect(await idsOf()).toEqual([first.id]);

    const added = await storedRule(storage, { sessionId: session.id });
    const [next, lost] = [newRule({ id: storage.newId(), ...setting }), newRule({ id: storage.newId(), ...setting })];
    const [from, to] = [newConfig(), newConfig({ max_turns: 3 })];
    await updateIfUnchanged(session.id, { from, to, serversFrom: null, rules: withRoom([next]) }, ANY_NUMBER);
    expect(await idsOf()).toEqual([added.id, next.id]);
    const late = await updateIfUnchanged(
      session.id,
      { from, to, serversFrom: null, rules: withRoom([lost]) },
      ANY_NUMBER,
    );
    expect(late).toEqual({ outcome: "changed" });
    expect(await idsOf()).toEqual([added.id, next.id]);
    const version = await storage.rules.version();
    await updateIfUnchanged(session.id, { from: to, to: from, serversFrom: null, rules: withRoom([]) }, ANY_NUMBER);
    expect(await idsOf()).toEqual([added.id]);
    expect(await storage.rules.version()).not.toBe(version);
  });

  test("settings with too many rules change nothing, and the operator always has room", async () => {
    await using opened = await open();
    const { storage } = opened;
    const { createIfNameFree, updateIfUnchanged } = storage.sessions;
    const by = (createdBy: string, sessionId: string) => newRule({ id: storage.newId(), createdBy, sessionId });
    const most = { ofOwner: 2, inAll: 3, exempt: "operator" };
    const config = newConfig();
    const session = newSession({ kind: "managed", config });
    const start = (createdBy: string, count: number, given = session) => {
      const rules = Array.from({ length: count }, () => by(createdBy, given.id));
      return createIfNameFree(given, "none", ANY_NUMBER, undefined, { rules, most });
    };
    expect(await start("token:1", 3)).toEqual({ outcome: "too_many_rules" });
    expect(await storage.sessions.get(session.id)).toBeUndefined();
    expect(await start("token:1", 2)).toMatchObject({ outcome: "created" });
    const other = newSession({ name: "other", kind: "managed", config });
    expect(await start("token:2", 2, other)).toEqual({ outcome: "too_many_rules" });
    const change = { from: config, to: newConfig({ max_turns: 3 }), serversFrom: null };
    const rules = { rules: [by("token:2", session.id), by("token:2", session.id)], most, madeBy: undefined };
    expect(await updateIfUnchanged(session.id, { ...change, rules }, ANY_NUMBER)).toEqual({
      outcome: "too_many_rules",
    });
    expect((await storage.sessions.get(session.id))?.config).toEqual(config);
    expect(await start("operator", 2, other)).toMatchObject({ outcome: "created" });
    expect((await storage.rules.book()).rules).toHaveLength(4);
  });

  test("a fork inherits the present rules of its parent's settings, and all deny and ask rules of its parent", async () => {
    await using opened = await open();
    const { storage } = opened;
    const parent = await storedSession(storage, { owner: "token:1" });
    const of = { owner: "token:1", createdBy: "token:1", sessionId: parent.id };
    await storedRule(storage, { ...of, match: "Bash(a)", decision: "deny", reason: "no" });
    await storedRule(storage, { ...of, match: "Bash(b)", decision: "ask", reason: null });
    await storedRule(storage, { ...of, match: "Bash(c)" });
    await storedRule(storage, { ...of, match: "Bash(d)", isSetting: true, usesLeft: 2 });
    await storedRule(storage, { ...of, match: "Bash(f)", isSetting: true });
    const removed = await storedRule(storage, { ...of, match: "Bash(e)", isSetting: true });
    await storage.rules.removeIfMade(removed.id, undefined);
    const before = (await storage.rules.book()).rules;
    const fork = newSession({ name: "fork", kind: "managed", config: newConfig() });
    await storage.sessions.createIfNameFree(fork, "shared", ANY_NUMBER, undefined, {
      rules: [],
      most: ANY_RULES,
      boundLike: parent.id,
    });
    const { rules } = await storage.rules.book();
    expect(rules.filter(({ sessionId }) => sessionId === parent.id)).toEqual(before);
    const own = rules.filter(({ sessionId }) => sessionId === fork.id);
    // Of the allow rules, the fork inherits only its creator's own, without those of limited uses.
    expect(own.map(({ match, decision, reason }) => [match, decision, reason])).toEqual([
      ["Bash(a)", "deny", "no"],
      ["Bash(b)", "ask", null],
    ]);
    const ownFork = newSession({ name: "own", owner: "token:1", kind: "managed", config: newConfig() });
    const bound = { rules: [], most: ANY_RULES, boundLike: parent.id };
    await storage.sessions.createIfNameFree(ownFork, "shared", ANY_NUMBER, undefined, bound);
    const inOwn = (await storage.rules.book()).rules.filter(({ sessionId }) => sessionId === ownFork.id);
    expect(inOwn.map(({ match }) => match)).toEqual(["Bash(a)", "Bash(b)", "Bash(f)"]);
    // The rules keep their creator, so the creator's grant still limits them, even if somebody else forked the session.
    expect(own.map(({ owner, createdBy }) => [owner, createdBy])).toEqual(own.map(() => ["operator", "token:1"]));
  });

  test("a remembered decision creates its rule in the same commit", async () => {
    await using opened = await open();
    const { id } = await filed(opened.storage);
    const rule = newRule({ id: opened.storage.newId(), fromApprovalId: id });
    const version = await opened.storage.rules.version();
    const remember = { rule, most: ANY_RULES };
    expect(await opened.storage.approvals.settleIfPending(id, outcome(), undefined, remember)).toMatchObject({
      outcome: "settled",
    });
    const storage = await opened.reopen();
    expect((await storage.rules.book()).rules).toMatchObject([{ id: rule.id, fromApprovalId: id, hits: 0 }]);
    expect(await storage.rules.version()).not.toBe(version);
    expect((await storage.approvals.get(id))?.status).toBe("allowed");
  });

  test("if decisions race, only the winning one is remembered", async () => {
    await using opened = await open();
    const { storage } = opened;
    await repeated(async (round) => {
      const { id } = await filedUnderAnyRules(storage);
      const rules = ["a", "b", "c"].map((name) => newRule({ id: storage.newId(), match: `Bash(${name} ${round})` }));
      const settled = await raced(
        opened,
        rules.map(
          (rule) => (one) => one.approvals.settleIfPending(id, outcome(), undefined, { rule, most: ANY_RULES }),
        ),
      );
      const winners = rules.filter((_, index) => settled[index]?.outcome === "settled");
      const stored = await Promise.all(rules.map((rule) => storage.rules.get(rule.id)));
      expect(stored.flatMap((rule) => rule?.id ?? [])).toEqual(winners.map((rule) => rule.id));
      expect(winners).toHaveLength(1);
    });
  });

  test("a decision remembered by an existing rule returns that rule, and needs no room", async () => {
    await using opened = await open();
    const { storage } = opened;
    const stored = newRule({ id: storage.newId() });
    await storage.rules.addIfNew(stored, ANY_RULES);
    const { id } = await filedUnderAnyRules(storage);
    const remember = { rule: newRule({ id: storage.newId(), fromApprovalId: id }), most: { ofOwner: 0, inAll: 0 } };
    expect(await storage.approvals.settleIfPending(id, outcome(), undefined, remember)).toMatchObject({
      outcome: "settled",
      rule: { id: stored.id },
    });
    expect((await storage.rules.book()).rules).toHaveLength(1);
  });

  test("without room for its rule nothing is decided; a later decider still learns who was first", async () => {
    await using opened = await open();
    const { storage } = opened;
    const { id } = await filed(storage, { owner: "token:1" });
    const remember = { rule: newRule(), most: { ofOwner: 0, inAll: 9 } };
    const decide = (owner?: string) =>
      storage.approvals.settleIfPending(id, outcome(), { owner, token: undefined }, remember);
    expect(await decide()).toEqual({ outcome: "too_many_rules" });
    expect((await storage.approvals.get(id))?.status).toBe("pending");
    expect(await decide("token:2")).toEqual({ outcome: "unknown" });
    await storage.approvals.settleIfPending(id, outcome(), undefined);
    expect(await decide()).toMatchObject({ outcome: "settled_before" });
    expect((await storage.rules.book()).rules).toEqual([]);
  });
}
