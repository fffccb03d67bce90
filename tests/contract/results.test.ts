import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { Approval, PermitAnswer, RespondResult, ToolRequestEvent } from "../../src/contract/approvals/approval.ts";
import { ChangeEvent } from "../../src/contract/change.ts";
import { ErrorBody, ErrorResult } from "../../src/contract/errors.ts";
import { ConfigureAnswer, PendingResource } from "../../src/contract/tools/approval-answers.ts";
import { PARENT_TOOLS } from "../../src/mcp/tools/tools.ts";
import type { TestClient, ToolAnswer } from "../support/mcp-client.ts";
import { OPERATOR_TOKEN, type Plexus, startPlexus } from "../support/plexus.ts";
import { get, post } from "../support/raw-mcp.ts";
import { declared } from "../support/tool-answers.ts";
import { until } from "../support/until.ts";
import { expectAnswer, expectRefusal } from "./answer.ts";

const OPERATOR = { kind: "operator" } as const;
const TIMED_OUT = "Approval timed out: nobody decided within 300 seconds. The tool was not run.";
const ARGS = { tool_name: "Bash", input: { command: "ls" }, tool_use_id: "toolu_1" };

/** A server with a session `worker`, its child, and somebody who decides; the clock is moved by hand. */
async function supervised() {
  await using stack = new AsyncDisposableStack();
  let now = Date.now();
  const plexus = stack.use(await startPlexus({ clocks: { now: () => now, rereadEveryMs: 10 } }));
  const worker = await plexus.child("worker");
  const child = await plexus.connect(worker.token);
  const parent = await plexus.connect();
  const owned = stack.move();
  return {
    plexus,
    parent,
    worker,
    child,
    pass: (seconds: number) => {
      now += seconds * 1000;
    },
    /** The child asks; the ask is on record when this returns, and `answered` is what the child is told. */
    async ask(args: object = ARGS) {
      const pending = async () => {
        const { approvals } = await plexus.app.approvals.pending(OPERATOR, undefined, 10);
        return approvals.map((approval) => approval.id);
      };
      const before = await pending();
      const answered = child.call("loopback_permit", args);
      answered.catch(() => {});
      const id = await until("the ask", async () => (await pending()).find((candidate) => !before.includes(candidate)));
      return { id, answered };
    },
    [Symbol.asyncDispose]: () => owned.disposeAsync(),
  };
}

/** The text is exactly the JSON that the CLI parses, and there is nothing else. */
function expectPermit(answer: ToolAnswer, expected: PermitAnswer): void {
  expect(answer.structured).toBeUndefined();
  expect(answer.isError).toBe(false);
  expect(answer.text).toBe(JSON.stringify(answer.value));
  expect(PermitAnswer.parse(answer.value)).toEqual(expected);
}

