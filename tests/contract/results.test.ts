import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import type { TestClient, ToolAnswer } from "../support/mcp-client.ts";
import { OPERATOR_TOKEN, type Plexus, startPlexus } from "../support/plexus.ts";
import { get, post } from "../support/raw-mcp.ts";
import { until } from "../support/until.ts";
import { expectExample, uncheckedExamples } from "./example.ts";

const OPERATOR = { kind: "operator" } as const;
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
      const pending = async () =>
        (await plexus.app.approvals.pending(OPERATOR, undefined, 10)).approvals.map((approval) => approval.id);
      const before = await pending();
      const answered = child.call("loopback_permit", args);
      answered.catch(() => {});
      const id = await until("the ask", async () => (await pending()).find((candidate) => !before.includes(candidate)));
      return { id, answered };
    },
    [Symbol.asyncDispose]: () => owned.disposeAsync(),
  };
}

/** One text block with the JSON, the same as structured content; `next` says what to do, and is not part of the example. */
async function expectResult(answer: ToolAnswer, name: string, { isError = false } = {}): Promise<void> {
  expect(answer.isError).toBe(isError);
  expect(answer.structured).toEqual(answer.value);
  expect(answer.text).toBe(JSON.stringify(answer.value));
  const { next, ...value } = answer.value;
  expect(isError ? next === undefined : typeof next === "string").toBe(true);
  await expectExample(value, name);
}

/** The text is exactly the JSON that the CLI parses, and there is nothing else. */
async function expectPermit(answer: ToolAnswer, name: string): Promise<void> {
  expect(answer.structured).toBeUndefined();
  expect(answer.isError).toBe(false);
  expect(answer.text).toBe(JSON.stringify(answer.value));
  await expectExample(answer.value, name);
}

describe("loopback_permit", () => {
  test("tells the child that it may, with the input that it asked for", async () => {
    await using world = await supervised();
    const { id, answered } = await world.ask();
    await world.parent.call("loopback_respond", { approval_id: id, approve: true });
    await expectPermit(await answered, "permit-allow");
  });

  test("tells the child that it may, with another input", async () => {
    await using world = await supervised();
    const { id, answered } = await world.ask();
    await world.parent.call("loopback_respond", {
      approval_id: id,
      approve: true,
      updated_input: { command: "ls -l" },
    });
    await expectPermit(await answered, "permit-allow-updated");
  });

  test("does not echo a large input: {} means the same to the CLI", async () => {
    await using world = await supervised();
    const { id, answered } = await world.ask({ ...ARGS, input: { command: "x".repeat(10_000) } });
    await world.parent.call("loopback_respond", { approval_id: id, approve: true });
    await expectPermit(await answered, "permit-allow-large");
  });

  test("tells the child that it may not, and why", async () => {
    await using world = await supervised();
    const { id, answered } = await world.ask();
    await world.parent.call("loopback_respond", { approval_id: id, approve: false, message: "Not in this directory." });
    await expectPermit(await answered, "permit-deny");
  });

  test("has a message even where nobody gave one", async () => {
    await using world = await supervised();
    const { id, answered } = await world.ask();
    await world.parent.call("loopback_respond", { approval_id: id, approve: false });
    await expectPermit(await answered, "permit-deny-without-message");
  });

  test("tells the child to stop", async () => {
    await using world = await supervised();
    const { id, answered } = await world.ask();
    await world.parent.call("loopback_respond", { approval_id: id, approve: false, message: "Stop.", interrupt: true });
    await expectPermit(await answered, "permit-deny-interrupt");
  });

  test("tells the child that nobody decided in time", async () => {
    await using world = await supervised();
    const { answered } = await world.ask();
    world.pass(301);
    await expectPermit(await answered, "permit-timeout");
  });

  test("is lenient: takes arguments that it doesn't know", async () => {
    await using world = await supervised();
    const { id, answered } = await world.ask({ ...ARGS, permission_suggestions: [], session_id: "not-mine" });
    await world.parent.call("loopback_respond", { approval_id: id, approve: true });
    await expectPermit(await answered, "permit-allow");
    expect((await world.plexus.app.approvals.get(OPERATOR, id)).session_id).toBe(world.worker.sessionId);
  });

  test("refuses bad arguments without structured content", async () => {
    await using world = await supervised();
    const answer = await world.child.call("loopback_permit", { tool_name: "Bash" });
    expect(answer.isError).toBe(true);
    expect(answer.structured).toBeUndefined();
    await expectExample(answer.value, "error-invalid-arguments");
  });
});

