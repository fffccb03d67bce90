import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from "bun:test";
import type { JsonObject } from "../../../src/contract/values.ts";
import { modernHeaders } from "../../../src/mcp/bridge/modern.ts";
import { ask, sessionOf } from "../../http/support/callers.ts";
import { modernMessage } from "../../support/mcp/modern-mcp.ts";
import { type BridgeProcess, startBridge } from "../../support/server/bridge-process.ts";
import { startKillableServer } from "../../support/server/killable-server.ts";
import { OPERATOR_TOKEN, type Plexus, startPlexus } from "../../support/server/plexus.ts";
import { type ServerProcess, startServerProcess } from "../../support/server/server-process.ts";
import { temporaryDirectory } from "../../support/temporary.ts";
import { until } from "../../support/until.ts";

setDefaultTimeout(60_000);

const OPERATOR = { kind: "operator" } as const;
const PENDING = "loopback://approvals/pending";
const SUBSCRIPTION = "io.modelcontextprotocol/subscriptionId";

let plexus: Plexus;
beforeAll(async () => {
  plexus = await startPlexus({ clocks: { abandonAfterMs: 50 } });
});
afterAll(() => plexus[Symbol.asyncDispose]());

const bridgeTo = (url: string, token = OPERATOR_TOKEN) =>
  startBridge({ args: ["--url", url], env: { PLEXUS_TOKEN: token } });
const send = (bridge: BridgeProcess, id: number | string, method: string, params: JsonObject = {}) =>
  bridge.send(modernMessage(method, params, { id }));
const updatesOf = ({ messages }: BridgeProcess, id: string) =>
  messages.filter(
    ({ method, params }) =>
      method === "notifications/resources/updated" && Object(params)?._meta?.[SUBSCRIPTION] === id,
  );

describe("a client of 2026-07-28 on stdio", () => {
  test("discovers the revision, and has the tools and resources of a client on http", async () => {
    await using bridge = bridgeTo(plexus.url);
    send(bridge, 1, "server/discover");
    expect(await bridge.answer(1)).toMatchObject({
      result: { resultType: "complete", supportedVersions: ["2026-07-28"] },
    });
    const { client } = await plexus.connect();
    send(bridge, 2, "tools/list");
    expect((await bridge.answer(2))["result"]).toMatchObject(await client.listTools());
    send(bridge, 3, "resources/read", { uri: PENDING });
    expect(await bridge.answer(3)).toMatchObject({ result: { contents: [{ uri: PENDING }] } });
  });

  test("waits for an ask and decides it", async () => {
    await using bridge = bridgeTo(plexus.url);
    const { session } = await sessionOf(plexus, OPERATOR);
    send(bridge, 1, "tools/call", { name: "loopback_wait", arguments: { session_id: session.id } });
    const { approvalId } = await ask(plexus, session);
    expect(await bridge.answer(1)).toMatchObject({
      result: { structuredContent: { type: "ok", approvals: [{ id: approvalId }] } },
    });
    const decision = { approval_id: approvalId, approve: true };
    send(bridge, 2, "tools/call", { name: "loopback.respond", arguments: decision });
    expect(await bridge.answer(2)).toMatchObject({ result: { structuredContent: { status: "allowed" } } });
  });

  test("gets the server's own error, with its code and its data", async () => {
    await using bridge = bridgeTo(plexus.url);
    send(bridge, 1, "ping");
    expect(await bridge.answer(1)).toMatchObject({ error: { code: -32601 } });
    bridge.send(
      modernMessage("tools/list", {}, { id: 2, meta: { "io.modelcontextprotocol/protocolVersion": "2099" } }),
    );
    expect(await bridge.answer(2)).toMatchObject({
      error: { code: -32022, data: { supported: ["2026-07-28"], requested: "2099" } },
    });
    bridge.send(modernMessage("tools/list", {}, { id: 3, meta: { "io.modelcontextprotocol/protocolVersion": 7 } }));
    expect(await bridge.answer(3)).toMatchObject({ error: { code: -32602 } });
  });

  test("asks for things by names that no header can hold", async () => {
    await using bridge = bridgeTo(plexus.url);
    for (const [id, uri] of [" x:ü\n", "=?base64?eA==?=", "x:y "].entries()) {
      send(bridge, id, "resources/read", { uri });
      expect(await bridge.answer(id)).toMatchObject({ error: { code: -32602, data: { uri } } });
    }
  });

  test("goes on waiting when the server is killed, with the next one", async () => {
    await using server = await startKillableServer();
    await using bridge = bridgeTo(server.url);
    const { sessionId } = await server.child();
    const params = { name: "loopback_wait", arguments: { timeout_secs: 110 } };
    bridge.send(modernMessage("tools/call", params, { id: 1, meta: { progressToken: "told" } }));
    // The bridge reports progress once it has sent the id by which the call resumes.
    await until("it to wait", () => bridge.messages.some(({ method }) => method === "notifications/progress"));
    await server.restart();
    await bridge.says("is back");
    const permit = { session_id: sessionId, tool_name: "Bash", input: { command: "ls" } };
    const asked = server.call("loopback_permit", permit);
    expect(await bridge.answer(1)).toMatchObject({
      result: { resultType: "complete", structuredContent: { type: "ok", approvals: [{ session_id: sessionId }] } },
    });
    await server.call("loopback_respond", { approval_id: (await server.ask()).id, approve: false });
    await asked;
  });

  test("ends a permit by cancelling it, without a session", async () => {
    await using bridge = bridgeTo(plexus.url);
    const { session } = await sessionOf(plexus, OPERATOR);
    const permit = { session_id: session.id, tool_name: "Bash", input: { command: "ls" } };
    send(bridge, 1, "tools/call", { name: "loopback_permit", arguments: permit });
    const pending = async () => (await plexus.app.approvals.pending(OPERATOR, session.id, 1)).approvals;
    await until("the ask", async () => (await pending()).length === 1);
    bridge.send({ method: "notifications/cancelled", params: { requestId: 1 } });
    await until("the ask to be abandoned", async () => (await pending()).length === 0);
  });

  test("may share its pipe with one that initializes", async () => {
    await using bridge = bridgeTo(plexus.url);
    const clientInfo = { name: "test", version: "1" };
    const params = { protocolVersion: "2025-11-25", capabilities: {}, clientInfo };
    bridge.send({ id: 1, method: "initialize", params });
    expect(await bridge.answer(1)).toMatchObject({ result: { protocolVersion: "2025-11-25" } });
    send(bridge, 2, "tools/call", { name: "loopback_pending", arguments: {} });
    expect(await bridge.answer(2)).toMatchObject({ result: { resultType: "complete" } });
    bridge.send({ id: 3, method: "tools/call", params: { name: "loopback_pending", arguments: {} } });
    expect((await bridge.answer(3))["result"]).not.toHaveProperty("resultType");
  });

  test("with a child's token is refused in this revision, and may initialize", async () => {
    const { token } = await plexus.child();
    await using bridge = bridgeTo(plexus.url, token);
    send(bridge, "probe", "server/discover");
    expect(await bridge.answer("probe")).toMatchObject({ error: { code: -32000 } });
    bridge.send({ id: 1, method: "tools/list" });
    expect(await bridge.answer(1)).toMatchObject({ result: { tools: [{ name: "loopback_permit" }] } });
  });
});