describe("loopback_permit", () => {
  test("tells the child that it may, with the input that it asked for", async () => {
    await using world = await supervised();
    const { id, answered } = await world.ask();
    await world.parent.call("loopback_respond", { approval_id: id, approve: true });
    expectPermit(await answered, { behavior: "allow", updatedInput: ARGS.input });
  });

  test("tells the child that it may, with another input", async () => {
    await using world = await supervised();
    const { id, answered } = await world.ask();
    await world.parent.call("loopback_respond", {
      approval_id: id,
      approve: true,
      updated_input: { command: "ls -l" },
    });
    expectPermit(await answered, { behavior: "allow", updatedInput: { command: "ls -l" } });
  });

  test("does not echo a large input: {} means the same to the CLI", async () => {
    await using world = await supervised();
    const { id, answered } = await world.ask({ ...ARGS, input: { command: "x".repeat(10_000) } });
    await world.parent.call("loopback_respond", { approval_id: id, approve: true });
    expectPermit(await answered, { behavior: "allow", updatedInput: {} });
  });

  test("tells the child that it may not, and why", async () => {
    await using world = await supervised();
    const { id, answered } = await world.ask();
    await world.parent.call("loopback_respond", { approval_id: id, approve: false, message: "Not in this directory." });
    expectPermit(await answered, { behavior: "deny", message: "Not in this directory." });
  });

  test("has a message even where nobody gave one", async () => {
    await using world = await supervised();
    const { id, answered } = await world.ask();
    await world.parent.call("loopback_respond", { approval_id: id, approve: false });
    expectPermit(await answered, {
      behavior: "deny",
      message: "Denied by operator, without a reason. The tool was not run.",
    });
  });

  test("tells the child to stop", async () => {
    await using world = await supervised();
    const { id, answered } = await world.ask();
    await world.parent.call("loopback_respond", { approval_id: id, approve: false, message: "Stop.", interrupt: true });
    expectPermit(await answered, { behavior: "deny", message: "Stop.", interrupt: true });
  });

  test("tells the child that nobody decided in time", async () => {
    await using world = await supervised();
    const { answered } = await world.ask();
    world.pass(301);
    expectPermit(await answered, { behavior: "deny", message: TIMED_OUT });
  });

  test("is lenient: takes arguments that it doesn't know", async () => {
    await using world = await supervised();
    const { id, answered } = await world.ask({ ...ARGS, permission_suggestions: [], session_id: "not-mine" });
    await world.parent.call("loopback_respond", { approval_id: id, approve: true });
    expectPermit(await answered, { behavior: "allow", updatedInput: ARGS.input });
    expect((await world.plexus.app.approvals.get(OPERATOR, id)).session_id).toBe(world.worker.sessionId);
  });

  test("refuses bad arguments without structured content", async () => {
    await using world = await supervised();
    const answer = await world.child.call("loopback_permit", { tool_name: "Bash" });
    expect(answer.isError).toBe(true);
    expect(answer.structured).toBeUndefined();
    expect(ErrorResult.parse(answer.value).code).toBe("invalid_arguments");
  });
});

describe("loopback_respond", () => {
  test("says what it has recorded", async () => {
    await using world = await supervised();
    const first = await world.ask();
    const allowed = await world.parent.call("loopback_respond", { approval_id: first.id, approve: true });
    expectAnswer("loopback_respond", allowed, { type: "ok", approval_id: first.id, status: "allowed" });
    const second = await world.ask({ ...ARGS, tool_use_id: "toolu_2" });
    const denied = await world.parent.call("loopback_respond", { approval_id: second.id, approve: false });
    expectAnswer("loopback_respond", denied, { type: "ok", approval_id: second.id, status: "denied" });
  });

  test("says who was first, which is no error", async () => {
    await using world = await supervised();
    const { id } = await world.ask();
    await world.parent.call("loopback_respond", { approval_id: id, approve: false });
    const late = await world.parent.call("loopback_respond", { approval_id: id, approve: true });
    expectAnswer("loopback_respond", late, { type: "already_resolved", status: "denied", resolved_by: "operator" });
  });

  test("says that the time was up first", async () => {
    await using world = await supervised();
    const { id } = await world.ask();
    world.pass(301);
    const late = await world.parent.call("loopback_respond", { approval_id: id, approve: true });
    expectAnswer("loopback_respond", late, { type: "already_resolved", status: "timed_out", resolved_by: "timeout" });
  });

  test("refuses an id that it doesn't know", async () => {
    await using world = await supervised();
    const answer = await world.parent.call("loopback_respond", { approval_id: crypto.randomUUID(), approve: true });
    expectRefusal(answer, "not_found");
  });
});

describe("loopback_pending", () => {
  test("lists what waits", async () => {
    await using world = await supervised();
    const { id } = await world.ask();
    const listed = { type: "ok", approvals: [{ id, ...ARGS }], has_more: false };
    expectAnswer("loopback_pending", await world.parent.call("loopback_pending"), listed);
    const ofSession = await world.parent.call("loopback_pending", { session_id: world.worker.sessionId });
    expectAnswer("loopback_pending", ofSession, listed);
  });

  test("lists nothing as []", async () => {
    await using world = await supervised();
    expectAnswer("loopback_pending", await world.parent.call("loopback_pending"), { approvals: [], has_more: false });
  });

  test("lists the oldest first", async () => {
    await using world = await supervised();
    const ids: string[] = [];
    for (const tool_use_id of ["toolu_1", "toolu_2", "toolu_3"])
      ids.push((await world.ask({ ...ARGS, tool_use_id })).id);
    const { value } = await world.parent.call("loopback_pending");
    expect(value["approvals"]).toMatchObject(ids.map((id) => ({ id })));
  });

  test("refuses a session that it doesn't know", async () => {
    await using world = await supervised();
    const answer = await world.parent.call("loopback_pending", { session_id: crypto.randomUUID() });
    expectRefusal(answer, "not_found");
  });
});

