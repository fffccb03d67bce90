import { describe, expect, test } from "bun:test";
import { allow, OPERATOR, stoppedClock, temporaryCore } from "../open-core.ts";
import {
  DAY_MS,
  decidedCore,
  forge,
  found,
  foundIn,
  INTACT,
  listed,
  readsAlone,
  type TestCore,
  tamper,
} from "./audited.ts";

const ZEROS = "0".repeat(64);

describe("retention trusts only hashed values:", () => {
  test("a changed time beside an entry does not make it older", async () => {
    const clock = stoppedClock();
    await using core = await decidedCore({ clock });
    const before = await listed(core, false);
    tamper(core, "UPDATE audit SET at=1 WHERE chain='decisions'");
    await core.retention.sweep();
    expect(await listed(core, false)).toEqual(before);
    expect(await foundIn(core)).toEqual(found("beside it stands another at"));
  });

  test("a changed id beside an old entry removes no other decision", async () => {
    const clock = stoppedClock();
    await using core = await decidedCore({ clock });
    clock.advance(20 * DAY_MS);
    const young = await decide(core, "young");
    tamper(core, "UPDATE audit SET approval_id=? WHERE chain='decisions' AND seq=1", young);
    clock.advance(15 * DAY_MS);
    await core.retention.sweep();
    expect(await listed(core, false)).toEqual([young]);
    expect(await foundIn(core)).toEqual(INTACT);
  });

  test.each([
    ["was changed", "UPDATE audit SET entry=replace(entry,'denied','allowed') WHERE chain='decisions' AND seq=2", 2],
    ["is none", "UPDATE audit SET entry='{}' WHERE chain='decisions' AND seq=2", 2],
    ["is missing", "DELETE FROM audit WHERE chain='decisions' AND seq=2", 2],
    ["has another number", "UPDATE audit SET seq=seq+100 WHERE chain='decisions' AND seq=6", 6],
    ["does not begin the chain", "DELETE FROM audit WHERE chain='decisions' AND seq=0", 0],
  ])(
    "an entry that %s stops it, which is reported once, and other history is still removed",
    async (_, sql, brokenAt) => {
      const clock = stoppedClock();
      await using core = await decidedCore({ clock, maxHistoryBytes: 1 });
      tamper(core, sql);
      clock.advance(40 * DAY_MS);
      for (let times = 0; times < 2; times++) await core.retention.sweep();
      expect((await core.storage.audit.checkpoint("decisions"))?.seq).toBe(brokenAt === 0 ? undefined : brokenAt - 1);
      expect(core.errors.map(String)).toEqual([
        expect.stringMatching(brokenAt === 0 ? "no entry says when it began" : `entry ${brokenAt} does not verify`),
      ]);
      expect(await core.storage.changes.oldestAt()).toBeUndefined();
      expect((await foundIn(core)).intact).toBe(false);
    },
  );
});

describe("a checkpoint that Plexus did not write is found", () => {
  const insertFake = "INSERT INTO audit_checkpoints (chain, seq, hash, chained_since) VALUES (?, ?, ?, ?)";

  test("and hides no inserted decision, whatever retention removes later", async () => {
    const clock = stoppedClock();
    await using core = await temporaryCore({ clock });
    await decide(core, "old");
    clock.advance(20 * DAY_MS);
    await decide(core, "new");
    tamper(core, insertFake, "decisions", -1, ZEROS, 9e15);
    expect(await foundIn(core)).toEqual(found("there is a checkpoint, although nothing was forgotten"));
    clock.advance(15 * DAY_MS);
    insertUnchained(core, clock.now() - 1_000);
    await core.retention.sweep();
    expect(await core.storage.approvals.get("inserted")).toBeDefined();
    expect(await foundIn(core)).toEqual(found("in no chain: it was inserted"));
    expect(await foundIn(core)).toEqual(found("the checkpoint says that the chain began at another time"));
  });

  test("if there is no chain", async () => {
    await using core = await decidedCore();
    tamper(core, "DELETE FROM audit WHERE chain='builtin'");
    tamper(core, "DELETE FROM loopback_approvals WHERE is_builtin=1");
    tamper(core, insertFake, "builtin", 2, ZEROS, 1);
    expect(await foundIn(core)).toEqual(found("there is a checkpoint, although nothing was forgotten"));
  });

  test("if it changes when the chain began", async () => {
    const clock = stoppedClock();
    await using core = await decidedCore({ clock });
    clock.advance(31 * DAY_MS);
    await core.retention.sweep();
    expect(await foundIn(core)).toEqual(INTACT);
    tamper(core, "UPDATE audit_checkpoints SET chained_since=9e14 WHERE chain='decisions'");
    expect(await foundIn(core)).toEqual(found("the checkpoint says that the chain began at another time"));
  });
});

