import { describe, expect, test } from "bun:test";
import { Approval } from "../../../src/contract/approvals/approval.ts";
import { readChange } from "../../../src/core/events/change-view.ts";
import { allow, type Clock, deny, edit, OPERATOR, stoppedClock, temporaryCore } from "../open-core.ts";
import { DAY_MS, forge, found, foundIn, INTACT, readsAlone, type TestCore, tamper } from "./audited.ts";

const LARGE = { command: "x".repeat(5_000) };

type Cutting = AsyncDisposable & {
  core: TestCore;
  clock: Clock;
  /** Cuts the inputs of the owner's decisions that were made before now. */
  cut(limit?: number, owner?: string): Promise<number>;
};

async function cuttingCore(): Promise<Cutting> {
  const clock = stoppedClock();
  const core = await temporaryCore({ clock, builtinRule: readsAlone });
  return {
    core,
    clock,
    cut: async (limit = 100, owner = "operator") =>
      await core.storage.audit.cutInputs(owner, clock.now(), limit, clock.now()),
    [Symbol.asyncDispose]: () => core[Symbol.asyncDispose](),
  };
}

/** An edited, a denied and a built-in decision on large inputs, and one on a small one. */
async function decideLarge({
  core,
  clock,
}: Cutting): Promise<{ edited: string; denied: string; builtin: string; small: string }> {
  const session = await core.session();
  const decided = async (input: { command: string }, decision = allow) => {
    using asked = await core.ask(session, { input });
    await core.approvals.decide(OPERATOR, asked.approvalId, decision);
    clock.advance(1_000);
    return asked.approvalId;
  };
  const edited = await decided(LARGE, edit({ command: "y".repeat(5_000) }));
  const denied = await decided(LARGE, deny("no"));
  const small = await decided({ command: "x".repeat(4_000) });
  const read = await core.ask(session, { tool: "Read", input: { file_path: "z".repeat(5_000) } });
  clock.advance(1_000);
  return { edited, denied, builtin: read.approvalId, small };
}

describe("audit.cutInputs", () => {
  test("removes large inputs, edited ones too, and keeps the decisions and intact chains", async () => {
    await using cutting = await cuttingCore();
    const { core, clock, cut } = cutting;
    const { edited, denied, builtin, small } = await decideLarge(cutting);
    const before = await core.approvals.get(OPERATOR, denied);
    expect(await cut()).toBe(3);
    const input_removed_at = clock.now() / 1_000;
    expect(Approval.parse(await core.approvals.get(OPERATOR, denied))).toEqual({
      ...before,
      input: {},
      input_removed_at,
    });
    expect(await core.approvals.get(OPERATOR, edited)).toMatchObject({
      input: {},
      updated_input: {},
      input_removed_at,
    });
    expect(await core.approvals.get(OPERATOR, builtin)).toMatchObject({
      input: {},
      updated_input: null,
      input_removed_at,
    });
    expect(await core.approvals.get(OPERATOR, small)).not.toHaveProperty("input_removed_at");
    expect(await foundIn(core)).toEqual(INTACT);
    const lines = await Array.fromAsync(core.auditCheck.export());
    const cuts = lines.flatMap(({ chain, entry }) => (entry.includes('"cut"') ? { chain, ...JSON.parse(entry) } : []));
    expect(cuts).toEqual([
      { chain: "decisions", kind: "cut", at: clock.now(), approval_ids: [edited, denied] },
      { chain: "builtin", kind: "cut", at: clock.now(), approval_ids: [builtin] },
    ]);
    expect(await cut()).toBe(0);
    for (const kind of ["approval_requested", "approval_resolved"] as const) {
      const change = { id: 1, kind, owner: "operator", sessionId: "s", subjectId: denied, at: 1 };
      expect(await readChange(core.storage, change)).toMatchObject({ type: kind, input_removed_at });
    }
  });

  test("cuts the oldest first, up to the limit, of one owner only", async () => {
    await using cutting = await cuttingCore();
    const { core, cut } = cutting;
    const { edited, denied } = await decideLarge(cutting);
    expect(await cut(100, "token:other")).toBe(0);
    expect(await cut(1)).toBe(1);
    expect(await core.approvals.get(OPERATOR, edited)).toHaveProperty("input_removed_at");
    expect(await core.approvals.get(OPERATOR, denied)).not.toHaveProperty("input_removed_at");
  });

  test("keeps the inputs of later decisions, and of decisions that are in no chain", async () => {
    await using cutting = await cuttingCore();
    const { core, clock, cut } = cutting;
    const session = await core.session();
    using old = await core.ask(session, { input: LARGE });
    tamper(core, "UPDATE loopback_approvals SET status='denied', resolved_at=1, resolved_by='operator'");
    using young = await core.ask(session, { input: LARGE });
    await core.approvals.decide(OPERATOR, young.approvalId, deny("no"));
    expect(await cut()).toBe(0);
    clock.advance(1);
    expect(await cut()).toBe(1);
    expect(await core.approvals.get(OPERATOR, old.approvalId)).not.toHaveProperty("input_removed_at");
  });

  test("keeps the inputs of pending approvals, and of an allow that was not delivered yet", async () => {
    await using cutting = await cuttingCore();
    const { core, clock, cut } = cutting;
    const session = await core.session();
    using pending = await core.ask(session, { input: LARGE });
    const asked = await core.ask(session, { input: LARGE, toolUseId: "late" });
    asked[Symbol.dispose]();
    await core.approvals.decide(OPERATOR, asked.approvalId, edit({ command: "true" }));
    clock.advance(DAY_MS);
    expect(await cut()).toBe(0);
    using late = await core.ask(session, { input: LARGE, toolUseId: "late" });
    expect(await late.answer()).toEqual({ behavior: "allow", updatedInput: { command: "true" } });
    expect(await cut()).toBe(1);
    expect(await core.approvals.get(OPERATOR, pending.approvalId)).not.toHaveProperty("input_removed_at");
    expect(await foundIn(core)).toEqual(INTACT);
  });

  test("keeps the input of an allow until its turn is over", async () => {
    await using cutting = await cuttingCore();
    const { core, clock, cut } = cutting;
    const asked = await core.ask(await core.session(), { input: LARGE });
    asked[Symbol.dispose]();
    await core.approvals.decide(OPERATOR, asked.approvalId, allow);
    tamper(core, "UPDATE loopback_approvals SET asked_in='turn'");
    tamper(
      core,
      `INSERT INTO turns (id, session_id, owner, status, ephemeral, started_at)
       SELECT 'turn', id, 'operator', 'running', 0, 1 FROM sessions`,
    );
    clock.advance(DAY_MS);
    expect(await cut()).toBe(0);
    tamper(core, "UPDATE turns SET status='complete'");
    expect(await cut()).toBe(1);
  });

  test("leaves decisions and entries that retention can still remove", async () => {
    await using cutting = await cuttingCore();
    const { core, clock, cut } = cutting;
    await decideLarge(cutting);
    await cut();
    clock.advance(31 * DAY_MS);
    await decideLarge(cutting);
    await core.retention.sweep();
    await cut();
    expect(await foundIn(core)).toEqual(INTACT);
    expect(core.errors).toEqual([]);
  });
});

