import { describe, expect, test } from "bun:test";
import { AuditReport } from "../../../src/contract/audit.ts";
import { allow, OPERATOR, stoppedClock, temporaryCore } from "../open-core.ts";
import { decidedCore, forge, found, foundIn, INTACT, type TestCore, tamper } from "./audited.ts";

const FORGED = "01999999-0000-7000-8000-000000000001";

describe("an inserted decision is found", () => {
  test.each([
    ["decisions", "begins", 0],
    ["decisions", "delivered", 0],
    ["builtin", "begins", 1],
  ])("that claims the entry of chain %s that says %s", async (chain, kind, isBuiltin) => {
    await using core = await decidedCore();
    const place = `chain='${chain}' AND entry LIKE '{"kind":"${kind}"%'`;
    insert(core, { auditSeq: `(SELECT seq FROM audit WHERE ${place})`, isBuiltin });
    tamper(core, `UPDATE audit SET approval_id=? WHERE ${place}`, FORGED);
    expect(await foundIn(core)).toEqual(found("in no chain: it was inserted"));
  });

  test("that names an entry outside of the chain which names it", async () => {
    await using core = await decidedCore();
    insert(core, { auditSeq: "-5" });
    tamper(
      core,
      `INSERT INTO audit (chain, seq, approval_id, at, entry, hash)
       SELECT chain, -5, ?, at, replace(entry, approval_id, ?), hash FROM audit WHERE chain='decisions' AND seq=2`,
      FORGED,
      FORGED,
    );
    expect(await foundIn(core)).toEqual(found("in no chain: it was inserted"));
  });

  test("whose id comes before every other", async () => {
    await using core = await decidedCore();
    insert(core, { id: "", auditSeq: "0" });
    expect(await foundIn(core)).toEqual(found("in no chain: it was inserted"));
  });
});

test.each([
  ["approval_id", "UPDATE audit SET approval_id=NULL WHERE chain='decisions' AND seq=1"],
  ["approval_id", "UPDATE audit SET approval_id='x' WHERE chain='decisions' AND seq=0"],
  ["at", "UPDATE audit SET at=1 WHERE chain='decisions' AND seq=2"],
])("an entry whose row has another %s is reported", async (column, sql) => {
  await using core = await decidedCore();
  tamper(core, sql);
  expect(await foundIn(core)).toEqual(found(`beside it stands another ${column}`));
});

test.each([
  [
    "number",
    "INSERT INTO audit SELECT chain, 'x', approval_id, at, entry, hash FROM audit LIMIT 1",
    "it has no number",
  ],
  ["number", "UPDATE audit SET seq=6.5 WHERE chain='decisions' AND seq=6", "it has no number"],
  ["hash", "UPDATE audit SET hash=x'00' WHERE chain='decisions' AND seq=6", "its hash does not fit"],
  ["entry", "UPDATE audit SET entry=x'00' WHERE chain='decisions' AND seq=6", "its hash does not fit"],
  ["id", "UPDATE loopback_approvals SET id=CAST(id AS BLOB) WHERE status='denied'", "this decision was removed"],
])("a %s of another type is found, and the report is still one", async (_, sql, problem) => {
  await using core = await decidedCore();
  tamper(core, sql);
  expect(await foundIn(core)).toEqual(found(problem));
  AuditReport.parse(JSON.parse(JSON.stringify(await core.auditCheck.verify())));
});

