import { describe, expect, test } from "bun:test";
import { TokenCreated } from "../../../src/contract/routes/tokens.ts";
import type { JsonObject } from "../../../src/contract/values.ts";
import { startHttpServer } from "../../../src/http/server.ts";
import { createMcpEndpoint } from "../../../src/mcp/endpoint.ts";
import { modernHeaders, modernMessage } from "../../support/mcp/modern-mcp.ts";
import { permitMessage, post } from "../../support/mcp/raw-mcp.ts";
import { vitalsOf } from "../../support/processes/vitals.ts";
import { OPERATOR_TOKEN, type Plexus, startPlexus } from "../../support/server/plexus.ts";
import { PROGRAM } from "../../support/server/program.ts";
import { startServerProcess } from "../../support/server/server-process.ts";
import { temporaryDirectory } from "../../support/temporary.ts";
import { until } from "../../support/until.ts";
import { expectRefusal, namedToken, sessionOf } from "../support/callers.ts";
import { head, sendRaw } from "../support/raw-request.ts";

/** A quarter of these is reserved for the operator; a token may hold 45, and a child 33. */
const DESCRIPTORS = 80;
const OF_TOKEN = 45;
const OF_CHILD = 33;
const OPERATOR = { kind: "operator" } as const;
const EVENTS = "/api/v1/events";

/** Starts a second server for the app, with few file descriptors. */
function startSmall({ app }: Plexus) {
  return startHttpServer(app, createMcpEndpoint(app), { descriptors: DESCRIPTORS });
}

type Sent = { path: string; token: string; method?: string; message?: object; headers?: Record<string, string> };

/** Sends a request and keeps its answer open. */
async function open(url: string, { path, token, method = "GET", message, headers = {} }: Sent) {
  const connection = new AbortController();
  const response = await fetch(url + path, {
    method: message ? "POST" : method,
    signal: connection.signal,
    headers: {
      authorization: `Bearer ${token}`,
      accept: "application/json, text/event-stream",
      ...(message && { "content-type": "application/json" }),
      ...headers,
    },
    ...(message && { body: JSON.stringify(message) }),
  });
  return { response, close: () => connection.abort() };
}

/** Opens one after the other until one is refused; returns those that are open. */
async function openAll(url: string, sent: (nth: number) => Sent | Promise<Sent>) {
  const streams: Awaited<ReturnType<typeof open>>[] = [];
  for (;;) {
    const stream = await open(url, await sent(streams.length));
    if (stream.response.status === 429) return { count: streams.length, refused: stream.response, streams };
    expect(stream.response.status).toBe(200);
    streams.push(stream);
    if (streams.length > DESCRIPTORS) throw new Error("none was refused");
  }
}

async function initialized(url: string, token: string): Promise<string> {
  const params = { protocolVersion: "2025-11-25", capabilities: {}, clientInfo: { name: "test", version: "1" } };
  const { headers } = await post(url, { jsonrpc: "2.0", id: 0, method: "initialize", params }, { token });
  return headers.get("mcp-session-id") ?? "";
}

