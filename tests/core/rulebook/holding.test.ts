import { describe, expect, test } from "bun:test";
import { connect } from "../../../src/storage/sqlite/database.ts";
import { ANY_RULES, newRule } from "../../storage/rows.ts";
import { startPlexus } from "../../support/server/plexus.ts";
import { temporaryDirectory } from "../../support/temporary.ts";
import { until } from "../../support/until.ts";
import { NEVER_MS, OPERATOR, stoppedClock, temporaryCore } from "../open-core.ts";
import { asking, BASH, ruling, rulingOn, startRuled } from "./ruled.ts";

const TOUCH = BASH("touch one");
const ALLOW = { decision: "allow", match: "Bash(touch *)" } as const;
const DENY = { decision: "deny", match: "Bash(touch *)", reason: "leave it" } as const;

describe("a rule", () => {
  test("decides pending requests and the next call as soon as the answer arrives", async () => {
    await using plexus = await startRuled();
    const session = await plexus.session();
    using waiting = await asking(plexus, session, TOUCH);
    expect(await rulingOn(plexus, waiting)).toMatchObject({ status: "pending" });
    const { id } = await plexus.add(ALLOW);
    expect(await rulingOn(plexus, waiting)).toMatchObject({ status: "allowed", by: `rule:${id}` });
    expect(await waiting.answer()).toEqual({ behavior: "allow", updatedInput: { command: "touch one" } });
    expect(await ruling(plexus, session, BASH("touch two"))).toMatchObject({ status: "allowed", by: `rule:${id}` });
    expect(await ruling(plexus, session, BASH("rm two"))).toMatchObject({ status: "pending" });
  });

  test("denies pending requests with its reason", async () => {
    await using plexus = await startRuled();
    using waiting = await asking(plexus, await plexus.session(), TOUCH);
    await plexus.add(DENY);
    expect(await waiting.answer()).toEqual({ behavior: "deny", message: "leave it" });
  });

  test("without a reason names itself to the child", async () => {
    await using plexus = await startRuled();
    await plexus.add({ decision: "deny", match: "Bash(touch *)" });
    const { status, message } = await ruling(plexus, await plexus.session(), TOUCH);
    expect([status, message]).toEqual(["denied", expect.stringContaining("Bash(touch *)")]);
  });

  test("ends when it is removed or changed", async () => {
    await using plexus = await startRuled();
    const session = await plexus.session();
    const rule = await plexus.add(ALLOW);
    expect(await ruling(plexus, session, TOUCH)).toMatchObject({ status: "allowed" });
    await plexus.app.rules.change(OPERATOR, rule.id, { decision: "deny" });
    expect(await ruling(plexus, session, TOUCH)).toMatchObject({ status: "denied" });
    await plexus.app.rules.remove(OPERATOR, rule.id);
    expect(await ruling(plexus, session, TOUCH)).toMatchObject({ status: "pending" });
    const listed = await plexus.app.rules.list(OPERATOR);
    expect(listed.filter(({ tier }) => tier !== "builtin")).toEqual([]);
  });

  test("counts until it expires and no longer, whether it allows or denies", async () => {
    const clock = stoppedClock();
    await using plexus = await startRuled({ clocks: { now: clock.now, abandonAfterMs: NEVER_MS } });
    const session = await plexus.session();
    for (const rule of [ALLOW, DENY]) {
      await plexus.add({ ...rule, expires_in_secs: 60 });
      clock.advance(59_999);
      expect((await ruling(plexus, session, TOUCH)).status).toBe(rule.decision === "allow" ? "allowed" : "denied");
      clock.advance(1);
      expect((await ruling(plexus, session, TOUCH)).status).toBe("pending");
    }
  });

  test("decides only as many concurrent calls as it has uses; all others need approval", async () => {
    await using plexus = await startRuled();
    const session = await plexus.session();
    const { id } = await plexus.add({ ...ALLOW, uses: 3 });
    const results = await Promise.all(
      Array.from({ length: 12 }, (_, at) => ruling(plexus, session, BASH(`touch ${at}`))),
    );
    const statuses = results.map(({ status }) => status).sort();
    expect(statuses).toEqual([...Array(3).fill("allowed"), ...Array(9).fill("pending")]);
    expect(results.filter(({ by }) => by === `rule:${id}`)).toHaveLength(3);
  });

  test("for a part of a command is used once together with rules for the rest, or not at all", async () => {
    await using plexus = await startRuled();
    const session = await plexus.session();
    const [touch, mkdir] = [
      await plexus.add({ ...ALLOW, uses: 5 }),
      await plexus.add({ decision: "allow", match: "Bash(mkdir *)", uses: 1 }),
    ];
    const both = BASH("touch a && mkdir b && touch c");
    expect(await ruling(plexus, session, both)).toMatchObject({ status: "allowed", by: `rule:${touch.id}` });
    expect(await ruling(plexus, session, both)).toMatchObject({ status: "pending" });
    const listed = await plexus.app.rules.list(OPERATOR);
    expect(listed.find(({ id }) => id === touch.id)).toMatchObject({ uses_left: 4, hits: 1 });
    expect(listed.find(({ id }) => id === mkdir.id)).toBeUndefined();
  });

  test("in shadow mode decides nothing, and records what it would have decided", async () => {
    await using plexus = await startRuled();
    const session = await plexus.session();
    const { id } = await plexus.add({ ...ALLOW, mode: "shadow" });
    for (let count = 0; count < 5; count++) {
      using waiting = await asking(plexus, session, TOUCH);
      expect(await rulingOn(plexus, waiting)).toMatchObject({ status: "pending" });
      await plexus.app.approvals.decide(OPERATOR, waiting.approvalId, { approve: true });
    }
    const shadow = async () => (await plexus.app.rules.list(OPERATOR)).find((rule) => rule.id === id)?.shadow;
    expect(await shadow()).toEqual({ would_decide: 5, contradictions: 0, ready: true });
    using waiting = await asking(plexus, session, TOUCH);
    await plexus.app.approvals.decide(OPERATOR, waiting.approvalId, { approve: false });
    expect(await shadow()).toEqual({ would_decide: 6, contradictions: 1, ready: false });
    await plexus.app.rules.change(OPERATOR, id, { mode: "live" });
    expect(await ruling(plexus, session, TOUCH)).toMatchObject({ status: "allowed" });
  });
});