describe("a delivery that is replayed is found", () => {
  const call = { input: { command: "pay 100" }, toolUseId: "pay" };

  test("if the time of the first delivery is restored", async () => {
    const clock = stoppedClock();
    await using core = await temporaryCore({ clock });
    const session = await core.session();
    const first = await core.ask(session, call);
    await core.approvals.decide(OPERATOR, first.approvalId, allow);
    await first.answer();
    first[Symbol.dispose]();
    const deliveredAt = clock.now();
    clock.advance(1_000);
    tamper(core, "UPDATE loopback_approvals SET delivered_at=NULL");
    using again = await core.ask(session, call);
    expect(await again.answer()).toMatchObject({ behavior: "allow" });
    tamper(core, "UPDATE loopback_approvals SET delivered_at=?", deliveredAt);
    expect(await foundIn(core)).toEqual(found("it was delivered twice"));
  });

  test("if the first delivery was late", async () => {
    await using core = await temporaryCore();
    const session = await core.session();
    const asked = await core.ask(session, call);
    asked[Symbol.dispose]();
    await core.approvals.decide(OPERATOR, asked.approvalId, allow);
    for (const isReplayed of [false, true]) {
      if (isReplayed) tamper(core, "UPDATE loopback_approvals SET delivered_at=NULL");
      using late = await core.ask(session, call);
      expect(await late.answer()).toMatchObject({ behavior: "allow" });
    }
    expect(await foundIn(core)).toEqual(found("it was delivered twice"));
  });

  test("if the chain has no such decision", async () => {
    await using core = await decidedCore();
    forge(core, { kind: "delivered", approval_id: FORGED, delivered_at: 5 }, 5, FORGED);
    expect(await foundIn(core)).toEqual(found("a decision was delivered that the chain does not have"));
  });

  test("unless the decision is older than the chain", async () => {
    await using core = await temporaryCore();
    const session = await core.session();
    const asked = await core.ask(session, call);
    asked[Symbol.dispose]();
    tamper(core, "UPDATE loopback_approvals SET status='allowed', resolved_at=1, resolved_by='operator'");
    using late = await core.ask(session, call);
    expect(await late.answer()).toMatchObject({ behavior: "allow" });
    expect(await foundIn(core)).toEqual(INTACT);
    tamper(core, "UPDATE loopback_approvals SET delivered_at=delivered_at+1");
    expect(await foundIn(core)).toEqual(found("the time of its delivery was changed"));
  });
});

describe("a changed column of a decision is found:", () => {
  test.each([
    ["session_id", "'x'", "session_id"],
    ["session_name", "'x'", "session_name"],
    ["asked_in", "'x'", "asked_in"],
    ["owner", "'token:x'", "owner"],
    ["tool_name", "'Read'", "tool_name, ask_hash"],
    ["tool_use_id", "'x'", "tool_use_id"],
    ["input", "'{}'", "ask_hash"],
    ["input", "'null'", "ask_hash"],
    ["input", "'{'", "its input is no JSON"],
    ["ask_hash", "'x'", "ask_hash"],
    ["status", "'allowed'", "status"],
    ["status", "'denied '", "status"],
    ["response_message", "NULL", "message"],
    ["updated_input", "'{}'", "updated_input_hash"],
    ["interrupt", "1", "interrupt"],
    ["interrupt", "2", "interrupt"],
    ["created_at", "created_at-1", "asked_at"],
    ["expires_at", "expires_at+1", "expires_at"],
    ["resolved_at", "resolved_at-1", "decided_at"],
    ["resolved_by", "'token:x'", "decided_by"],
    ["is_builtin", "1", "is_builtin"],
    ["is_builtin", "2", "is_builtin"],
    ["delivered_at", "delivered_at-1", "delivered_at"],
    ["delivered_at", "NULL", "delivered_at"],
  ])("%s as %s", async (column, value, named) => {
    await using core = await decidedCore();
    tamper(core, `UPDATE loopback_approvals SET ${column}=${value} WHERE status='denied'`);
    expect(await foundIn(core)).toEqual(found(`this decision was changed: ${named}`));
  });

  test("audit_seq", async () => {
    await using core = await decidedCore();
    tamper(core, "UPDATE loopback_approvals SET audit_seq=audit_seq+1 WHERE status='denied'");
    expect(await foundIn(core)).toEqual(found("this decision names another place in the chain"));
  });
});

/** Inserts a forged decision as a copy of a real one. */
function insert(core: TestCore, given: { id?: string; auditSeq: string; isBuiltin?: number }): void {
  tamper(
    core,
    `INSERT INTO loopback_approvals (id, session_id, session_name, asked_in, owner, tool_name, input, ask_hash, status,
       created_at, expires_at, resolved_at, resolved_by, audit_seq, delivered_at, is_builtin)
     SELECT ?, session_id, session_name, asked_in, owner, tool_name, '{"command":"forged"}', ask_hash, 'allowed',
       created_at, expires_at, resolved_at, 'operator', ${given.auditSeq}, resolved_at, ? FROM loopback_approvals
     WHERE status='denied'`,
    given.id ?? FORGED,
    given.isBuiltin ?? 0,
  );
}