describe("answers that one caller holds open", () => {
  test("are refused beyond the caller's share, until it closes one; other callers and the operator are not affected", async () => {
    await using plexus = await startPlexus();
    await using server = startSmall(plexus);
    const { token } = await namedToken(plexus, "laptop");
    const other = await namedToken(plexus, "desktop");
    const { count, refused, streams } = await openAll(server.url, () => ({ path: EVENTS, token }));
    expect(count).toBe(OF_TOKEN);
    expect(refused.headers.get("connection")).toBe("close");
    expect(await expectRefusal(refused, 429, "too_many_requests")).toContain("close some of them");
    for (const path of ["/api/v1/approvals", "/mcp"]) {
      expect((await open(server.url, { path, token })).response.status).toBe(429);
    }
    expect((await open(server.url, { path: EVENTS, token: other.token })).response.status).toBe(200);
    for (let opened = 0; opened < DESCRIPTORS; opened++) {
      expect((await open(server.url, { path: EVENTS, token: OPERATOR_TOKEN })).response.status).toBe(200);
    }
    streams[0]?.close();
    await until("room for one", async () => {
      const { response } = await open(server.url, { path: EVENTS, token });
      return response.status === 200;
    });
  });

  test("count equally for events, a session's events, and MCP notifications", async () => {
    await using plexus = await startPlexus();
    await using server = startSmall(plexus);
    const { token, principal } = await namedToken(plexus, "laptop");
    const { session } = await sessionOf(plexus, principal);
    const { count } = await openAll(server.url, async (nth) => {
      if (nth % 3 === 0) return { path: EVENTS, token };
      if (nth % 3 === 1) return { path: `/api/v1/sessions/${session.id}/events`, token };
      return { path: "/mcp", token, headers: { "mcp-session-id": await initialized(server.url, token) } };
    });
    expect(count).toBe(OF_TOKEN);
  });

  test("include waits and listeners of MCP 2026-07-28, until they are closed", async () => {
    await using plexus = await startPlexus();
    await using server = startSmall(plexus);
    const { token, principal } = await namedToken(plexus, "laptop");
    // Without a session that could ask, the call would not wait.
    await sessionOf(plexus, principal);
    const wait = { name: "loopback_wait", arguments: { timeout_secs: 110 } };
    const listen = { notifications: { resourceSubscriptions: ["loopback://approvals/pending"] } };
    const sent = (nth: number): Sent => {
      const [method, params]: [string, JsonObject] =
        nth % 2 === 0 ? ["tools/call", wait] : ["subscriptions/listen", listen];
      return { path: "/mcp", token, message: modernMessage(method, params), headers: modernHeaders(method, params) };
    };
    const { count, streams } = await openAll(server.url, sent);
    expect(count).toBe(OF_TOKEN);
    for (const { close } of streams) close();
    await until("room for all of them", async () => {
      const again = await openAll(server.url, sent);
      for (const { close } of again.streams) close();
      return again.count === OF_TOKEN;
    });
  });

  test("include a child's waiting permission requests, and leave room for its siblings and their owner", async () => {
    await using plexus = await startPlexus();
    await using server = startSmall(plexus);
    const laptop = await namedToken(plexus, "laptop");
    const { token } = await sessionOf(plexus, laptop.principal);
    const ask = (nth: number) => ({ path: "/mcp", token, message: permitMessage({ nth }, { id: nth }) });
    const { count, streams } = await openAll(server.url, ask);
    expect(count).toBe(OF_CHILD);
    const sibling = await sessionOf(plexus, laptop.principal);
    expect((await open(server.url, { ...ask(0), token: sibling.token })).response.status).toBe(200);
    expect((await open(server.url, { path: EVENTS, token: laptop.token })).response.status).toBe(200);
    for (const { close } of streams) close();
    await until("room for all of them", async () => {
      const again = await openAll(server.url, (nth) => ask(100 + nth));
      for (const { close } of again.streams) close();
      return again.count === OF_CHILD;
    });
  });

  test("no longer count when they end, are never read, or lose their caller at once", async () => {
    await using plexus = await startPlexus();
    await using server = startSmall(plexus);
    const { token } = await namedToken(plexus, "laptop");
    const { session, token: child } = await sessionOf(plexus, OPERATOR);
    const list = { jsonrpc: "2.0", id: 1, method: "tools/list" };
    const { host } = new URL(server.url);
    for (let nth = 0; nth < DESCRIPTORS; nth++) {
      expect((await open(server.url, { path: EVENTS, token, method: "HEAD" })).response.status).toBe(200);
      const { response } = await open(server.url, { path: "/mcp", token, message: list });
      expect(await response.text()).toContain("loopback_wait");
      await plexus.fetch(`/api/v1/sessions/${session.id}`, { token });
      const body = JSON.stringify(permitMessage({ nth }, { id: nth }));
      const length = String(Buffer.byteLength(body));
      const headers = { Host: host, Authorization: `Bearer ${child}`, "Content-Length": length };
      const socket = await Bun.connect({ hostname: "127.0.0.1", port: server.port, socket: { data() {} } });
      socket.write(head(server.url, "POST /mcp", { ...headers, "Content-Type": "application/json" }) + body);
      socket.end();
    }
    for (const [own, most] of [
      [token, OF_TOKEN],
      [child, OF_CHILD],
    ] as const) {
      await until("all of it to be let go", async () => {
        const { count, streams } = await openAll(server.url, (nth) =>
          own === token
            ? { path: EVENTS, token }
            : { path: "/mcp", token: own, message: permitMessage({ again: crypto.randomUUID() }, { id: nth }) },
        );
        for (const { close } of streams) close();
        return count === most;
      });
    }
  }, 30_000);
});

describe("a server with 200 file descriptors", () => {
  const LIMIT = 200;
  const start = async (dataDir: string) =>
    startServerProcess({
      dataDir,
      token: OPERATOR_TOKEN,
      program: ["/bin/sh", "-c", `ulimit -n ${LIMIT}; exec "$0" "$@"`, ...PROGRAM],
      cwd: process.cwd(),
    });
  const connected = async (url: string, count: number, first: string) => {
    const { port } = new URL(url);
    const connect = () => Bun.connect({ hostname: "127.0.0.1", port: Number(port), socket: { data() {}, error() {} } });
    const sockets = await Promise.all(Array.from({ length: count }, connect));
    for (const socket of sockets) socket.write(first);
    return {
      [Symbol.dispose]() {
        for (const socket of sockets) socket.terminate();
      },
    };
  };
  const approvals = (url: string) =>
    sendRaw(url, [head(url, "GET /api/v1/approvals", { Authorization: `Bearer ${OPERATOR_TOKEN}` })]);

  test("answers the operator while a token tries to hold more streams than there are descriptors", async () => {
    await using directory = await temporaryDirectory();
    await using server = await start(directory.path);
    const created = await fetch(`${server.url}/api/v1/tokens`, {
      method: "POST",
      headers: { authorization: `Bearer ${OPERATOR_TOKEN}`, "content-type": "application/json" },
      body: '{"name":"laptop"}',
    });
    const { token } = TokenCreated.parse(await created.json());
    using _ = await connected(
      server.url,
      2 * LIMIT,
      head(server.url, `GET ${EVENTS}`, { Authorization: `Bearer ${token}` }),
    );
    expect((await approvals(server.url)).status).toBe(200);
    await until("the refused ones to be closed", () => vitalsOf(server.pid).descriptors < 150);
  });

  test("closes idle connections when it has no file descriptors left", async () => {
    await using directory = await temporaryDirectory();
    await using server = await start(directory.path);
    using _ = await connected(server.url, LIMIT + 50, head(server.url, "GET /healthz"));
    expect((await approvals(server.url)).status).toBe(200);
    expect(server.log.filter((line) => line.includes("no file descriptors are left"))).toHaveLength(1);
  });
});