describe("rules that change all the time", () => {
  test("never decide by an old version: a request made after the answer follows the new rules", async () => {
    await using core = await temporaryCore();
    const session = await core.session();
    const noise = { isOver: false };
    const churn = (async () => {
      for (let count = 0; !noise.isOver; count++) {
        const other = newRule({ id: core.storage.newId(), match: `mcp__other__${count}` });
        await core.storage.rules.addIfNew(other, ANY_RULES);
        await core.ask(await core.session("another"), { tool: `mcp__any__${count % 7}`, input: {} });
        await core.storage.rules.removeIfMade(other.id, undefined);
      }
    })();
    for (let round = 0; round < 30; round++) {
      const {
        rule: { id },
      } = await core.rules.add(OPERATOR, { decision: "deny", match: "mcp__mail" });
      const asks = await Promise.all(
        Array.from({ length: 4 }, () => core.ask(session, { tool: "mcp__mail__send", input: { round } })),
      );
      const rows = await Promise.all(asks.map(({ approvalId }) => core.storage.approvals.get(approvalId)));
      expect(rows.map((row) => row?.resolvedBy)).toEqual(rows.map(() => `rule:${id}`));
      const racing = core.ask(session, { tool: "mcp__mail__read", input: { round } });
      await core.rules.remove(OPERATOR, id);
      await racing;
      using free = await core.ask(session, { tool: "mcp__mail__send", input: { round } });
      expect((await core.storage.approvals.get(free.approvalId))?.status).toBe("pending");
    }
    noise.isOver = true;
    await churn;
    expect(core.errors).toEqual([]);
  }, 60_000);

  test("decide pending requests, however many rules are added at once", async () => {
    await using core = await temporaryCore();
    const session = await core.session();
    for (let round = 0; round < 10; round++) {
      const tools = Array.from({ length: 8 }, (_, at) => `mcp__round${round}__${at}`);
      const asks = await Promise.all(tools.map((tool) => core.ask(session, { tool, input: {} })));
      await Promise.all(tools.map((match) => core.rules.add(OPERATOR, { decision: "deny", match })));
      const rows = await Promise.all(asks.map(({ approvalId }) => core.storage.approvals.get(approvalId)));
      expect(rows.map((row) => row?.status)).toEqual(rows.map(() => "denied"));
    }
  }, 60_000);
});