describe("loopback_get", () => {
  test("reads one approval", async () => {
    await using world = await supervised();
    const { id } = await world.ask();
    const answer = await world.parent.call("loopback_get", { approval_id: id });
    expectAnswer("loopback_get", answer, { type: "ok", approval: { id, ...ARGS, status: "pending" } });
  });

  test("reads a slice of its input's text", async () => {
    await using world = await supervised();
    const { id } = await world.ask();
    const answer = await world.parent.call("loopback_get", { approval_id: id, offset: 1, length: 9 });
    const part = { approval_id: id, text: '"command"', offset: 1, length: 9, total: 16, has_more: true };
    expectAnswer("loopback_get", answer, { type: "ok", ...part });
  });

  test("refuses an id that it doesn't know", async () => {
    await using world = await supervised();
    const answer = await world.parent.call("loopback_get", { approval_id: crypto.randomUUID() });
    expectRefusal(answer, "not_found");
  });
});

describe("loopback_wait", () => {
  const asked = (id: string) => ({ type: "ok", approvals: [{ id, ...ARGS }], has_more: false, finished: [] });

  test("returns what is pending at once", async () => {
    await using world = await supervised();
    const { id } = await world.ask();
    expectAnswer("loopback_wait", await world.parent.call("loopback_wait"), asked(id));
  });

  test("returns as soon as a child asks", async () => {
    await using world = await supervised();
    const waited = world.parent.call("loopback_wait", { timeout_secs: 60 });
    const { id } = await world.ask();
    expectAnswer("loopback_wait", await waited, asked(id));
  });

  test("says that the time is up, and where to go on", async () => {
    await using world = await supervised();
    const answer = await world.parent.call("loopback_wait", { timeout_secs: 0 });
    expectAnswer("loopback_wait", answer, { type: "timeout", cursor: expect.any(Number) });
  });

  test("takes its cursor as the next since", async () => {
    await using world = await supervised();
    const { value } = await world.parent.call("loopback_wait", { timeout_secs: 0 });
    const { id } = await world.ask();
    const answer = await world.parent.call("loopback_wait", { since: value["cursor"] });
    expectAnswer("loopback_wait", answer, asked(id));
  });
});

describe("loopback_configure", () => {
  const headers = { Authorization: expect.stringMatching(/^Bearer plx_[\w-]+_[\w-]{43}$/) };
  const url = expect.stringMatching(/^http:\/\/127\.0\.0\.1:\d+\/mcp$/);
  const example = declared("loopback_configure").examples[0]?.answer;
  const configured = {
    type: "ok",
    mcp_config: { mcpServers: { plexus: { type: "http", url, headers, timeout: 100_000_000 } } },
    // The last one is the settings, too long for an example.
    args: [...ConfigureAnswer.parse(example).args.slice(0, -1), expect.any(String)],
  };

  test("returns what a claude started by hand needs", async () => {
    await using world = await supervised();
    for (const args of [{ name: "by hand" }, {}]) {
      expectAnswer("loopback_configure", await world.parent.call("loopback_configure", args), configured);
    }
  });

  test("gives a session of the caller's one more token, by its id or its name", async () => {
    await using world = await supervised();
    for (const key of [world.worker.sessionId, "worker"]) {
      const answer = await world.parent.call("loopback_configure", { session_id: key });
      expectAnswer("loopback_configure", answer, { ...configured, session_id: world.worker.sessionId });
    }
  });

  test("refuses a name in use", async () => {
    await using world = await supervised();
    const answer = await world.parent.call("loopback_configure", { name: "worker" });
    expectRefusal(answer, "name_taken");
  });
});

