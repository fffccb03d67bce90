import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from "bun:test";
import {
  ElicitRequestSchema,
  LoggingMessageNotificationSchema,
  ResourceUpdatedNotificationSchema,
} from "@modelcontextprotocol/sdk/types.js";
import { type Approval, ToldApproval } from "../../../src/contract/approvals/approval.ts";
import { startHttpServer } from "../../../src/http/server.ts";
import { createMcpEndpoint } from "../../../src/mcp/endpoint.ts";
import { createFixtureServer } from "../../conformance/fixture.ts";
import type { TestClient } from "../../support/mcp/mcp-client.ts";
import { permitMessage, post } from "../../support/mcp/raw-mcp.ts";
import { type BridgeProcess, connectStdio, startBridge } from "../../support/server/bridge-process.ts";
import { OPERATOR_TOKEN, type Plexus, startPlexus } from "../../support/server/plexus.ts";
import { until } from "../../support/until.ts";

setDefaultTimeout(60_000);

const PENDING = "loopback://approvals/pending";

let plexus: Plexus;
let parent: TestClient;
beforeAll(async () => {
  plexus = await startPlexus({ clocks: { abandonAfterMs: 50 } });
  parent = await connectStdio(bridgeTo(plexus.url));
});
afterAll(async () => {
  await parent[Symbol.asyncDispose]();
  await plexus[Symbol.asyncDispose]();
});

const bridgeTo = (url: string, token = OPERATOR_TOKEN) => ({ args: ["--url", url], env: { PLEXUS_TOKEN: token } });
const asBefore = (url: string, token?: string): BridgeProcess => startBridge(bridgeTo(url, token));

describe("a client on stdio", () => {
  test("has the tools, resources and instructions of a client on http", async () => {
    const direct = await plexus.connect();
    expect(parent.client.getInstructions()).toBe(direct.client.getInstructions() ?? "");
    expect(await parent.client.listTools()).toEqual(await direct.client.listTools());
    expect(await parent.client.listResources()).toEqual(await direct.client.listResources());
  });

  test("is notified of a request, waits for it, decides it, and the child goes on", async () => {
    const told: unknown[] = [];
    parent.client.setNotificationHandler(LoggingMessageNotificationSchema, ({ params }) => void told.push(params.data));
    parent.client.setNotificationHandler(ResourceUpdatedNotificationSchema, ({ params }) => void told.push(params.uri));
    await parent.client.subscribeResource({ uri: PENDING });
    const { token, sessionId } = await plexus.child();
    const waiting = parent.call("loopback_wait", { session_id: sessionId });
    const child = await post(plexus.url, permitMessage({ command: "ls" }, { toolUseId: "told" }), { token });
    const [approval] = ToldApproval.array().parse((await waiting).value["approvals"]);
    await until("both notifications", () => told.length >= 2);
    expect(told).toEqual(expect.arrayContaining([PENDING, expect.objectContaining({ approval_id: approval?.id })]));
    const decision = { approval_id: approval?.id, approve: false, message: "not now" };
    expect((await parent.call("loopback_respond", decision)).value).toMatchObject({ type: "ok", status: "denied" });
    expect(JSON.parse(await child.answer())).toEqual({ behavior: "deny", message: "not now" });
  });

  test("gets the progress of a permit, and ends it by cancelling", async () => {
    const { sessionId } = await plexus.child();
    const cancel = new AbortController();
    const progress = Promise.withResolvers<void>();
    const permit = { session_id: sessionId, tool_name: "Bash", input: { command: "ls" } };
    const asked = parent.call("loopback_permit", permit, { signal: cancel.signal, onprogress: progress.resolve });
    await progress.promise;
    const [approval] = await pendingOf(sessionId);
    expect(approval).toMatchObject({ status: "pending" });
    cancel.abort();
    await expect(asked).rejects.toThrow();
    await until("the ask to be abandoned", async () => (await statusOf(approval?.id)) === "abandoned");
  });

  test("answers the server's requests, and gets its notifications meanwhile", async () => {
    await using own = await startPlexus();
    const mcp = createMcpEndpoint(own.app, createFixtureServer);
    await using http = startHttpServer(own.app, mcp);
    await using client = await connectStdio(bridgeTo(http.url), { elicitation: {} });
    client.client.setRequestHandler(ElicitRequestSchema, () => ({
      action: "accept",
      content: { username: "ada", email: "ada@example.org" },
    }));
    const answered = await client.client.callTool({ name: "test_elicitation", arguments: { message: "Who?" } });
    expect(JSON.stringify(answered)).toContain("ada@example.org");
    await using bridge = asBefore(http.url);
    const params = { name: "test_tool_with_progress", _meta: { progressToken: "t" } };
    bridge.send({ id: 1, method: "tools/call", params });
    await bridge.answer(1);
    const told = bridge.messages.map(({ params }) => params);
    expect(told.slice(0, 3)).toMatchObject([0, 50, 100].map((progress) => ({ progressToken: "t", progress })));
  });
});