describe("an input that Plexus did not remove is found:", () => {
  test.each([
    [
      "a row that says so",
      "UPDATE loopback_approvals SET input='{}', input_cut_at=5 WHERE status='denied'",
      "its input was not removed by Plexus",
    ],
    [
      "a row that says so and still has its input",
      "UPDATE loopback_approvals SET input_cut_at=5 WHERE status='denied'",
      "its input was not removed by Plexus",
    ],
    ["one without", "UPDATE loopback_approvals SET input='{}' WHERE status='denied'", "changed: ask_hash"],
  ])("%s", async (_, sql, problem) => {
    await using cutting = await cuttingCore();
    await decideLarge(cutting);
    tamper(cutting.core, sql);
    expect(await foundIn(cutting.core)).toEqual(found(problem));
  });

  test("a row that is in no chain", async () => {
    await using cutting = await cuttingCore();
    const { core } = cutting;
    const asked = await core.ask(await core.session());
    asked[Symbol.dispose]();
    tamper(core, "UPDATE loopback_approvals SET status='allowed', resolved_at=1, resolved_by='operator'");
    await decideLarge(cutting);
    expect(await foundIn(core)).toEqual(INTACT);
    tamper(core, "UPDATE loopback_approvals SET input_cut_at=5 WHERE resolved_at=1");
    expect(await foundIn(core)).toEqual(found("changed: input_cut_at"));
  });
});

describe("a decision without its input is still compared:", () => {
  test.each([
    ["another input", 'input=\'{"command":"ls"}\'', "changed: ask_hash"],
    ["another hash of the input", "ask_hash='00'", "changed: ask_hash"],
    ["an edited input that was none", "updated_input='{}'", "changed: updated_input_hash"],
    ["another status", "status='allowed'", "changed: status"],
    ["another moment", "input_cut_at=input_cut_at-1", "its row does not say so"],
    ["no moment", "input_cut_at=NULL", "its row does not say so"],
  ])("%s", async (_, change, problem) => {
    await using cutting = await cuttingCore();
    await decideLarge(cutting);
    await cutting.cut();
    tamper(cutting.core, `UPDATE loopback_approvals SET ${change} WHERE status='denied'`);
    expect(await foundIn(cutting.core)).toEqual(found(problem));
  });

  test("a removed edit", async () => {
    await using cutting = await cuttingCore();
    await decideLarge(cutting);
    await cutting.cut();
    tamper(cutting.core, "UPDATE loopback_approvals SET updated_input=NULL");
    expect(await foundIn(cutting.core)).toEqual(found("changed: updated_input_hash"));
  });

  test("a cut entry in the other chain", async () => {
    await using cutting = await cuttingCore();
    const { builtin } = await decideLarge(cutting);
    tamper(cutting.core, "UPDATE loopback_approvals SET input='{}', input_cut_at=5 WHERE is_builtin=1");
    forge(cutting.core, { kind: "cut", at: 5, approval_ids: [builtin] }, 5);
    expect(await foundIn(cutting.core)).toEqual(found("its input was not removed by Plexus"));
  });
});