describe("an Approval", () => {
  const read = async ({ parent }: { parent: TestClient }, id: string): Promise<Approval> =>
    Approval.parse((await parent.call("loopback_get", { approval_id: id })).value["approval"]);
  const undecided = {
    status: "pending",
    response_message: null,
    updated_input: null,
    resolved_at: null,
    resolved_by: null,
  };

  test("that waits has explicit nulls for what is not known yet", async () => {
    await using world = await supervised();
    const { id } = await world.ask();
    const approval = await read(world, id);
    expect(approval).toMatchObject({ ...ARGS, ...undecided, session_name: "worker" });
    expect(approval).not.toHaveProperty("delivered_at");
  });

  test("of a child that gave no tool_use_id has a null there", async () => {
    await using world = await supervised();
    const { id } = await world.ask({ tool_name: "Bash", input: { command: "ls" } });
    expect(await read(world, id)).toMatchObject({ ...undecided, tool_use_id: null });
  });

  test("that was allowed has no message and no updated input", async () => {
    await using world = await supervised();
    const { id } = await world.ask();
    await world.parent.call("loopback_respond", { approval_id: id, approve: true });
    expect(await read(world, id)).toMatchObject({
      status: "allowed",
      response_message: null,
      updated_input: null,
      resolved_at: expect.any(Number),
      resolved_by: "operator",
      delivered_at: expect.any(Number),
    });
  });

  test("that was allowed with another input keeps both", async () => {
    await using world = await supervised();
    const { id } = await world.ask();
    await world.parent.call("loopback_respond", {
      approval_id: id,
      approve: true,
      updated_input: { command: "ls -l" },
    });
    expect(await read(world, id)).toMatchObject({ input: ARGS.input, updated_input: { command: "ls -l" } });
  });

  test("that was denied says by whom and why", async () => {
    await using world = await supervised();
    const { token } = await world.plexus.app.tokens.createNamed("laptop");
    const laptop = await world.plexus.connect(token);
    const configured = await laptop.call("loopback_configure", { name: "worker" });
    const session = await world.plexus.app.sessions.get(String(configured.value["session_id"]));
    if (!session) throw new Error("the session was not made");
    const { approvalId } = await world.plexus.app.approvals.ask(session, ARGS);
    await laptop.call("loopback_respond", {
      approval_id: approvalId,
      approve: false,
      message: "Not in this directory.",
    });
    expect(await read({ parent: laptop }, approvalId)).toMatchObject({
      status: "denied",
      response_message: "Not in this directory.",
      resolved_by: "token:laptop",
    });
  });

  test("that nobody decided says that the time was up", async () => {
    await using world = await supervised();
    const { id, answered } = await world.ask();
    world.pass(301);
    await answered;
    expect(await read(world, id)).toMatchObject({
      status: "timed_out",
      response_message: TIMED_OUT,
      resolved_by: "timeout",
    });
  });

  test("whose child is gone is abandoned", async () => {
    await using world = await supervised();
    const { id } = await world.ask();
    await world.plexus.app.approvals.abandon([id], "the test says so");
    expect(await read(world, id)).toMatchObject({
      status: "abandoned",
      response_message: expect.any(String),
      resolved_by: "plexus",
      delivered_at: null,
    });
  });

  test("with a long input says that it was cut, and how long it was", async () => {
    await using world = await supervised();
    const { id } = await world.ask({ ...ARGS, input: { command: "x".repeat(100_000) } });
    const input_size = JSON.stringify({ command: "x".repeat(100_000) }).length;
    expect(await read(world, id)).toMatchObject({ truncated: true, input_size });
  });

  test("expires after the time that was set, in whole seconds", async () => {
    await using world = await supervised();
    const { id } = await world.ask();
    const { created_at, expires_at } = await world.plexus.app.approvals.get(OPERATOR, id);
    expect(expires_at - created_at).toBe(300);
  });
});

