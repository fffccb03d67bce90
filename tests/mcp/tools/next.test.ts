import { describe, expect, setDefaultTimeout, test } from "bun:test";
import type { Principal } from "../../../src/app.ts";
import type { JsonObject } from "../../../src/contract/values.ts";
import { writeEcho } from "../../support/claude/stand-in.ts";
import type { TestClient } from "../../support/mcp/mcp-client.ts";
import { script } from "../../support/model/scripted-model.ts";
import { startPlexus } from "../../support/server/plexus.ts";
import { bash, startFamily } from "../../support/sessions/family.ts";
import { temporaryDirectory } from "../../support/temporary.ts";
import { until } from "../../support/until.ts";

setDefaultTimeout(120_000);

type Asked = { tool_name: string; input: JsonObject };

const PLAIN: Asked = { tool_name: "Bash", input: { command: "npm test" } };
const OUTSIDE: Asked = { tool_name: "Bash", input: { command: "git push" } };
const writing = (chars: number): Asked => ({
  tool_name: "Write",
  input: { file_path: "a", content: "x".repeat(chars) },
});
const LONG = writing(60_000);
const QUESTION: Asked = {
  tool_name: "AskUserQuestion",
  input: {
    questions: [{ question: "Which?", header: "", multiSelect: false, options: [{ label: "A" }, { label: "B" }] }],
  },
};

const DECIDE = "Decide with loopback_respond.";
const ANSWER = "Answer it with answers of loopback_respond.";
const READ_ONE = "It is cut: read it with loopback_get first.";
const READ_SOME = "Some are cut (truncated): read those with loopback_get first.";
const ESCALATED =
  "It is outside your grant: deny it with loopback_respond, or leave it to the operator and call loopback_wait with its id in skip.";
const SOME_ESCALATED =
  "Those with escalates are outside your grant: deny them, or leave them to the operator and call loopback_wait with their ids in skip.";

/** What a token with this grant may allow by itself. */
const GRANT = ["Bash(npm *)", "Write"];

/** A server, a token, a claude of its own that was started by hand, and children that answer with their prompt. */
async function open({ grant }: { grant?: string[] } = {}) {
  await using stack = new AsyncDisposableStack();
  const { path } = stack.use(await temporaryDirectory());
  const plexus = stack.use(await startPlexus({ flags: { claude: writeEcho(path) } }));
  const { id, token } = await plexus.app.tokens.createNamed("agent", grant);
  const principal: Principal = { kind: "token", id, name: "agent" };
  const agent = await plexus.connect(token);
  const { session } = await plexus.app.sessionCommands.configure(principal, { name: "hand", working_dir: path });
  const ask = async (asked: Asked) => (await plexus.app.approvals.request(session, asked)).approvalId;
  const call = async (tool: string, args: object = {}) => (await agent.call(tool, args)).value;
  const owned = stack.move();
  return {
    agent,
    ask,
    call,
    place: path,
    /** The `next` about these requests in the answer of each tool. */
    async steps(...all: Asked[]): Promise<Record<string, unknown>> {
      const before = await ask(PLAIN);
      await call("loopback_respond", { approval_id: before, approve: true });
      for (const asked of all) await ask(asked);
      const answered = await call("loopback_respond", { approval_id: before, approve: true, wait_secs: 0 });
      const children = [{ name: "helper", prompt: "hang", working_dir: path }];
      const started = await call("claudecode_run", { children, wait_secs: 0 });
      await call("claudecode_delete", { name: "helper" });
      return {
        loopback_wait: (await call("loopback_wait", { timeout_secs: 0 }))["next"],
        loopback_respond: Object(answered["wait"]).next,
        claudecode_run: Object(started["wait"]).next,
        claudecode_poll: (await call("claudecode_poll", { name: "hand" }))["next"],
        loopback_pending: (await call("loopback_pending"))["next"],
      };
    },
    [Symbol.asyncDispose]: () => owned.disposeAsync(),
  };
}

