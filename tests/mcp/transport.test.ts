import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { PENDING_URI } from "../../src/mcp/service.ts";
import { get, permitMessage, post } from "../support/mcp/raw-mcp.ts";
import { OPERATOR_TOKEN, type Plexus, startPlexus } from "../support/server/plexus.ts";

const OPERATOR = { kind: "operator" } as const;
const ACCEPT = "application/json, text/event-stream";

let plexus: Plexus;
beforeAll(async () => {
  plexus = await startPlexus();
});
afterAll(() => plexus[Symbol.asyncDispose]());

const request = (method: string, params: object = {}, id = 1) => ({ jsonrpc: "2.0", id, method, params });

async function initialized(protocolVersion = "2025-11-25"): Promise<Record<string, string>> {
  const params = { protocolVersion, capabilities: {}, clientInfo: { name: "raw", version: "1" } };
  const { headers } = await send(request("initialize", params), { "mcp-protocol-version": "" });
  return { "mcp-session-id": headers.get("mcp-session-id") ?? "" };
}

/** Sends these headers beside those that every request needs. An empty value removes a header. */
async function send(body: unknown, headers: Record<string, string> = {}, token = OPERATOR_TOKEN): Promise<Response> {
  const sent = new Headers({ accept: ACCEPT, "mcp-protocol-version": "2025-11-25", ...headers });
  for (const [name, value] of Object.entries(headers)) if (value === "") sent.delete(name);
  return plexus.fetch("/mcp", { method: "POST", token, headers: sent, body: JSON.stringify(body) });
}

async function errorOf(response: Response): Promise<unknown> {
  const text = await response.text();
  const json = text.startsWith("{") ? text : (/^data: (\{.*)$/m.exec(text)?.[1] ?? "{}");
  return JSON.parse(json).error;
}

describe("a permit's request", () => {
  test.each([
    ["names a revision that there is not", { "mcp-protocol-version": "2024-01-01" }, 400],
    ["names no date as its revision", { "mcp-protocol-version": "1.0" }, 400],
    ["accepts no event stream", { accept: "application/json" }, 406],
    ["accepts no JSON", { accept: "text/event-stream" }, 406],
    ["is sent as text", { "content-type": "text/plain" }, 415],
  ])("is refused where it %s, and nothing is filed", async (_, headers, status) => {
    const child = await plexus.child();
    const response = await send(permitMessage({ command: "ls" }), headers, child.token);
    expect(response.status).toBe(status);
    expect(await errorOf(response)).toMatchObject({ code: -32000 });
    expect((await plexus.app.approvals.pending(OPERATOR, child.sessionId, 1)).approvals).toEqual([]);
  });

  test.each([
    ["2025-11-25", { "mcp-protocol-version": "2025-11-25" }],
    ["2024-11-05", { "mcp-protocol-version": "2024-11-05" }],
    ["no revision", { "mcp-protocol-version": "" }],
    ["no Accept", { accept: "" }],
    ["any Accept", { accept: "*/*" }],
  ])("is taken with %s", async (_, headers) => {
    const child = await plexus.child();
    const call = await send(permitMessage({ command: "ls" }), headers, child.token);
    expect(call.status).toBe(200);
    await call.body?.cancel();
  });

  test("resumes only for a client that accepts an event stream, in an existing revision", async () => {
    const child = await plexus.child();
    const call = await post(plexus.url, permitMessage({ command: "ls" }), child);
    const lastEventId = (await call.next())?.id ?? "";
    const resume = async (headers: Record<string, string>) => {
      const resumed = await get(plexus.url, { ...child, headers: { "last-event-id": lastEventId, ...headers } });
      resumed.disconnect();
      return resumed.status;
    };
    expect(await resume({ accept: "application/json" })).toBe(406);
    expect(await resume({ "mcp-protocol-version": "2024-01-01" })).toBe(400);
    expect(await resume({ accept: "text/event-stream" })).toBe(200);
    call.disconnect();
  });
});

describe("a batch", () => {
  const batch = [request("tools/list", {}, 1), request("resources/list", {}, 2)];

  test.each(["2025-06-18", "2025-11-25", "2026-07-28"])("is refused in %s, which has no batches", async (revision) => {
    const response = await send(batch, { "mcp-protocol-version": revision });
    expect(response.status).toBe(400);
    expect(await errorOf(response)).toMatchObject({ code: -32600 });
  });

  test("is refused in a session of a revision without batches, even without the header", async () => {
    const session = await initialized("2025-11-25");
    const response = await send(batch, { "mcp-protocol-version": "", ...session });
    expect({ status: response.status, error: await errorOf(response) }).toMatchObject({
      status: 400,
      error: { code: -32600 },
    });
  });

  test.each([
    ["no revision named", "", {}],
    ["2025-03-26", "2025-03-26", {}],
    ["a session of 2025-03-26", "2025-03-26", initialized],
  ])("is answered with %s, which had them", async (_, revision, session) => {
    const headers = typeof session === "function" ? await session(revision) : session;
    const answer = await (await send(batch, { "mcp-protocol-version": revision, ...headers })).text();
    expect(answer).toContain('"id":1');
    expect(answer).toContain('"id":2');
  });

  test("of a child is refused too", async () => {
    const { token } = await plexus.child();
    expect((await send([permitMessage({ command: "ls" })], {}, token)).status).toBe(400);
  });
});

describe("a request without a session", () => {
  test.each(["GET", "DELETE", "PUT"])("gets 405 for %s, with POST in the Allow header", async (method) => {
    const response = await plexus.fetch("/mcp", { method, headers: { accept: "text/event-stream" } });
    expect({ status: response.status, allow: response.headers.get("allow") }).toEqual({ status: 405, allow: "POST" });
  });

  test("gets 404 if it names an unknown session", async () => {
    const headers = { "mcp-session-id": crypto.randomUUID(), accept: "text/event-stream" };
    expect((await plexus.fetch("/mcp", { headers })).status).toBe(404);
  });
});

describe("a body that is no JSON", () => {
  test.each(["{", "", "nothing", '{"jsonrpc":"2.0",'])("is refused as JSON-RPC requires: %p", async (body) => {
    const response = await plexus.fetch("/mcp", { method: "POST", body });
    expect(response.status).toBe(400);
    expect(await response.json()).toEqual({
      jsonrpc: "2.0",
      id: null,
      error: { code: -32700, message: expect.stringContaining("JSON") },
    });
  });
});

describe("the resources", () => {
  test("have no templates", async () => {
    const { client } = await plexus.connect();
    expect(await client.listResourceTemplates()).toEqual({ resourceTemplates: [] });
  });

  test.each(["resources/read", "resources/subscribe"])("refuse %s of an unknown one with -32002", async (method) => {
    const uri = "loopback://approvals/none";
    const error = await errorOf(await send(request(method, { uri }), await initialized()));
    expect(error).toMatchObject({ code: -32002, data: { uri }, message: expect.stringContaining(PENDING_URI) });
  });

  test("do not repeat a long name in the message", async () => {
    const error = await errorOf(await send(request("resources/read", { uri: `x:${"y".repeat(10_000)}` })));
    expect(Object(error).message.length).toBeLessThan(500);
  });
});