describe("loopback_respond", () => {
  test("says what it has recorded", async () => {
    await using world = await supervised();
    const first = await world.ask();
    await expectResult(
      await world.parent.call("loopback_respond", { approval_id: first.id, approve: true }),
      "respond-ok-allowed",
    );
    const second = await world.ask({ ...ARGS, tool_use_id: "toolu_2" });
    await expectResult(
      await world.parent.call("loopback_respond", { approval_id: second.id, approve: false }),
      "respond-ok-denied",
    );
  });

  test("says who was first, which is no error", async () => {
    await using world = await supervised();
    const { id } = await world.ask();
    await world.parent.call("loopback_respond", { approval_id: id, approve: false });
    await expectResult(
      await world.parent.call("loopback_respond", { approval_id: id, approve: true }),
      "respond-already-resolved",
    );
  });

  test("says that the time was up first", async () => {
    await using world = await supervised();
    const { id } = await world.ask();
    world.pass(301);
    await expectResult(
      await world.parent.call("loopback_respond", { approval_id: id, approve: true }),
      "respond-after-timeout",
    );
  });

  test("refuses an id that it doesn't know", async () => {
    await using world = await supervised();
    const answer = await world.parent.call("loopback_respond", { approval_id: crypto.randomUUID(), approve: true });
    await expectResult(answer, "error-not-found", { isError: true });
  });
});

describe("loopback_pending", () => {
  test("lists what waits", async () => {
    await using world = await supervised();
    await world.ask();
    await expectResult(await world.parent.call("loopback_pending"), "pending");
    await expectResult(await world.parent.call("loopback_pending", { session_id: world.worker.sessionId }), "pending");
  });

  test("lists nothing as []", async () => {
    await using world = await supervised();
    await expectResult(await world.parent.call("loopback_pending"), "pending-none");
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
    await expectResult(answer, "error-not-found", { isError: true });
  });
});

describe("loopback_get", () => {
  test("reads one approval", async () => {
    await using world = await supervised();
    const { id } = await world.ask();
    await expectResult(await world.parent.call("loopback_get", { approval_id: id }), "get");
  });

  test("reads a slice of its input's text", async () => {
    await using world = await supervised();
    const { id } = await world.ask();
    const answer = await world.parent.call("loopback_get", { approval_id: id, offset: 1, length: 9 });
    await expectResult(answer, "get-slice");
  });

  test("refuses an id that it doesn't know", async () => {
    await using world = await supervised();
    const answer = await world.parent.call("loopback_get", { approval_id: crypto.randomUUID() });
    await expectResult(answer, "error-not-found", { isError: true });
  });
});

describe("loopback_wait", () => {
  test("returns what is pending at once", async () => {
    await using world = await supervised();
    await world.ask();
    await expectResult(await world.parent.call("loopback_wait"), "wait-ok");
  });

  test("returns as soon as a child asks", async () => {
    await using world = await supervised();
    const waited = world.parent.call("loopback_wait", { timeout_secs: 60 });
    await world.ask();
    await expectResult(await waited, "wait-ok");
  });

  test("says that the time is up, and where to go on", async () => {
    await using world = await supervised();
    await expectResult(await world.parent.call("loopback_wait", { timeout_secs: 0 }), "wait-timeout");
  });

  test("takes its cursor as the next since", async () => {
    await using world = await supervised();
    const { value } = await world.parent.call("loopback_wait", { timeout_secs: 0 });
    await world.ask();
    await expectResult(await world.parent.call("loopback_wait", { since: value["cursor"] }), "wait-ok");
  });
});

describe("loopback_configure", () => {
  test("returns what a claude started by hand needs", async () => {
    await using world = await supervised();
    await expectResult(await world.parent.call("loopback_configure", { name: "by hand" }), "configure");
    await expectResult(await world.parent.call("loopback_configure"), "configure");
  });

  test("gives a session of the caller's one more token, by its id or its name", async () => {
    await using world = await supervised();
    for (const key of [world.worker.sessionId, "worker"]) {
      const answer = await world.parent.call("loopback_configure", { session_id: key });
      await expectResult(answer, "configure");
      expect(answer.value["session_id"]).toBe(world.worker.sessionId);
    }
  });

  test("refuses a name in use", async () => {
    await using world = await supervised();
    const answer = await world.parent.call("loopback_configure", { name: "worker" });
    await expectResult(answer, "error-name-taken", { isError: true });
  });
});