describe("next says of pending requests", () => {
  test.each<[string, Asked[], string]>([
    ["to decide one", [PLAIN], DECIDE],
    ["to answer a question, which an approval alone would leave unanswered", [QUESTION], ANSWER],
    ["to read one first that is cut", [LONG], `${READ_ONE} ${DECIDE}`],
    ["what can be done about one that the caller may not allow, cut or not", [OUTSIDE], ESCALATED],
    ["to read those of several first that are cut", [PLAIN, LONG], `${READ_SOME} ${DECIDE}`],
    ["which of several the caller may not allow", [PLAIN, OUTSIDE], `${DECIDE} ${SOME_ESCALATED}`],
    ["all of that together", [LONG, OUTSIDE, PLAIN], `${READ_SOME} ${DECIDE} ${SOME_ESCALATED}`],
    ["nothing of deciding several of which none is the caller's to allow", [OUTSIDE, OUTSIDE], SOME_ESCALATED],
  ])("%s", async (_, asked, says) => {
    await using world = await open(asked.includes(OUTSIDE) ? { grant: GRANT } : {});
    const { loopback_pending, ...others } = await world.steps(...asked);
    for (const [tool, next] of Object.entries(others)) expect({ tool, next }).toEqual({ tool, next: says });
    const many = "Decide them with loopback_respond: decisions takes up to 100 at once.";
    expect(loopback_pending).toBe(asked.length > 1 ? says.replace(DECIDE, many) : says);
  });

  test("to read a request first only if this answer cuts it", async () => {
    await using world = await open();
    const [decided] = [await world.ask(PLAIN), await world.ask(writing(37_000))];
    const decisions = Array.from({ length: 20 }, () => ({ approval_id: decided, approve: true }));
    const { wait } = await world.call("loopback_respond", { decisions, wait_secs: 0 });
    expect(wait).toMatchObject({ approvals: [{ truncated: true }], next: `${READ_ONE} ${DECIDE}` });
    const alone = await world.call("loopback_wait");
    expect(alone["next"]).toBe(DECIDE);
    expect(JSON.stringify(alone["approvals"])).not.toContain("truncated");
  });

  test("the same to a parent whose chat returns with them", async () => {
    await using family = await startFamily();
    const prompt = (content: string) =>
      script([{ use: [{ name: "Write", input: { file_path: "file", content } }] }, { say: "done" }]);
    const run = { name: "run", working_dir: family.place };
    const short = await family.call("claudecode_run", { ...run, prompt: prompt("short") });
    expect(short).toMatchObject({ status: "awaiting_permission", next: DECIDE });
    await family.create("chat");
    const long = await family.call("claudecode_chat", { name: "chat", prompt: prompt("x".repeat(60_000)) });
    expect(long).toMatchObject({ status: "awaiting_permission", next: `${READ_ONE} ${DECIDE}` });
    for (const name of ["run", "chat"]) await family.call("claudecode_cancel", { name });
  });
});

describe("next of loopback_get", () => {
  const next = async ({ call }: Awaited<ReturnType<typeof open>>, args: object) =>
    (await call("loopback_get", args))["next"];

  test("says to read the rest of a cut request first, and at the end what is left to do", async () => {
    await using world = await open();
    const id = await world.ask(LONG);
    const rest = "Read on from cut_at as offset";
    expect(await next(world, { approval_id: id })).toBe(`${rest} first. ${DECIDE}`);
    expect(await next(world, { approval_id: id, offset: 0 })).toBe("Go on with offset + length as offset.");
    expect(await next(world, { approval_id: id, offset: 59_000 })).toBe(`That was the end. ${DECIDE}`);
    await world.call("loopback_respond", { approval_id: id, approve: true });
    expect(await next(world, { approval_id: id })).toBe(`It is settled, as status says. ${rest}.`);
    expect(await next(world, { approval_id: id, offset: 59_000 })).toBe("That was the end.");
  });

  test("sends no one to decide requests that are not theirs or are already decided", async () => {
    await using world = await open({ grant: GRANT });
    const id = await world.ask(OUTSIDE);
    expect(await next(world, { approval_id: id })).toBe(ESCALATED);
    expect(await next(world, { approval_id: id, offset: 0 })).toBe(`That was the end. ${ESCALATED}`);
    await world.call("loopback_respond", { approval_id: id, approve: false });
    expect(await next(world, { approval_id: id })).toBe("It is settled, as status says.");
  });
});

describe("next of loopback_respond", () => {
  test("says what was not decided, including a decision that came second", async () => {
    await using world = await open({ grant: GRANT });
    const decide = async (...ids: string[]) => {
      const decisions = ids.map((approval_id) => ({ approval_id, approve: true }));
      return (await world.call("loopback_respond", { decisions }))["next"];
    };
    const [one, two, outside] = [await world.ask(PLAIN), await world.ask(PLAIN), await world.ask(OUTSIDE)];
    expect(await decide(outside)).toBe("Nothing was decided: each error says why.");
    expect(await decide(one, outside)).toStartWith("What has an error is not decided");
    expect(await decide(two)).toStartWith("Each result says what holds now.");
    const late = await world.call("loopback_respond", { approval_id: two, approve: false });
    expect(late).toMatchObject({ type: "already_resolved", next: expect.stringContaining("has changed nothing") });
  });

  test("says to go on waiting after a timeout while children run", async () => {
    await using world = await open();
    const id = await world.ask(PLAIN);
    await world.call("claudecode_create", { name: "helper", working_dir: world.place });
    await world.call("claudecode_chat_async", { name: "helper", prompt: "hang" });
    const value = await world.call("loopback_respond", { approval_id: id, approve: true, wait_secs: 0 });
    expect(value["wait"]).toMatchObject({ type: "timeout", next: "Children still run: call loopback_wait." });
    await world.call("claudecode_cancel", { name: "helper" });
  });
});