describe("a new ask", () => {
  test("is told to a connected decider as notifications/message", async () => {
    await using world = await supervised();
    const { stream } = await listen(world.plexus);
    const { id } = await world.ask();
    const { message } = (await stream.next()) ?? {};
    expect(message?.method).toBe("notifications/message");
    const { data, ...params } = message?.params ?? {};
    expect(params).toEqual({ level: "notice", logger: "loopback" });
    expect(ToolRequestEvent.parse(data)).toEqual({
      approval_id: id,
      session_name: "worker",
      tool_name: ARGS.tool_name,
      tool_input: ARGS.input,
      tool_use_id: ARGS.tool_use_id,
    });
  });

  test("is told with a null where the child gave no tool_use_id", async () => {
    await using world = await supervised();
    const { stream } = await listen(world.plexus);
    await world.ask({ tool_name: "Bash", input: { command: "ls" } });
    expect(ToolRequestEvent.parse((await stream.next())?.message?.params?.["data"]).tool_use_id).toBeNull();
  });

  test("is told as a change of the resource to who subscribed to it", async () => {
    await using world = await supervised();
    const { stream, send } = await listen(world.plexus);
    await send({ id: 2, method: "resources/subscribe", params: { uri: "loopback://approvals/pending" } });
    await world.ask();
    await stream.next();
    const { message } = (await stream.next()) ?? {};
    expect(message?.method).toBe("notifications/resources/updated");
    expect(message?.params).toEqual({ uri: "loopback://approvals/pending" });
  });

  test("is in the resource loopback://approvals/pending", async () => {
    await using world = await supervised();
    const { id } = await world.ask();
    const { contents } = await world.parent.client.readResource({ uri: "loopback://approvals/pending" });
    expect(contents).toMatchObject([{ uri: "loopback://approvals/pending", mimeType: "application/json" }]);
    const [content] = contents;
    const pending = PendingResource.parse(JSON.parse(content && "text" in content ? content.text : ""));
    expect(pending).toMatchObject({ approvals: [{ id, ...ARGS }], has_more: false });
  });

  test("and its decision are server-sent events", async () => {
    await using world = await supervised();
    const first = await world.ask();
    const second = await world.ask({ tool_name: "Bash", input: { command: "ls" } });
    await world.parent.call("loopback_respond", { approval_id: second.id, approve: true });
    const response = await world.plexus.fetch("/api/v1/events", { headers: { "last-event-id": "0" } });
    let text = "";
    const decoder = new TextDecoder();
    for await (const chunk of response.body ?? []) {
      text += decoder.decode(chunk);
      if (text.includes("approval_resolved") && text.endsWith("\n\n")) break;
    }
    const events = [...text.matchAll(/^id: (\d+)\nevent: (\w+)\ndata: (.*)$/gm)];
    expect(events.map(([, id, event]) => `${id} ${event}`)).toEqual([
      "1 approval_requested",
      "2 approval_requested",
      "3 approval_resolved",
    ]);
    const [asked, , resolved] = events.map(([, , , data]) => ChangeEvent.parse(JSON.parse(data ?? "")));
    expect(asked).toMatchObject({ approval_id: first.id, tool_input: ARGS.input, tool_use_id: "toolu_1" });
    expect(resolved).toMatchObject({ approval_id: second.id, status: "allowed", resolved_by: "operator" });
  });
});

describe("REST", () => {
  test("lists, reads and decides with the same objects as MCP", async () => {
    await using world = await supervised();
    const { id } = await world.ask();
    const json = async (path: string, init?: RequestInit) => (await world.plexus.fetch(path, init)).json();
    const { approval } = (await world.parent.call("loopback_get", { approval_id: id })).value;
    expect(await json("/api/v1/approvals")).toMatchObject({ type: "ok", approvals: [approval] });
    expect(await json(`/api/v1/approvals/${id}`)).toEqual({ type: "ok", approval });
    const body = JSON.stringify({ approve: true });
    const respond = () => json(`/api/v1/approvals/${id}/respond`, { method: "POST", body });
    expect(RespondResult.parse(await respond())).toEqual({ type: "ok", approval_id: id, status: "allowed" });
    expect(RespondResult.parse(await respond())).toMatchObject({ type: "already_resolved", status: "allowed" });
  });

  test("refuses with {error: {code, message}}", async () => {
    await using world = await supervised();
    const response = await world.plexus.fetch(`/api/v1/approvals/${crypto.randomUUID()}`);
    expect(response.status).toBe(404);
    expect(ErrorBody.parse(await response.json()).error.code).toBe("not_found");
  });
});

