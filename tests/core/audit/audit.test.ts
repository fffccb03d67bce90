import { describe, expect, test } from "bun:test";
import { allow, OPERATOR, stoppedClock, temporaryCore } from "../open-core.ts";
import { DAY_MS, decideAll, decidedCore, listed, readsAlone, tamper, textOf } from "./audited.ts";

describe("the hash chains", () => {
  test("match the decisions of people, deadlines and built-in rules, delivered at once or later", async () => {
    await using core = await decidedCore();
    expect(await core.auditCheck.verify()).toMatchObject({
      intact: true,
      chains: [
        { chain: "decisions", entries: 7, forgotten_through: -1 },
        { chain: "builtin", entries: 3, forgotten_through: -1 },
      ],
      problems: [],
    });
  });

  test.each<[string, string, string]>([
    ["a decision", "UPDATE loopback_approvals SET status='allowed' WHERE status='denied'", "changed: status"],
    [
      "who decided",
      "UPDATE loopback_approvals SET resolved_by='operator' WHERE status='timed_out'",
      "changed: decided_by",
    ],
    [
      "what was asked",
      "UPDATE loopback_approvals SET input='{\"command\":\"ls\"}' WHERE status='denied'",
      "changed: ask_hash",
    ],
    [
      "an edit",
      "UPDATE loopback_approvals SET updated_input='{}' WHERE updated_input IS NOT NULL",
      "changed: updated_input_hash",
    ],
    ["a reason", "UPDATE loopback_approvals SET response_message='sure' WHERE status='denied'", "changed: message"],
    ["a time", "UPDATE loopback_approvals SET resolved_at=resolved_at+1 WHERE status='denied'", "changed: decided_at"],
    [
      "a delivery",
      "UPDATE loopback_approvals SET delivered_at=delivered_at+1 WHERE tool_use_id='late'",
      "delivery was changed",
    ],
    [
      "a late delivery that was taken back",
      "UPDATE loopback_approvals SET delivered_at=NULL WHERE tool_use_id='late'",
      "delivery was changed",
    ],
    [
      "the hash by which an ask is known",
      "UPDATE loopback_approvals SET ask_hash='00' WHERE status='denied'",
      "changed: ask_hash",
    ],
    [
      "a delivery at once",
      "UPDATE loopback_approvals SET delivered_at=delivered_at+1 WHERE status='denied'",
      "changed: delivered_at",
    ],
    ["a decision taken back", "UPDATE loopback_approvals SET status='pending' WHERE status='denied'", "taken back"],
    ["a built-in one", "UPDATE loopback_approvals SET tool_name='Bash' WHERE is_builtin=1", "changed: tool_name"],
    ["a removed one", "DELETE FROM loopback_approvals WHERE status='denied'", "this decision was removed"],
    ["a removed entry", "DELETE FROM audit WHERE chain='decisions' AND seq=3", "from 3 to 3 are missing"],
    ["a removed beginning", "DELETE FROM audit WHERE chain='decisions' AND seq<2", "not forgotten by Plexus"],
    [
      "a changed entry",
      "UPDATE audit SET entry=replace(entry,'denied','allowed') WHERE chain='decisions'",
      "its hash does not fit",
    ],
    [
      "a changed hash",
      `UPDATE audit SET hash='${"0".repeat(64)}' WHERE chain='decisions' AND seq=2`,
      "its hash does not fit",
    ],
    ["no entry at all", "UPDATE audit SET entry='{}' WHERE chain='decisions' AND seq=2", "no entry that this version"],
    [
      "an inserted decision",
      `INSERT INTO loopback_approvals (id, session_id, session_name, owner, tool_name, input, ask_hash, status, created_at, expires_at, resolved_at, resolved_by)
       SELECT 'inserted', session_id, session_name, owner, tool_name, input, ask_hash, 'allowed', created_at, expires_at, ${4e12}, 'operator' FROM loopback_approvals WHERE status='denied'`,
      "in no chain: it was inserted",
    ],
    [
      "one inserted with the place of another",
      `INSERT INTO loopback_approvals (id, session_id, session_name, owner, tool_name, input, ask_hash, status, created_at, expires_at, resolved_at, resolved_by, audit_seq)
       SELECT 'inserted', session_id, session_name, owner, tool_name, input, ask_hash, 'allowed', created_at, expires_at, resolved_at, 'operator', audit_seq FROM loopback_approvals WHERE status='denied'`,
      "in no chain: it was inserted",
    ],
    [
      "one inserted from before the chain",
      `INSERT INTO loopback_approvals (id, session_id, session_name, owner, tool_name, input, ask_hash, status, created_at, expires_at, resolved_at, resolved_by)
       SELECT 'inserted', session_id, session_name, owner, tool_name, input, ask_hash, 'allowed', 1, 2, 3, 'operator' FROM loopback_approvals WHERE status='denied'`,
      "0 decisions from before the chain began were on record, and now there are 1",
    ],
  ])("name %s", async (_, sql, problem) => {
    await using core = await decidedCore();
    tamper(core, sql);
    const report = await core.auditCheck.verify();
    expect({ intact: report.intact, problems: textOf(report) }).toEqual({
      intact: false,
      problems: expect.stringContaining(problem),
    });
  });

  test("still match after more decisions", async () => {
    await using core = await decidedCore();
    await decideAll(core);
    expect((await core.auditCheck.verify()).intact).toBe(true);
  });

  test("accept decisions from before the chains began", async () => {
    await using core = await temporaryCore();
    const session = await core.session();
    using ask = await core.ask(session);
    tamper(core, "UPDATE loopback_approvals SET status='allowed', resolved_at=1, resolved_by='operator'");
    using _ = await core.ask(session);
    await core.approvals.decide(
      OPERATOR,
      (await core.approvals.pending(OPERATOR, undefined, 1)).approvals[0]?.id ?? "",
      allow,
    );
    expect(ask.approvalId).not.toBe("");
    expect(await core.auditCheck.verify()).toMatchObject({ intact: true, problems: [] });
  });

  test("are exported completely, as lines that build on each other", async () => {
    await using core = await decidedCore();
    const lines = await Array.fromAsync(core.auditCheck.export());
    expect(lines).toHaveLength(10);
    for (const { chain, seq, previous, entry, hash } of lines) {
      const before = lines.find((line) => line.chain === chain && line.seq === seq - 1);
      expect(previous).toBe(before?.hash ?? "0".repeat(64));
      expect(new Bun.CryptoHasher("sha256").update(`${previous}\n${entry}`).digest("hex")).toBe(hash);
    }
  });
});

