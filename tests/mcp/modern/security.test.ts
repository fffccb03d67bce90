import { describe, expect, test } from "bun:test";
import type { JsonObject } from "../../../src/contract/values.ts";
import { ask, namedToken, sessionOf } from "../../http/support/callers.ts";
import { callModern, MODERN, modernHeaders, modernMessage, postModern } from "../../support/mcp/modern-mcp.ts";
import { OPERATOR_TOKEN, type Plexus, startPlexus } from "../../support/server/plexus.ts";

const OPERATOR = { kind: "operator" } as const;
const CLAIM = "io.modelcontextprotocol/protocolVersion";
const MB = 1024 * 1024;

/** Sends exactly these headers beside those of every request. */
async function send(plexus: Plexus, body: unknown, headers: Record<string, string>, token = OPERATOR_TOKEN) {
  const sent = { accept: "application/json, text/event-stream", ...headers };
  const response = await plexus.fetch("/mcp", { method: "POST", token, headers: sent, body: JSON.stringify(body) });
  return { status: response.status, text: await response.text() };
}

/** A server with a child that waits for a decision. */
async function childThatWaits() {
  const plexus = await startPlexus();
  const { session, token } = await sessionOf(plexus, OPERATOR, "worker");
  const { approvalId } = await ask(plexus, session, { tool_use_id: "toolu_own" });
  const params = { name: "loopback_respond", arguments: { approval_id: approvalId, approve: true } };
  return {
    plexus,
    token,
    approvalId,
    /** The call that would decide the child's request. */
    params,
    status: async () => (await plexus.app.approvals.get(OPERATOR, approvalId)).status,
    [Symbol.asyncDispose]: () => plexus[Symbol.asyncDispose](),
  };
}

describe("a request whose revision is not clear", () => {
  const headers = modernHeaders("tools/call", { name: "loopback_respond" });
  const { "mcp-protocol-version": _, ...withoutRevision } = headers;
  const { "mcp-method": __, ...withoutMethod } = headers;
  const { "mcp-name": ___, ...withoutName } = headers;
  const plain = (params: JsonObject) => ({ jsonrpc: "2.0", id: 1, method: "tools/call", params });
  const claiming = (version: unknown) => (params: JsonObject) =>
    modernMessage("tools/call", params, { meta: { [CLAIM]: version } });

  test.each<[string, (params: JsonObject) => unknown, Record<string, string>]>([
    ["has a modern header and claims nothing", plain, headers],
    ["claims what its header does not name", claiming(MODERN), { ...headers, "mcp-protocol-version": "2025-11-25" }],
    ["claims what no header names", claiming(MODERN), withoutRevision],
    ["claims an earlier revision", claiming("2025-11-25"), { ...headers, "mcp-protocol-version": "2025-11-25" }],
    ["claims an earlier revision without a header", claiming("2025-11-25"), {}],
    ["claims a revision to come", claiming("2099-01-01"), { ...headers, "mcp-protocol-version": "2099-01-01" }],
    ["claims a number", claiming(20260728), headers],
    ["claims null", claiming(null), headers],
    ["claims an object", claiming({ toString: MODERN }), headers],
    ["names two revisions", claiming(MODERN), { ...headers, "mcp-protocol-version": `${MODERN}, 2025-11-25` }],
    ["names no method", claiming(MODERN), withoutMethod],
    ["names another method", claiming(MODERN), { ...headers, "mcp-method": "tools/list" }],
    ["names no tool", claiming(MODERN), withoutName],
    ["names another tool", claiming(MODERN), { ...headers, "mcp-name": "loopback_pending" }],
    ["names the tool with a dot, unlike its message", claiming(MODERN), { ...headers, "mcp-name": "loopback.respond" }],
    ["is one of a batch", (params) => [claiming(MODERN)(params)], headers],
    ["is one of a batch with earlier ones", (params) => [plain(params), claiming(MODERN)(params)], {}],
    ["is an answer", () => ({ jsonrpc: "2.0", id: 1, result: {} }), headers],
  ])("is refused and does nothing: it %s", async (_title, message, sent) => {
    await using world = await childThatWaits();
    const { status, text } = await send(world.plexus, message(world.params), sent);
    expect({ status, text }).toEqual({ status: 400, text: expect.stringContaining('"error":{"code":-32') });
    expect(await world.status()).toBe("pending");
  });

  test("is the reason for the refusal: the same call with a clear revision decides", async () => {
    await using world = await childThatWaits();
    await send(world.plexus, claiming(MODERN)(world.params), headers);
    expect(await world.status()).toBe("allowed");
  });

  test("may still initialize an earlier one, unless its header is modern", async () => {
    await using plexus = await startPlexus();
    const params = { protocolVersion: MODERN, capabilities: {}, clientInfo: { name: "test", version: "1" } };
    const initialize = { jsonrpc: "2.0", id: 1, method: "initialize", params };
    expect((await send(plexus, initialize, {})).text).toContain('"protocolVersion":"2025-11-25"');
    expect(await send(plexus, initialize, { "mcp-protocol-version": MODERN })).toMatchObject({ status: 400 });
  });
});