describe("next of an ended turn", () => {
  const COMPLETE = "Judge the result. Give more work with claudecode_chat.";
  const FAILED = "It failed, as error says. Give it more work with claudecode_chat once that is mended.";
  const CANCELLED = "It was cancelled. Give more work with claudecode_chat.";
  const LIMITED = "max_turns was reached: raise it with claudecode_update, or give the next prompt to go on.";

  test.each([
    ["that failed", { status: 400, message: "no" }, {}, FAILED],
    ["that a limit has ended", { use: [bash("echo one")] }, { max_turns: 1 }, LIMITED],
    ["that is complete", { say: "done" }, {}, COMPLETE],
  ])("says what to do with one %s, whichever tool tells it", async (_, turn, asked, says) => {
    await using family = await startFamily();
    const { parent } = family;
    const run = { name: "worker", working_dir: family.place, prompt: script([turn]), ...asked };
    expect((await parent.call("claudecode_run", run)).value["next"]).toBe(says);
    const polled = async (view: string) =>
      (await parent.call("claudecode_poll", { name: "worker", view })).value["next"];
    expect(await polled("summary")).toBe(says);
    // A complete turn has no error.
    expect(await polled("events")).toBe(says.replace("error says", "its last event says"));
    expect((await parent.call("loopback_wait", { since: 0 })).value["next"]).toBe(says);
  });

  test("says that it was cancelled, also to a caller that waited for it", async () => {
    await using family = await startFamily();
    await family.create("worker");
    const chat = family.parent.call("claudecode_chat", { name: "worker", prompt: script([{ hang: true }]) });
    await until("the model to be asked", () => family.model.requests.length > 0);
    await family.call("claudecode_cancel", { name: "worker" });
    expect((await chat).value).toMatchObject({ status: "cancelled", next: CANCELLED });
    const { value } = await family.parent.call("claudecode_poll", { name: "worker", view: "summary" });
    expect(value).toMatchObject({ error: "The turn was cancelled.", next: CANCELLED });
    expect((await family.parent.call("loopback_wait", { since: 0 })).value).toMatchObject({ next: CANCELLED });
  });

  test("says to judge several ended turns by status, and whether there is more to read", async () => {
    await using world = await open();
    const names = Array.from({ length: 9 }, (_, at) => `worker-${at}`);
    for (const name of names) await world.call("claudecode_create", { name, working_dir: world.place });
    const run = async (name: string, prompt: string) => world.call("claudecode_chat", { name, prompt });
    for (const name of names) await run(name, "x".repeat(3_000));
    const first = await world.call("loopback_wait", { since: 0 });
    expect(first).toMatchObject({
      has_more: true,
      next: expect.stringContaining("There is more to tell: call loopback_wait with this cursor as since."),
    });
    const second = await world.call("loopback_wait", { since: first["cursor"] });
    expect(second["next"]).toBe("Judge the results. Give more work with claudecode_chat.");
    await world.call("claudecode_chat_async", { name: "worker-0", prompt: "hang" });
    await run("worker-1", "done");
    await world.call("claudecode_cancel", { name: "worker-0" });
    const mixed = await world.call("loopback_wait", { since: second["cursor"] });
    expect(mixed["next"]).toBe("Judge each by its status and error. Give more work with claudecode_chat.");
  });
});

describe("next of claudecode_poll says how to read on", () => {
  async function polled(parent: TestClient, args: object) {
    const { value } = await parent.call("claudecode_poll", { name: "worker", limit: 2, ...args });
    return value;
  }

  test("by position, by number, and for a summary with a new consumer", async () => {
    await using family = await startFamily();
    await family.create("worker");
    await family.run("worker", [{ use: [bash("echo one")] }, { use: [bash("echo two")] }, { say: "done" }]);
    const { parent } = family;
    expect(await polled(parent, {})).toMatchObject({ has_more: true, next: "There is more: call this again." });
    const again = await polled(parent, { from_seq: 0 });
    expect(again["next"]).toBe("There is more: go on with the last seq + 1 as from_seq.");
    expect((await polled(parent, { from_seq: 2 }))["events"]).toMatchObject([{ seq: 2 }, { seq: 3 }]);
    const summary = await polled(parent, { from_seq: 0, view: "summary" });
    expect(summary).toMatchObject({ has_more: true, next: expect.stringContaining("read with a new consumer") });
    const inputs = new Set<string>();
    for (let hasMore = true; hasMore; ) {
      const { calls, has_more } = await polled(parent, { view: "summary", consumer: "anew" });
      for (const { input } of calls as { input: string }[]) inputs.add(input);
      hasMore = has_more === true;
    }
    expect([...inputs]).toEqual(["echo one", "echo two"]);
  });
});