describe("a batch on stdio", () => {
  const batch = '[{"jsonrpc":"2.0","id":1,"method":"tools/list"}]\n';

  test("is refused once the handshake has agreed on a revision without batches", async () => {
    await using bridge = bridgeTo(plexus.url);
    const params = { protocolVersion: "2025-06-18", capabilities: {}, clientInfo: { name: "test", version: "1" } };
    bridge.send({ id: 0, method: "initialize", params });
    await bridge.answer(0);
    bridge.write(batch);
    expect(await bridge.answer(null)).toMatchObject({ error: { code: -32600 } });
  });

  test("is refused where a message in it speaks 2026-07-28", async () => {
    await using bridge = bridgeTo(plexus.url);
    bridge.write(`${JSON.stringify([modernMessage("tools/list")])}\n`);
    expect(await bridge.answer(null)).toMatchObject({ error: { code: -32600 } });
  });
});

describe("a subscription on stdio", () => {
  const filter = { notifications: { resourceSubscriptions: [PENDING] } };

  test("reports new requests, and nothing after it was cancelled", async () => {
    await using bridge = bridgeTo(plexus.url);
    send(bridge, "sub", "subscriptions/listen", filter);
    await until("the agreement", () => bridge.messages.length > 0);
    expect(bridge.messages[0]).toMatchObject({ method: "notifications/subscriptions/acknowledged" });
    const { session } = await sessionOf(plexus, OPERATOR);
    await ask(plexus, session);
    await until("the update", () => updatesOf(bridge, "sub").length === 1);
    bridge.send({ method: "notifications/cancelled", params: { requestId: "sub" } });
    send(bridge, "other", "subscriptions/listen", filter);
    await until("the other agreement", () => bridge.messages.length === 3);
    await ask(plexus, session, { tool_use_id: "toolu_2" });
    await until("the other update", () => updatesOf(bridge, "other").length === 1);
    expect(updatesOf(bridge, "sub")).toHaveLength(1);
  });

  test("to nothing that exists ends immediately", async () => {
    await using bridge = bridgeTo(plexus.url);
    send(bridge, "sub", "subscriptions/listen", { notifications: { toolsListChanged: true } });
    expect(await bridge.answer("sub")).toMatchObject({ result: { resultType: "complete" } });
  });

  test.each<[string, (server: ServerProcess) => Promise<unknown>]>([
    ["was killed", (server) => server.kill()],
    ["has stopped", (server) => server.stop("SIGTERM")],
  ])("goes on with the next server when one %s, and its client is to read again", async (_, end) => {
    await using directory = await temporaryDirectory();
    const options = { dataDir: directory.path, token: OPERATOR_TOKEN };
    await using first = await startServerProcess(options);
    const port = Number(new URL(first.url).port);
    await using bridge = bridgeTo(first.url);
    send(bridge, "sub", "subscriptions/listen", filter);
    await until("the agreement", () => bridge.messages.length > 0);
    await end(first);
    await using _second = await startServerProcess({ ...options, port });
    await until("the word to read again", () => updatesOf(bridge, "sub").length === 1, 20_000);
    const acknowledged = bridge.messages.filter(({ method }) => String(method).includes("acknowledged"));
    expect(acknowledged).toHaveLength(1);
    expect(bridge.messages.filter((message) => "result" in message)).toEqual([]);
  });
});

describe("the headers of a message", () => {
  test("repeat its content, and are missing for an earlier revision", () => {
    expect(modernHeaders({ method: "tools/list" })).toBeUndefined();
    expect(modernHeaders(modernMessage("tools/call", { name: "loopback_wait" }))).toEqual({
      "mcp-protocol-version": "2026-07-28",
      "mcp-method": "tools/call",
      "mcp-name": "loopback_wait",
    });
    expect(modernHeaders(modernMessage("tools/list\r\nx: y", { name: "not asked for" }))).toEqual({
      "mcp-protocol-version": "2026-07-28",
    });
  });
});