describe("a child's token", () => {
  const methods: [string, JsonObject][] = [
    ["server/discover", {}],
    ["tools/list", {}],
    ["resources/list", {}],
    ["resources/read", { uri: "loopback://approvals/pending" }],
    ["subscriptions/listen", { notifications: { resourceSubscriptions: ["loopback://approvals/pending"] } }],
    ["tools/call", { name: "loopback_permit", arguments: { tool_name: "Bash", input: { command: "rm" } } }],
    ["tools/call", { name: "loopback.permit", arguments: { tool_name: "Bash", input: { command: "rm" } } }],
    ["tools/call", { name: "loopback_pending", arguments: {} }],
  ];

  test.each(methods)("is refused %s %p of 2026-07-28, and nothing is stored or sent", async (method, params) => {
    await using world = await childThatWaits();
    const message = modernMessage(method, params, { id: "probe" });
    const sent: [unknown, Record<string, string>][] = [
      [message, modernHeaders(method, params)],
      [message, {}],
      [message, { "mcp-protocol-version": "2025-11-25" }],
      [[message], {}],
      [{ jsonrpc: "2.0", id: "probe", method, params }, modernHeaders(method, params)],
    ];
    for (const [body, headers] of sent) {
      const { status, text } = await send(world.plexus, body, headers, world.token);
      expect({ status, text }).toEqual({ status: 400, text: expect.stringContaining("Unsupported protocol version") });
      expect(text).not.toContain("toolu_own");
      expect(JSON.parse(text).id).toBe(Array.isArray(body) ? null : "probe");
    }
    expect((await world.plexus.app.approvals.pending(OPERATOR, undefined, 5)).approvals).toHaveLength(1);
  });

  test("decides nothing in 2026-07-28", async () => {
    await using world = await childThatWaits();
    const headers = modernHeaders("tools/call", world.params);
    await send(world.plexus, modernMessage("tools/call", world.params), headers, world.token);
    expect(await world.status()).toBe("pending");
  });
});

describe("whoever calls in 2026-07-28", () => {
  test.each([
    ["without a token", null],
    ["with a wrong one", "plx_wrong"],
  ])("is refused %s", async (_, token) => {
    await using plexus = await startPlexus();
    const headers = modernHeaders("tools/list");
    const body = JSON.stringify(modernMessage("tools/list"));
    expect((await plexus.fetch("/mcp", { method: "POST", token, headers, body })).status).toBe(401);
  });

  test("sees with a named token only what is its own", async () => {
    await using world = await childThatWaits();
    const { token } = await namedToken(world.plexus, "stranger");
    const { url } = world.plexus;
    const pending = await callModern(url, "loopback_pending", {}, { token });
    expect(pending.result?.structuredContent).toMatchObject({ approvals: [] });
    const decided = await callModern(url, "loopback_respond", Object(world.params.arguments), { token });
    expect(decided.result?.structuredContent).toMatchObject({ type: "error", code: "not_found" });
    expect(await world.status()).toBe("pending");
  });

  test("learns from a waiting call only that its token was revoked", async () => {
    await using plexus = await startPlexus();
    const { token, principal } = await namedToken(plexus, "short-lived");
    // Without a session that could make a request, a wait would end immediately.
    await plexus.app.sessions.createByHand(principal);
    const params = { name: "loopback_wait", arguments: { timeout_secs: 100 } };
    const waiting = await postModern(plexus.url, "tools/call", params, { token });
    await plexus.app.tokens.revoke("short-lived");
    expect(JSON.parse(await waiting.answer())).toMatchObject({ type: "error", code: "unauthorized" });
    expect(await waiting.next()).toBeUndefined();
  });

  test("may send a long introduction, which is not kept", async () => {
    await using plexus = await startPlexus();
    const { token } = await namedToken(plexus, "evil");
    const meta = {
      "io.modelcontextprotocol/clientInfo": { name: "x".repeat(20 * MB), version: "1" },
      "x.y/z": Array.from({ length: 10_000 }, () => ({})),
    };
    const { result } = await callModern(plexus.url, "loopback_pending", {}, { token, meta });
    expect(result?.structuredContent).toMatchObject({ type: "ok" });
  });

  test.each([
    ["an id of a megabyte", { id: "x".repeat(MB) }, 400],
    ["a body of 33 MB", { meta: { x: "x".repeat(33 * MB) } }, 413],
    ["a meta of 200 levels", { meta: { x: JSON.parse(`${"[".repeat(200)}${"]".repeat(200)}`) } }, 422],
    ["a meta of 30,000 names", { meta: Object.fromEntries(Array.from({ length: 30_000 }, (_, n) => [n, n])) }, 413],
  ])("is refused with %s", async (_, options, status) => {
    await using plexus = await startPlexus();
    const message = modernMessage("tools/list", {}, options);
    expect((await send(plexus, message, modernHeaders("tools/list"))).status).toBe(status);
  });

  test("gets no progress for a token that is too long to repeat", async () => {
    await using plexus = await startPlexus();
    const params = { name: "loopback_wait", arguments: { timeout_secs: 0 } };
    const message = modernMessage("tools/call", params, { meta: { progressToken: "x".repeat(MB) } });
    const { text } = await send(plexus, message, modernHeaders("tools/call", params));
    expect(text.length).toBeLessThan(10_000);
  });

  test.each([
    ["accepts no event stream", { accept: "application/json" }, 406],
    ["sends text", { "content-type": "text/plain" }, 415],
  ])("is refused where it %s", async (_, headers, status) => {
    await using plexus = await startPlexus();
    const sent = { ...modernHeaders("tools/list"), ...headers };
    expect((await send(plexus, modernMessage("tools/list"), sent)).status).toBe(status);
  });
});
