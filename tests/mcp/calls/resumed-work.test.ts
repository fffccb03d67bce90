import { afterEach, beforeEach, describe, expect, setDefaultTimeout, test } from "bun:test";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import type { JsonObject } from "../../../src/contract/values.ts";
import { callEventId, readCallEventId } from "../../../src/mcp/calls/event-id.ts";
import { namedToken } from "../../http/support/callers.ts";
import { RESULT_LINE, writeStandIn } from "../../support/claude/stand-in.ts";
import { get, permitMessage, post } from "../../support/mcp/raw-mcp.ts";
import { type Plexus, startPlexus, OPERATOR_TOKEN as token } from "../../support/server/plexus.ts";
import { type TemporaryDirectory, temporaryDirectory } from "../../support/temporary.ts";
import { until } from "../../support/until.ts";

setDefaultTimeout(60_000);

const operator = { kind: "operator" } as const;
/** Works until the file that its prompt names exists. */
const STAND_IN = `read -r gate; until [ -e "$gate" ]; do sleep 0.02; done; echo '${RESULT_LINE}'`;

let directory: TemporaryDirectory;
let plexus: Plexus;
beforeEach(async () => {
  directory = await temporaryDirectory();
  plexus = await startPlexus({ flags: { claude: writeStandIn(directory.path, STAND_IN) } });
});
afterEach(async () => {
  await plexus[Symbol.asyncDispose]();
  await directory[Symbol.asyncDispose]();
});

const at = (name: string) => join(directory.path, name);
const message = (name: string, args: object) => ({
  jsonrpc: "2.0",
  id: 7,
  method: "tools/call",
  params: { name, arguments: args },
});

/** A call that was cut off while it waited, as the id by which it resumes. */
async function cutOff(tool: string, args: object): Promise<string> {
  const stream = await post(plexus.url, message(tool, args), { token });
  for (let event = await stream.next(); event; event = await stream.next()) {
    if (!event.id || !readCallEventId(event.id)?.state) continue;
    stream.disconnect();
    return event.id;
  }
  throw new Error(`${tool} did not wait`);
}

const resumed = async (id: string, as = token): Promise<JsonObject> =>
  JSON.parse(await (await get(plexus.url, { token: as, headers: { "last-event-id": id } })).answer());
const statusOf = async (id: string) => (await plexus.app.approvals.get(operator, id)).status;

/** A child that requests this command and waits. */
async function asking(command: string) {
  const child = await plexus.child();
  const call = await post(plexus.url, permitMessage({ command }), child);
  const approval = await until("the request", async () => {
    return (await plexus.app.approvals.pending(operator, child.sessionId, 1)).approvals[0];
  });
  return { ...child, id: approval.id, call };
}

describe("loopback_respond, resumed while it waited", () => {
  test("returns the decisions and the next requests", async () => {
    const first = await asking("first");
    const decision = { approval_id: first.id, approve: false, message: "no", wait_secs: 60 };
    const id = await cutOff("loopback_respond", decision);
    expect(JSON.parse(await first.call.answer())).toEqual({ behavior: "deny", message: "no" });
    const { resolved_at } = await plexus.app.approvals.get(operator, first.id);
    const second = await asking("second");
    const answer = await resumed(id);
    expect(answer).toMatchObject({
      type: "ok",
      approval_id: first.id,
      status: "denied",
      wait: { type: "ok", approvals: [{ id: second.id }] },
      untrusted: ["wait"],
    });
    expect(answer["cursor"]).toBe(Object(answer["wait"]).cursor);
    expect(await plexus.app.approvals.get(operator, first.id)).toMatchObject({ resolved_at, response_message: "no" });
    expect(await statusOf(second.id)).toBe("pending");
    second.call.disconnect();
  });

  test("returns the recorded result of each of many decisions, and why one was refused", async () => {
    const [one, taken] = [await asking("one"), await asking("taken")];
    await plexus.app.approvals.decide(operator, taken.id, { approve: true });
    const decisions = [one.id, taken.id, "none"].map((approval_id) => ({ approval_id, approve: false }));
    const waiting = cutOff("loopback_respond", { decisions, wait_secs: 60 });
    const next = await waiting.then(() => asking("next"));
    expect(await resumed(await waiting)).toMatchObject({
      type: "ok",
      results: [
        { type: "ok", approval_id: one.id, status: "denied" },
        { type: "already_resolved", approval_id: taken.id, status: "allowed", resolved_by: "operator" },
        { type: "error", approval_id: "none", code: "not_found" },
      ],
      wait: { type: "ok" },
    });
    for (const { call } of [one, taken, next]) call.disconnect();
  });

  test("decides nothing by a made-up id, and reveals no other owner's approval", async () => {
    const { id, call } = await asking("undecided");
    const { token: stranger } = await namedToken(plexus, "stranger");
    const wait = { since: 0, until: 0 };
    const claimed = (kind: string) => {
      const state = { kind, results: [[id, "ok"]], notes: [], wait };
      return callEventId({ tool: "loopback_respond", id: 7, progressToken: undefined, state }) ?? "";
    };
    for (const as of [token, stranger]) {
      expect(await resumed(claimed("one"), as)).toMatchObject({ type: "error", code: "outcome_unknown" });
      expect(await resumed(claimed("many"), as)).toMatchObject({
        results: [{ type: "error", code: "outcome_unknown" }],
      });
    }
    expect(await statusOf(id)).toBe("pending");
    await plexus.app.approvals.decide(operator, id, { approve: true });
    expect(await resumed(claimed("one"), stranger)).toMatchObject({ type: "error", code: "outcome_unknown" });
    call.disconnect();
  });
});

describe("claudecode_run, resumed while it waited", () => {
  test("waits for its child's turn, and starts no other", async () => {
    const run = { name: "runner", working_dir: directory.path, prompt: `${at("runner")}\n`, wait_secs: 60 };
    const id = await cutOff("claudecode_run", run);
    writeFileSync(at("runner"), "");
    expect(await resumed(id)).toMatchObject({ type: "ok", status: "complete" });
    const session = await plexus.app.sessions.require(operator, "runner");
    expect(await plexus.app.polls.list(operator, session.id, 10)).toHaveLength(1);
  });

  test("reports for each of several children whether it started, and starts none again", async () => {
    const child = { working_dir: directory.path, prompt: `${at("several")}\n` };
    const children = [
      { ...child, name: "several" },
      { ...child, name: "lost", working_dir: at("nowhere") },
      { ...child, name: "../etc" },
      child,
    ];
    const id = await cutOff("claudecode_run", { children, wait_secs: 60 });
    writeFileSync(at("several"), "");
    const session = await plexus.app.sessions.require(operator, "several");
    expect(await resumed(id)).toMatchObject({
      type: "started",
      sessions: [
        { name: "several", session_id: session.id },
        { name: "lost", error: { code: "invalid_arguments", message: expect.any(String) } },
        { name: "../etc", error: { code: "invalid_arguments" } },
        { name: "children[3]", error: { code: "invalid_arguments" } },
      ],
      wait: { type: "ok", finished: [{ name: "several", status: "complete" }] },
    });
    expect(await plexus.app.polls.list(operator, session.id, 10)).toHaveLength(1);
    expect(await plexus.app.sessions.named(operator, "lost")).toBeUndefined();
  });
});