describe("the tools", () => {
  const PARENT = PARENT_TOOLS.map(({ name }) => name).toSorted();
  let plexus: Plexus;
  beforeAll(async () => {
    plexus = await startPlexus();
  });
  afterAll(() => plexus[Symbol.asyncDispose]());

  const listed = async (token?: string) => {
    const { client } = await plexus.connect(token);
    return (await client.listTools()).tools;
  };
  const namesOf = async (token?: string) => (await listed(token)).map((tool) => tool.name).toSorted();

  test("of the operator are these and no others", async () => {
    expect(await namesOf()).toEqual([...PARENT, "loopback_permit"].toSorted());
  });

  test("of a named token are these and no others", async () => {
    expect(await namesOf((await plexus.app.tokens.createNamed("laptop")).token)).toEqual(PARENT);
  });

  test("of a child are its permit alone", async () => {
    expect(await namesOf((await plexus.child()).token)).toEqual(["loopback_permit"]);
  });

  test("have a description, and say of each argument what it is for", async () => {
    for (const { name, description, inputSchema } of await listed()) {
      expect(description?.length ?? 0).toBeGreaterThan(40);
      for (const [argument, schema] of Object.entries(inputSchema.properties ?? {})) {
        expect({ name, argument, schema }).toEqual({
          name,
          argument,
          schema: expect.objectContaining({ description: expect.any(String) }),
        });
      }
    }
  });
});

describe("a child's input", () => {
  test("is marked as untrusted text in every description of a tool that shows it", async () => {
    await using world = await supervised();
    const { tools } = await world.parent.client.listTools();
    for (const name of ["loopback_wait", "loopback_pending", "loopback_get"]) {
      expect(tools.find((tool) => tool.name === name)?.description).toContain("untrusted");
    }
  });

  test("is marked as untrusted text in every result that shows it", async () => {
    await using world = await supervised();
    const { id } = await world.ask();
    const answers = [
      await world.parent.call("loopback_wait"),
      await world.parent.call("loopback_pending"),
      await world.parent.call("loopback_get", { approval_id: id }),
      await world.parent.call("loopback_get", { approval_id: id, offset: 0 }),
    ];
    for (const { value } of answers) expect(value["next"]).toContain("untrusted");
  });
});

describe("the instructions", () => {
  test("explain the loop to a decider in ten lines", async () => {
    await using world = await supervised();
    const instructions = world.parent.client.getInstructions() ?? "";
    expect(instructions.match(/^\d+\. /gm)).toHaveLength(10);
    for (const word of ["loopback_wait", "loopback_respond", "untrusted", "expires_at", "already_resolved"]) {
      expect(instructions).toContain(word);
    }
  });

  test("tell a child nothing of how decisions are made", async () => {
    await using world = await supervised();
    expect(world.child.client.getInstructions()).not.toContain("loopback_respond");
  });
});

/** A client of the operator's whose stream for notifications is open when this returns. */
async function listen(plexus: Plexus) {
  let session: Record<string, string> = {};
  const send = (message: object) =>
    post(plexus.url, { jsonrpc: "2.0", ...message }, { token: OPERATOR_TOKEN, headers: session });
  const clientInfo = { name: "test", version: "1" };
  const params = { protocolVersion: "2025-11-25", capabilities: {}, clientInfo };
  const { headers } = await send({ id: 1, method: "initialize", params });
  session = { "mcp-session-id": headers.get("mcp-session-id") ?? "" };
  await send({ method: "notifications/initialized" });
  const stream = await get(plexus.url, { token: OPERATOR_TOKEN, headers: session });
  expect((await stream.next())?.id).toBe("notifications");
  return { stream, send };
}
