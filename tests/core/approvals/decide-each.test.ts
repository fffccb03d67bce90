import { describe, expect, test } from "bun:test";
import { DecisionBatch, type ReadDecision } from "../../../src/contract/approvals/decision.ts";
import type { Change } from "../../../src/contract/change.ts";
import type { Principal } from "../../../src/core/access/principals.ts";
import { createDecide } from "../../../src/core/approvals/decide.ts";
import type { DecisionRules } from "../../../src/core/rulebook/decision-rules.ts";
import { ANY_PENDING, newApproval, newToken, UNRULED } from "../../storage/rows.ts";
import { type TemporaryStorage, temporaryStorage } from "../../storage/sqlite/support/temporary-storage.ts";

const OPERATOR: Principal = { kind: "operator" };
const CI = { kind: "token", id: "t-1", name: "ci" } as const;
const CHILD: Principal = { kind: "session", sessionId: "session-1" };

const batch = (decisions: object[]): ReadDecision[] => DecisionBatch.parse({ decisions }).decisions;
const allowing = (ids: string[], given: object = {}) =>
  batch(ids.map((approval_id) => ({ approval_id, approve: true, ...given })));

async function filed(storage: TemporaryStorage, count: number, owner = "operator"): Promise<string[]> {
  const asked = Array.from({ length: count }, () => newApproval({ id: storage.newId(), owner }));
  await Promise.all(asked.map((one) => storage.approvals.file(one, ANY_PENDING, UNRULED)));
  return asked.map(({ id }) => id);
}

/** Rules that limit nobody and create nothing. */
const NO_RULES: DecisionRules = {
  isBounded: async () => false,
  checkAllow: async () => {},
  escalates: async () => false,
  rememberedBy: async () => ({}),
  whyAsked: async () => undefined,
  toRemember: () => Promise.reject(new Error("nothing is remembered")),
  remembered: () => Promise.reject(new Error("nothing is remembered")),
};

const NO_DANGERS = { dangersOfEdit: async () => [] };

function open(storage: Pick<TemporaryStorage, "approvals">) {
  const errors: unknown[] = [];
  return {
    errors,
    ...createDecide({
      storage,
      rules: NO_RULES,
      views: NO_DANGERS,
      now: () => 2_000,
      onError: (cause) => void errors.push(cause),
    }),
  };
}