describe("an Approval", () => {
  const read = async ({ parent }: { parent: TestClient }, id: string) =>
    (await parent.call("loopback_get", { approval_id: id })).value["approval"];

  test("that waits has explicit nulls for what is not known yet", async () => {
    await using world = await supervised();
    const { id } = await world.ask();
    await expectExample(await read(world, id), "approval-pending");
  });

  test("of a child that gave no tool_use_id has a null there", async () => {
    await using world = await supervised();
    const { id } = await world.ask({ tool_name: "Bash", input: { command: "ls" } });
    await expectExample(await read(world, id), "approval-pending-without-tool-use-id");
  });

  test("that was allowed has no message and no updated input", async () => {
    await using world = await supervised();
    const { id } = await world.ask();
    await world.parent.call("loopback_respond", { approval_id: id, approve: true });
    await expectExample(await read(world, id), "approval-allowed");
  });

  test("that was allowed with another input keeps both", async () => {
    await using world = await supervised();
    const { id } = await world.ask();
    await world.parent.call("loopback_respond", {
      approval_id: id,
      approve: true,
      updated_input: { command: "ls -l" },
    });
    await expectExample(await read(world, id), "approval-allowed-updated");
  });

  test("that was denied says by whom and why", async () => {
    await using world = await supervised();
    const { token } = await world.plexus.app.tokens.createNamed("laptop");
    const laptop = await world.plexus.connect(token);
    const configured = await laptop.call("loopback_configure", { name: "worker" });
    const session = await world.plexus.app.sessions.get(String(configured.value["session_id"]));
    if (!session) throw new Error("the session was not made");
    const { approvalId } = await world.plexus.app.approvals.request(session, ARGS);
    await laptop.call("loopback_respond", {
      approval_id: approvalId,
      approve: false,
      message: "Not in this directory.",
    });
    await expectExample(await read({ parent: laptop }, approvalId), "approval-denied");
  });

  test("that nobody decided says that the time was up", async () => {
    await using world = await supervised();
    const { id, answered } = await world.ask();
    world.pass(301);
    await answered;
    await expectExample(await read(world, id), "approval-timed-out");
  });

  test("whose child is gone is abandoned", async () => {
    await using world = await supervised();
    const { id } = await world.ask();
    await world.plexus.app.approvals.abandon([id], "the test says so");
    await expectExample(await read(world, id), "approval-abandoned");
  });

  test("with a long input says that it was cut, and how long it was", async () => {
    await using world = await supervised();
    const { id } = await world.ask({ ...ARGS, input: { command: "x".repeat(100_000) } });
    const approval = await read(world, id);
    await expectExample(approval, "approval-truncated");
    expect(approval).toMatchObject({ input_size: JSON.stringify({ command: "x".repeat(100_000) }).length });
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
    await world.ask();
    const { message } = (await stream.next()) ?? {};
    expect(message?.method).toBe("notifications/message");
    await expectExample(message?.params, "notification-message");
  });

  test("is told as a ToolRequestEvent, with a null where the child gave no tool_use_id", async () => {
    await using world = await supervised();
    const { stream } = await listen(world.plexus);
    await world.ask();
    await expectExample((await stream.next())?.message?.params?.["data"], "tool-request-event");
    await world.ask({ tool_name: "Bash", input: { command: "ls" } });
    await expectExample((await stream.next())?.message?.params?.["data"], "tool-request-event-without-tool-use-id");
  });

  test("is told as a change of the resource to who subscribed to it", async () => {
    await using world = await supervised();
    const { stream, send } = await listen(world.plexus);
    await send({ id: 2, method: "resources/subscribe", params: { uri: "loopback://approvals/pending" } });
    await world.ask();
    await stream.next();
    const { message } = (await stream.next()) ?? {};
    expect(message?.method).toBe("notifications/resources/updated");
    await expectExample(message?.params, "notification-resource-updated");
  });

  test("is in the resource loopback://approvals/pending", async () => {
    await using world = await supervised();
    await world.ask();
    const { contents } = await world.parent.client.readResource({ uri: "loopback://approvals/pending" });
    expect(contents).toMatchObject([{ uri: "loopback://approvals/pending", mimeType: "application/json" }]);
    const [content] = contents;
    await expectExample(JSON.parse(content && "text" in content ? content.text : ""), "resource-pending");
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
    const [asked, , resolved] = events.map(([, , , data]) => JSON.parse(data ?? ""));
    expect(asked.approval_id).toBe(first.id);
    await expectExample(asked, "event-approval-requested");
    await expectExample(resolved, "event-approval-resolved");
  });
});

describe("REST", () => {
  test("lists, reads and decides with the same objects as MCP", async () => {
    await using world = await supervised();
    const { id } = await world.ask();
    const json = async (path: string, init?: RequestInit) => (await world.plexus.fetch(path, init)).json();
    await expectExample(await json("/api/v1/approvals"), "rest-list");
    await expectExample(await json(`/api/v1/approvals/${id}`), "rest-get");
    const body = JSON.stringify({ approve: true });
    const respond = () => json(`/api/v1/approvals/${id}/respond`, { method: "POST", body });
    await expectExample(await respond(), "respond-ok-allowed");
    expect(await respond()).toMatchObject({ type: "already_resolved", status: "allowed" });
  });

  test("refuses with {error: {code, message}}", async () => {
    await using world = await supervised();
    const response = await world.plexus.fetch(`/api/v1/approvals/${crypto.randomUUID()}`);
    expect(response.status).toBe(404);
    await expectExample(await response.json(), "rest-error");
  });
});

describe("the tools", () => {
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
    await expectExample(await namesOf(), "tools-operator");
  });

  test("of a named token are these and no others", async () => {
    await expectExample(await namesOf((await plexus.app.tokens.createNamed("laptop")).token), "tools-named-token");
  });

  test("of a child are its permit alone", async () => {
    await expectExample(await namesOf((await plexus.child()).token), "tools-child");
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

test("every example is compared with what the server says", () => {
  expect(uncheckedExamples()).toEqual([]);
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