describe("a child on stdio", () => {
  test("has the permit, and nothing else", async () => {
    const { token } = await plexus.child();
    await using child = await connectStdio(bridgeTo(plexus.url, token));
    const { tools } = await child.client.listTools();
    expect(tools.map(({ name }) => name)).toEqual(["loopback_permit"]);
    expect(await child.call("loopback_pending")).toMatchObject({ isError: true, value: { code: "not_found" } });
  });

  test("gets an id for its request, which stays the same when the request is sent again", async () => {
    const { token, sessionId } = await plexus.child();
    await using child = await connectStdio(bridgeTo(plexus.url, token));
    const asked = child.call("loopback_permit", { tool_name: "Bash", input: { command: "ls" } });
    const approval = await until("the ask", async () => (await pendingOf(sessionId))[0]);
    expect(approval.tool_use_id).toStartWith("bridge-");
    await parent.call("loopback_respond", { approval_id: approval.id, approve: true });
    expect((await asked).value).toEqual({ behavior: "allow", updatedInput: { command: "ls" } });
  });

  test("abandons its request when it is killed", async () => {
    const { token, sessionId } = await plexus.child();
    await using bridge = asBefore(plexus.url, token);
    bridge.send(permitMessage({ command: "ls" }, { toolUseId: "killed" }));
    const approval = await until("the ask", async () => (await pendingOf(sessionId))[0]);
    bridge.kill("SIGKILL");
    await until("the ask to be abandoned", async () => (await statusOf(approval.id)) === "abandoned");
  });
});

describe("a message", () => {
  test("of 20 MB arrives whole, and one that the server does not take is refused by its id", async () => {
    const { token, sessionId } = await plexus.child();
    await using bridge = asBefore(plexus.url, token);
    const megabytes = (count: number) => ({ command: "x".repeat(count * 1024 * 1024) });
    bridge.send(permitMessage(megabytes(20), { id: 7, toolUseId: "large" }));
    const approval = await until("the ask", async () => (await pendingOf(sessionId))[0]);
    expect((await plexus.app.approvals.get({ kind: "operator" }, approval.id)).input).toEqual(megabytes(20));
    bridge.send(permitMessage(megabytes(33), { id: 8, toolUseId: "too large" }));
    expect(await bridge.answer(8)).toMatchObject({ error: { message: expect.stringContaining("larger than") } });
    await parent.call("loopback_respond", { approval_id: approval.id, approve: true });
    expect(await bridge.answer(7)).toHaveProperty("result");
  });

  test.each([
    ["{broken", -32700],
    ['"text"', -32600],
    ['{"jsonrpc":"2.0","id":{},"method":"ping"}', -32600],
    [Buffer.from([0x22, 0xff, 0x22]), -32700],
  ])("that is none is answered with an error, and the next one is served: %p", async (line, code) => {
    await using bridge = asBefore(plexus.url);
    bridge.write(line);
    bridge.write("\n\n");
    expect(await bridge.answer(null)).toMatchObject({ error: { code } });
    bridge.send({ id: 1, method: "tools/list" });
    expect(await bridge.answer(1)).toHaveProperty("result.tools");
  });

  test("in a batch is answered like any other", async () => {
    await using bridge = asBefore(plexus.url);
    bridge.write('[{"jsonrpc":"2.0","id":1,"method":"tools/list"},{"jsonrpc":"2.0","id":"p","method":"ping"}]\n');
    expect(await bridge.answer("p")).toMatchObject({ result: {} });
    expect(await bridge.answer(1)).toHaveProperty("result.tools");
  });
});

async function pendingOf(sessionId: string): Promise<Approval[]> {
  return (await plexus.app.approvals.pending({ kind: "operator" }, sessionId, 10)).approvals;
}

async function statusOf(approvalId = ""): Promise<string> {
  return (await plexus.app.approvals.get({ kind: "operator" }, approvalId)).status;
}