describe("an entry about the chain itself that disagrees with those before it is found:", () => {
  const at = 1_700_000_000_000;
  const forgotten = { kind: "forgotten", at, through_seq: 1, through_hash: ZEROS, chained_since: at, unchained: 0 };
  test.each([
    [{ kind: "begins", at, chained_since: at, unchained: 0 }, "a chain begins only once"],
    [{ ...forgotten, chained_since: at + 1 }, "it says that the chain began at another time"],
    [{ ...forgotten, unchained: 1 }, "it counts more decisions from before the chain than there were"],
    [{ ...forgotten, through_seq: 7 }, "it says that entries were forgotten that came after it"],
  ])("%j", async (entry, problem) => {
    await using core = await decidedCore();
    forge(core, entry, at);
    expect(await foundIn(core)).toEqual(found(problem));
  });

  test("less forgotten than before", async () => {
    await using core = await decidedCore();
    forge(core, { ...forgotten, through_seq: 3 }, at);
    forge(core, { ...forgotten, through_seq: 3 }, at);
    expect(await foundIn(core)).toEqual(found("it says that no more was forgotten than before"));
  });

  test("another beginning", async () => {
    await using core = await temporaryCore();
    tamper(
      core,
      "INSERT INTO audit (chain, seq, approval_id, at, entry, hash) VALUES ('decisions', 0, NULL, ?, '{}', ?)",
      at,
      ZEROS,
    );
    forge(core, forgotten, at);
    tamper(core, "DELETE FROM audit WHERE seq=0");
    tamper(core, "UPDATE audit SET seq=0");
    expect(await foundIn(core)).toEqual(found("a chain begins with another entry than this"));
  });
});

test("the number of decisions from before the chain is carried on, and only shrinks", async () => {
  const clock = stoppedClock();
  await using core = await temporaryCore({ clock });
  insertUnchained(core, clock.now(), "before");
  await decide(core, "old");
  expect(await foundIn(core)).toEqual(INTACT);
  insertUnchained(core, clock.now());
  clock.advance(DAY_MS);
  expect(await core.storage.audit.forgetBefore("decisions", clock.now(), 10, clock.now())).toMatchObject({
    count: 2,
  });
  expect(await foundIn(core)).toEqual(
    found("1 decisions from before the chain began were on record, and now there are 2"),
  );
});

test("a start that was cut off like retention shows in how far the chain reaches back", async () => {
  const clock = stoppedClock();
  await using core = await temporaryCore({ clock });
  await decide(core, "one");
  clock.advance(DAY_MS);
  await decide(core, "two");
  const [, cut] = await Array.fromAsync(core.auditCheck.export());
  const since = clock.now() - DAY_MS;
  tamper(core, "DELETE FROM loopback_approvals WHERE audit_seq<=1");
  tamper(core, "DELETE FROM audit WHERE seq<=1");
  tamper(core, "INSERT INTO audit_checkpoints VALUES ('decisions', 1, ?, ?)", cut?.hash ?? "", since);
  const said = {
    kind: "forgotten",
    at: 1,
    through_seq: 1,
    through_hash: cut?.hash,
    chained_since: since,
    unchained: 0,
  };
  forge(core, said, 1);
  expect(await core.auditCheck.verify()).toMatchObject({
    intact: true,
    chains: [{ forgotten_through: 1, chained_since: since, first_at: since + DAY_MS }, {}],
  });
});

test("entries removed or delivered while the chains are read are no problem", async () => {
  const clock = stoppedClock();
  await using core = await temporaryCore({ clock, builtinRule: readsAlone });
  const session = await core.session();
  const read = { tool: "Read", input: { file_path: "x".repeat(20_000) } };
  for (let count = 0; count < 400; count++) await core.ask(session, read);
  clock.advance(DAY_MS);
  const forgetAfter = clock.now();
  for (let count = 0; count < 100; count++) await core.ask(session, read);
  const call = { input: { command: "true" }, toolUseId: "late" };
  const asked = await core.ask(session, call);
  asked[Symbol.dispose]();
  await core.approvals.decide(OPERATOR, asked.approvalId, allow);
  using late = await core.ask(session, call);
  const forget = async () => await core.storage.audit.forgetBefore("builtin", forgetAfter, 500, clock.now());
  const forgetAll = async () => {
    while ((await forget()).count > 0);
  };
  const [report] = await Promise.all([core.auditCheck.verify(), forgetAll(), late.answer()]);
  expect(report).toMatchObject({ intact: true, problems: [] });
  expect(await foundIn(core)).toEqual(INTACT);
});

test("times that go back are no problem: a clock may be set", async () => {
  let at = 1_700_000_000_000;
  await using core = await temporaryCore({ clock: { now: () => at } });
  await decide(core, "one");
  at -= 3 * DAY_MS;
  await decide(core, "two");
  expect(await foundIn(core)).toEqual(INTACT);
});

async function decide(core: TestCore, command: string): Promise<string> {
  using asked = await core.ask(await core.session(), { input: { command } });
  await core.approvals.decide(OPERATOR, asked.approvalId, allow);
  return asked.approvalId;
}

/** Inserts a decision that is in no chain, like those from before the chains. */
function insertUnchained(core: TestCore, at: number, id = "inserted"): void {
  tamper(
    core,
    `INSERT INTO loopback_approvals (id, session_id, session_name, asked_in, owner, tool_name, input, ask_hash, status,
       created_at, expires_at, resolved_at, resolved_by, delivered_at)
     VALUES (?, 's', 's', 's', 'operator', 'Bash', '{"command":"forged"}', '00', 'allowed', ?, ?, ?, 'operator', ?)`,
    id,
    at,
    at,
    at,
    at,
  );
}