describe("two servers on one database", () => {
  async function twoServers() {
    await using stack = new AsyncDisposableStack();
    const { path: dataDir } = stack.use(await temporaryDirectory());
    const { path: place } = stack.use(await temporaryDirectory());
    const open = (dataDirId: string) =>
      startPlexus({
        dataDir,
        // Without rereading: each request must find the rules in force by itself.
        clocks: { rereadEveryMs: NEVER_MS },
        openStorage: (path, onCommitted, now = Date.now) =>
          connect(path, { onCommitted, now, isAlone: false, dataDirId }),
      });
    const [first, second] = [stack.use(await open("first")), stack.use(await open("second"))];
    const { session } = await first.app.sessionCommands.configure(OPERATOR, { name: "child", working_dir: place });
    const owned = stack.move();
    return { first, second, session, [Symbol.asyncDispose]: () => owned.disposeAsync() };
  }

  test("apply each other's rules immediately", async () => {
    await using servers = await twoServers();
    const { first, second, session } = servers;
    expect(await ruling(second, session, TOUCH)).toMatchObject({ status: "pending" });
    const {
      rule: { id },
    } = await first.app.rules.add(OPERATOR, ALLOW);
    expect(await ruling(second, session, TOUCH)).toMatchObject({ status: "allowed", by: `rule:${id}` });
    await second.app.rules.remove(OPERATOR, id);
    expect(await ruling(first, session, TOUCH)).toMatchObject({ status: "pending" });
  });

  test("settle each other's pending requests", async () => {
    await using servers = await twoServers();
    const { first, second, session } = servers;
    using waiting = await asking(second, session, TOUCH);
    await first.app.rules.add(OPERATOR, DENY);
    expect(await rulingOn(second, waiting)).toMatchObject({ status: "denied", message: "leave it" });
  });

  test("apply each other's rules to an edited input immediately", async () => {
    await using servers = await twoServers();
    const { first, second, session } = servers;
    using waiting = await asking(second, session, BASH("mkdir one"));
    await first.app.rules.add(OPERATOR, DENY);
    const edited = { approve: true, updated_input: { command: "touch one" } };
    const decided = second.app.approvals.decide(OPERATOR, waiting.approvalId, edited);
    await expect(decided).rejects.toMatchObject({ code: "forbidden", message: expect.stringContaining("leave it") });
    expect(await rulingOn(second, waiting)).toMatchObject({ status: "pending" });
  });

  test("use up one rule together", async () => {
    await using servers = await twoServers();
    const { first, second, session } = servers;
    await first.app.rules.add(OPERATOR, { ...ALLOW, uses: 4 });
    const results = await Promise.all(
      Array.from({ length: 12 }, (_, at) => ruling(at % 2 === 0 ? first : second, session, BASH(`touch ${at}`))),
    );
    expect(results.filter(({ status }) => status === "allowed")).toHaveLength(4);
    await until("the last use to be told", async () => {
      const listed = await second.app.rules.list(OPERATOR);
      return listed.every(({ tier }) => tier === "builtin");
    });
  });
});