describe("retention", () => {
  test("leaves an intact chain that says how far it was cut", async () => {
    const clock = stoppedClock();
    await using core = await decidedCore({ clock, retentionDays: 30, builtinRetentionDays: 7 });
    clock.advance(8 * DAY_MS);
    await core.retention.sweep();
    expect(await core.auditCheck.verify()).toMatchObject({
      intact: true,
      chains: [
        { chain: "decisions", entries: 7, forgotten_through: -1 },
        { chain: "builtin", entries: 1, forgotten_through: 2 },
      ],
    });
    expect(await listed(core, true)).toHaveLength(5);
    clock.advance(23 * DAY_MS);
    await decideAll(core);
    await core.retention.sweep();
    const report = await core.auditCheck.verify();
    expect(report).toMatchObject({ intact: true, chains: [{ entries: 7, forgotten_through: 6 }, {}] });
    expect(await listed(core, true)).toHaveLength(7);
    tamper(core, "UPDATE audit_checkpoints SET seq=seq-1");
    expect((await core.auditCheck.verify()).intact).toBe(false);
  });

  test("removes decisions of built-in rules first when space is short", async () => {
    const clock = stoppedClock();
    const maxHistoryBytes = 1_500_000;
    await using core = await temporaryCore({ clock, maxHistoryBytes, builtinRule: readsAlone });
    const session = await core.session();
    using asked = await core.ask(session);
    await core.approvals.decide(OPERATOR, asked.approvalId, allow);
    clock.advance(DAY_MS);
    for (let count = 0; count < 300; count++) {
      await core.ask(session, { tool: "Read", input: { file_path: "x".repeat(10_000) } });
    }
    clock.advance(DAY_MS);
    await core.retention.sweep();
    expect(await listed(core, false)).toEqual([asked.approvalId]);
    expect((await listed(core, true)).length).toBeLessThan(200);
    expect((await core.auditCheck.verify()).intact).toBe(true);
  });
});
