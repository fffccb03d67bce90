import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import {
  LoggingMessageNotificationSchema,
  ResourceUpdatedNotificationSchema,
} from "@modelcontextprotocol/sdk/types.js";
import { ToolRequestEvent } from "../../../src/contract/approvals/approval.ts";
import { TOOLS } from "../../../src/mcp/tools/tools.ts";
import { get, permitMessage, post } from "../../support/mcp/raw-mcp.ts";
import { OPERATOR_TOKEN, type Plexus, startPlexus } from "../../support/server/plexus.ts";
import { temporaryDirectory } from "../../support/temporary.ts";
import { until } from "../../support/until.ts";

const operator = { kind: "operator" } as const;
const PENDING = "loopback://approvals/pending";
let plexus: Plexus;
beforeAll(async () => {
  plexus = await startPlexus();
});
afterAll(() => plexus[Symbol.asyncDispose]());

describe("whoever decides", () => {
  test("is told how to supervise, and which tools there are", async () => {
    const { client } = await plexus.connect();
    expect(client.getInstructions()).toContain("claudecode_run");
    const { tools } = await client.listTools();
    expect(tools.map(({ name }) => name)).toEqual(TOOLS.operator.map(({ name }) => name));
    for (const tool of tools) expect(tool.inputSchema.type).toBe("object");
  });

  test("gets a new request as a notification, and as an update of its subscribed resource", async () => {
    const { client } = await plexus.connect();
    const told: ToolRequestEvent[] = [];
    const updated: string[] = [];
    client.setNotificationHandler(LoggingMessageNotificationSchema, ({ params }) => {
      if (params.logger === "loopback") told.push(ToolRequestEvent.parse(params.data));
    });
    client.setNotificationHandler(ResourceUpdatedNotificationSchema, ({ params }) => void updated.push(params.uri));
    await client.subscribeResource({ uri: PENDING });
    const child = await plexus.child("talkative");
    const call = await post(plexus.url, permitMessage({ command: "ls" }, { toolUseId: "toolu_told" }), child);
    await until("the notification", () => told.length > 0 && updated.length > 0);
    const [approval] = (await plexus.app.approvals.pending(operator, child.sessionId, 1)).approvals;
    expect(told).toEqual([
      {
        approval_id: approval?.id ?? "",
        session_name: "talkative",
        tool_name: "Bash",
        tool_input: { command: "ls" },
        tool_use_id: "toolu_told",
      },
    ]);
    expect(updated).toEqual([PENDING]);
    const { contents } = await client.readResource({ uri: PENDING });
    expect(JSON.stringify(contents)).toContain(approval?.id ?? "");
    call.disconnect();
  });

  test("waits without polling: loopback_wait returns when a child asks", async () => {
    await using own = await startPlexus();
    const parent = await own.connect();
    const child = await own.child();
    expect((await parent.call("loopback_wait", { timeout_secs: 0 })).value).toMatchObject({
      type: "timeout",
      cursor: 0,
    });
    const waiting = parent.call("loopback_wait", { since: 0, timeout_secs: 60 });
    const call = await post(own.url, permitMessage({ command: "ls" }), child);
    const { value } = await waiting;
    expect(value).toMatchObject({ type: "ok", approvals: [{ tool_name: "Bash" }], finished: [], cursor: 1 });
    expect((await parent.call("loopback_wait", { since: 1 })).value).toMatchObject({ type: "ok" });
    call.disconnect();
  });
});

describe("a client session", () => {
  test("goes on with another server on the same data dir, subscriptions included", async () => {
    await using directory = await temporaryDirectory();
    const session = await initializedSession(directory.path);
    await using later = await startPlexus({ dataDir: directory.path });
    const headers = { "mcp-session-id": session };
    const listed = await post(
      later.url,
      { jsonrpc: "2.0", id: 5, method: "tools/list" },
      { token: OPERATOR_TOKEN, headers },
    );
    expect(listed.status).toBe(200);
    const updates = await fetch(new URL("/mcp", later.url), {
      headers: { authorization: `Bearer ${OPERATOR_TOKEN}`, accept: "text/event-stream", ...headers },
    });
    const child = await later.child();
    const call = await post(later.url, permitMessage({ command: "ls" }), child);
    let seen = "";
    for await (const chunk of updates.body ?? []) {
      seen += new TextDecoder().decode(chunk);
      if (seen.includes("notifications/resources/updated")) break;
    }
    expect(seen).toContain("notifications/message");
    call.disconnect();
  });

  test("is restored once when its first two requests come at once", async () => {
    await using directory = await temporaryDirectory();
    const session = await initializedSession(directory.path);
    await using later = await startPlexus({ dataDir: directory.path });
    const headers = { "mcp-session-id": session };
    const [stream, listed] = await Promise.all([
      get(later.url, { token: OPERATOR_TOKEN, headers }),
      post(later.url, { jsonrpc: "2.0", id: 5, method: "tools/list" }, { token: OPERATOR_TOKEN, headers }),
    ]);
    expect([stream.status, listed.status]).toEqual([200, 200]);
    // A second stream is refused only if both requests found the same session.
    expect((await get(later.url, { token: OPERATOR_TOKEN, headers })).status).toBe(409);
    stream.disconnect();
  });

  test("reads as unknown to another principal, and after it was deleted", async () => {
    const message = { jsonrpc: "2.0", id: 5, method: "tools/list" };
    const { token } = await plexus.app.tokens.createNamed("stranger");
    const session = await initialize(plexus);
    const headers = { "mcp-session-id": session };
    expect((await post(plexus.url, message, { token, headers })).status).toBe(404);
    expect((await plexus.fetch("/mcp", { method: "DELETE", headers })).status).toBe(200);
    expect((await post(plexus.url, message, { token: OPERATOR_TOKEN, headers })).status).toBe(404);
  });

  test("ends when its token is revoked", async () => {
    const { token } = await plexus.app.tokens.createNamed("short-lived");
    const { client } = await plexus.connect(token);
    const closed = until("the stream to end", async () => {
      const answer = await client.listTools().catch(() => "refused");
      return answer === "refused";
    });
    await plexus.app.tokens.revoke("short-lived");
    await closed;
  });
});

async function initialize(server: Plexus): Promise<string> {
  const params = { protocolVersion: "2025-11-25", capabilities: {}, clientInfo: { name: "raw", version: "1" } };
  const answer = await post(
    server.url,
    { jsonrpc: "2.0", id: 1, method: "initialize", params },
    { token: OPERATOR_TOKEN },
  );
  const session = answer.headers.get("mcp-session-id") ?? "";
  await post(
    server.url,
    { jsonrpc: "2.0", method: "notifications/initialized" },
    { token: OPERATOR_TOKEN, headers: { "mcp-session-id": session } },
  );
  return session;
}

/** A client session that is subscribed to the pending approvals, on a server that has stopped. */
async function initializedSession(dataDir: string): Promise<string> {
  await using earlier = await startPlexus({ dataDir });
  const session = await initialize(earlier);
  const headers = { "mcp-session-id": session };
  const subscribe = { jsonrpc: "2.0", id: 2, method: "resources/subscribe", params: { uri: PENDING } };
  await (await post(earlier.url, subscribe, { token: OPERATOR_TOKEN, headers })).next();
  return session;
}