describe("approvals.decideEach", () => {
  test("stores all decisions, edits included, in one commit and in their order", async () => {
    const commits: Change[][] = [];
    await using storage = await temporaryStorage((changes) => commits.push(changes));
    const ids = await filed(storage, 100);
    commits.length = 0;
    const given = ids.map((approval_id, at) => ({
      approval_id,
      approve: at % 3 > 0,
      ...(at % 3 === 1 && { updated_input: { command: `${at}` } }),
    }));
    const results = await open(storage).decideEach(OPERATOR, batch(given));
    expect(results.map(({ type }) => type)).toEqual(ids.map(() => "ok"));
    expect(commits.map((changes) => changes.map(({ subjectId }) => subjectId))).toEqual([ids]);
  });

  test("lets exactly one of several simultaneous deciders decide each approval, alone or in a batch", async () => {
    await using storage = await temporaryStorage();
    await storage.tokens.createIfNameFree(newToken({ id: CI.id }));
    const { decide, decideEach } = open(storage);
    const ids = await filed(storage, 40, "token:t-1");
    const [first, second, ...alone] = await Promise.all([
      decideEach(OPERATOR, allowing(ids, { message: "operator" })),
      decideEach(CI, allowing(ids.toReversed(), { updated_input: { command: "ci" } })),
      ...ids.map((id) => decide(CI, id, { approve: false, message: "alone" })),
    ]);
    const results = [...first, ...second, ...alone];
    for (const id of ids) {
      const own = results.filter((one) => one.approval_id === id);
      expect(own.map(({ type }) => type).sort()).toEqual(["already_resolved", "already_resolved", "ok"]);
      const row = await storage.approvals.get(id);
      const told = own.flatMap((one) => (one.type === "already_resolved" ? [one.resolved_by] : []));
      expect(told).toEqual([row?.resolvedBy ?? "", row?.resolvedBy ?? ""]);
    }
  });

  test("gives a child and a stranger the same refusal for existing and unknown approvals", async () => {
    await using storage = await temporaryStorage();
    await storage.tokens.createIfNameFree(newToken({ id: CI.id }));
    const { decideEach } = open(storage);
    const [known = ""] = await filed(storage, 1);
    const unknown = "01a1e2f0-1279-72c5-be7a-33ff4c1ca52d";
    for (const principal of [CI, CHILD]) {
      for (const given of [{}, { updated_input: { a: 1 } }, { answers: { a: "b" } }]) {
        const [one, other] = await decideEach(principal, allowing([known, unknown], given));
        expect(JSON.stringify(one).replaceAll(known, "")).toBe(JSON.stringify(other).replaceAll(unknown, ""));
        expect(one).toMatchObject({ type: "refused", error: { code: "not_found" } });
      }
    }
    expect((await storage.approvals.get(known))?.status).toBe("pending");
  });

  test("decides nothing for a token that is revoked while the edits are checked", async () => {
    await using storage = await temporaryStorage();
    await storage.tokens.createIfNameFree(newToken({ id: CI.id }));
    const [edited = "", plain = ""] = await filed(storage, 2, "token:t-1");
    const get: typeof storage.approvals.get = async (id) => {
      const asked = await storage.approvals.get(id);
      await storage.tokens.revoke(CI.id, "token:t-1", 2_000);
      return asked;
    };
    const { decideEach } = open({ approvals: { ...storage.approvals, get } });
    const edit = { approval_id: edited, approve: true, updated_input: { command: "other" } };
    const results = await decideEach(CI, batch([edit, { approval_id: plain, approve: true }]));
    expect(results).toMatchObject([
      { type: "refused", error: { code: "unauthorized" }, approval_id: edited },
      { type: "refused", error: { code: "unauthorized" }, approval_id: plain },
    ]);
    for (const id of [edited, plain]) expect((await storage.approvals.get(id))?.status).toBe("pending");
  });

  test("reports an unexpected error, refuses that one decision, and makes the others", async () => {
    await using storage = await temporaryStorage();
    const ids = await filed(storage, 3);
    const settleIfPending: typeof storage.approvals.settleIfPending = async (id, ...rest) => {
      if (id === ids[1]) throw new TypeError("a bug");
      return storage.approvals.settleIfPending(id, ...rest);
    };
    const { decideEach, errors } = open({ approvals: { ...storage.approvals, settleIfPending } });
    const results = await decideEach(OPERATOR, allowing(ids));
    expect(results).toMatchObject([
      { type: "ok" },
      { type: "refused", error: { code: "internal" }, approval_id: ids[1] },
      { type: "ok" },
    ]);
    expect(errors).toEqual([expect.any(TypeError)]);
    expect((await storage.approvals.get(ids[1] ?? ""))?.status).toBe("pending");
  });

  test("decides nothing by a refused edit, and takes the next decision on the same approval", async () => {
    await using storage = await temporaryStorage();
    const { decideEach } = open(storage);
    const [id = ""] = await filed(storage, 1);
    const bad = { approval_id: id, approve: true, updated_input: { other: 1 } };
    const [first, second] = await decideEach(OPERATOR, batch([bad, { approval_id: id, approve: false }]));
    expect(first).toMatchObject({ type: "refused", error: { code: "invalid_arguments" } });
    expect(second).toMatchObject({ type: "ok", status: "denied" });
  });

  test("checks one edit of an approval, and refuses the others without a read", async () => {
    await using storage = await temporaryStorage();
    const { decideEach } = open(storage);
    const [id = ""] = await filed(storage, 1);
    let reads = 0;
    const get = storage.approvals.get;
    storage.approvals.get = (one) => {
      reads++;
      return get(one);
    };
    const asked = (await get(id))?.input ?? {};
    const edit = { approval_id: id, approve: true, updated_input: { ...asked, added: 1 } };
    const [first, ...others] = await decideEach(OPERATOR, batch(Array.from({ length: 50 }, () => edit)));
    expect(first).toMatchObject({ type: "ok", status: "allowed" });
    for (const other of others) expect(other).toMatchObject({ type: "refused", error: { code: "invalid_arguments" } });
    expect(reads).toBe(1);
  });
});
