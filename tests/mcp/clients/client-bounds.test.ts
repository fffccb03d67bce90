import { Database } from "bun:sqlite";
import { describe, expect, test } from "bun:test";
import { join } from "node:path";
import type { JsonObject } from "../../../src/contract/values.ts";
import { createMcpEndpoint } from "../../../src/mcp/endpoint.ts";
import { createMcpServers, type McpServer } from "../../../src/mcp/server.ts";
import { namedToken } from "../../http/support/callers.ts";
import { openDirect } from "../../storage/sqlite/support/direct.ts";
import { get, post } from "../../support/mcp/raw-mcp.ts";
import { OPERATOR_TOKEN, type Plexus, startPlexus } from "../../support/server/plexus.ts";
import { temporaryDirectory } from "../../support/temporary.ts";
import { until } from "../../support/until.ts";

const MB = 1024 * 1024;
const PENDING = "loopback://approvals/pending";
const request = (method: string, params: JsonObject = {}): JsonObject => ({ jsonrpc: "2.0", id: 1, method, params });
const initialize = (name: string) =>
  request("initialize", { protocolVersion: "2025-11-25", capabilities: {}, clientInfo: { name, version: "1" } });

describe("an MCP client with a long introduction", () => {
  test("is served, and costs a few hundred bytes on disk", async () => {
    await using plexus = await startPlexus();
    const { token } = await namedToken(plexus, "evil");
    const sessions: string[] = [];
    for (let count = 0; count < 3; count++) {
      const body = JSON.stringify(initialize("x".repeat(30 * MB)));
      const answer = await plexus.fetch("/mcp", { method: "POST", token, body });
      expect(await answer.text()).toContain('"result":{"protocolVersion":"2025-11-25"');
      sessions.push(answer.headers.get("mcp-session-id") ?? "");
    }
    await until("all three are stored", () => stored(plexus.dataDir).length === 3);
    for (const { bytes } of stored(plexus.dataDir)) expect(bytes).toBeLessThan(1_000);
    for (const session of sessions) {
      const headers = { "mcp-session-id": session };
      expect((await post(plexus.url, request("tools/list"), { token, headers })).status).toBe(200);
    }
  });

  test("costs no more in memory, even if an earlier version stored all of it", async () => {
    await using data = await temporaryDirectory();
    const setup = [initialize("x".repeat(MB)), request("resources/subscribe", { uri: PENDING })];
    {
      using direct = openDirect(data.path);
      direct.mcpClients.save({ id: "old", owner: "operator", setup, usedAt: 1 });
    }
    await using plexus = await startPlexus({ dataDir: data.path });
    const servers: McpServer[] = [];
    const createServer = createMcpServers(plexus.app);
    await using endpoint = createMcpEndpoint(plexus.app, (principal) => {
      const server = createServer(principal);
      servers.push(server);
      return server;
    });
    const send = (message: JsonObject, headers: Record<string, string> = {}) => {
      const accept = { accept: "application/json, text/event-stream", "content-type": "application/json" };
      const sent = new Request("http://127.0.0.1/mcp", { method: "POST", headers: { ...accept, ...headers } });
      const held = { stayOpen: () => new DisposableStack(), stayOpenWithBody: () => new DisposableStack() };
      const caller = { principal: { kind: "operator" } as const, anonymous: false, held };
      return endpoint.handle(sent, { ...caller, stopping: new AbortController().signal, isLate: false }, message);
    };
    await (await send(initialize("x".repeat(MB)))).text();
    expect((await send(request("tools/list"), { "mcp-session-id": "old" })).status).toBe(200);
    expect(servers.map(({ server }) => server.getClientVersion()?.name.length)).toEqual([200, 200]);
    expect([...(servers[1]?.subscribed ?? [])]).toEqual([PENDING]);
    await until("what was kept is cut", () => stored(data.path).every(({ bytes }) => bytes < 1_000));
  });

  test("has at most ten subscriptions, and none to a resource with a long name", async () => {
    await using plexus = await startPlexus();
    const headers = { "mcp-session-id": await open(plexus) };
    const subscribe = async (uri: string) =>
      (await post(plexus.url, request("resources/subscribe", { uri }), { token: OPERATOR_TOKEN, headers })).next();
    await subscribe("x:".padEnd(MB, "x"));
    for (let count = 0; count < 20; count++) await subscribe(`x:${count}`);
    const [client] = stored(plexus.dataDir);
    expect(client?.messages).toBe(11);
    expect(client?.bytes).toBeLessThan(2_000);
  });
});

describe("the MCP clients of one owner", () => {
  test("are at most a thousand: the least recently used are forgotten", async () => {
    await using data = await temporaryDirectory();
    {
      using direct = openDirect(data.path);
      direct.write(() => {
        for (let number = 0; number < 1_000; number++)
          direct.mcpClients.save({ id: `c-${number}`, owner: "operator", setup: [initialize("x")], usedAt: number });
        direct.mcpClients.save({ id: "another's", owner: "token:1", setup: [], usedAt: 0 });
      });
    }
    await using plexus = await startPlexus({ dataDir: data.path });
    const status = async (id: string) => {
      const headers = { "mcp-session-id": id };
      const stream = await get(plexus.url, { token: OPERATOR_TOKEN, headers });
      stream.disconnect();
      return stream.status;
    };
    expect(await status("c-0")).toBe(200);
    await until("its use is noted", () => (stored(plexus.dataDir).find(({ id }) => id === "c-0")?.usedAt ?? 0) > 1_000);
    const added = [await open(plexus), await open(plexus)];
    const ids = stored(plexus.dataDir).map(({ id }) => id);
    expect(ids).toHaveLength(1_001);
    for (const id of [...added, "c-0", "c-3", "another's"]) expect(ids).toContain(id);
    expect(await status("c-1")).toBe(404);
    expect(await status("c-2")).toBe(404);
  });
});

/** Opens a client session of the operator. It is stored when the answer arrives. */
async function open(plexus: Plexus): Promise<string> {
  const answer = await post(plexus.url, initialize("raw"), { token: OPERATOR_TOKEN });
  return answer.headers.get("mcp-session-id") ?? "";
}

type Stored = { id: string; bytes: number; messages: number; usedAt: number };

function stored(dataDir: string): Stored[] {
  using sqlite = new Database(join(dataDir, "plexus.db"), { readonly: true });
  const columns = "id, octet_length(setup) AS bytes, json_array_length(setup) AS messages, used_at AS usedAt";
  return sqlite.query<Stored, []>(`SELECT ${columns} FROM mcp_clients`).all();
}
