import { describe, expect, test } from "bun:test";
import { ask, expectRefusal, namedToken, sessionOf } from "../http/support/callers.ts";
import { get, permitMessage, post } from "../support/mcp/raw-mcp.ts";
import { OPERATOR_TOKEN, type Plexus, startPlexus } from "../support/server/plexus.ts";
import { until } from "../support/until.ts";

const OPERATOR = { kind: "operator" } as const;
const PENDING_URI = "loopback://approvals/pending";

async function send(plexus: Plexus, token: string, body: unknown, headers: Record<string, string> = {}) {
  const response = await plexus.fetch("/mcp", { method: "POST", token, headers, body: JSON.stringify(body) });
  return { status: response.status, text: await response.text() };
}

/** Opens an MCP client session, and can open its stream of notifications. */
async function handshake(plexus: Plexus, token: string) {
  const params = { protocolVersion: "2025-11-25", capabilities: {}, clientInfo: { name: "test", version: "1" } };
  const { headers } = await post(plexus.url, { jsonrpc: "2.0", id: 0, method: "initialize", params }, { token });
  const session = { "mcp-session-id": headers.get("mcp-session-id") ?? "" };
  await post(plexus.url, { jsonrpc: "2.0", method: "notifications/initialized" }, { token, headers: session });
  return {
    headers: session,
    call: (id: number, method: string, params: object) =>
      post(plexus.url, { jsonrpc: "2.0", id, method, params }, { token, headers: session }),
    async listen() {
      const stream = await get(plexus.url, { token, headers: session });
      await stream.next();
      return stream;
    },
  };
}

const call = (name: string, args: object, id: number | string = 1) => ({
  jsonrpc: "2.0",
  id,
  method: "tools/call",
  params: { name, arguments: args },
});

const statusOf = async (plexus: Plexus, id: string) => (await plexus.app.approvals.get(OPERATOR, id)).status;

/** A server with a child that waits for a decision on its own request. */
async function childThatWaits() {
  const plexus = await startPlexus();
  const { session, token } = await sessionOf(plexus, OPERATOR, "worker");
  const { approvalId } = await ask(plexus, session, { tool_use_id: "toolu_own" });
  return { plexus, session, token, approvalId, [Symbol.asyncDispose]: () => plexus[Symbol.asyncDispose]() };
}

describe("a child's token", () => {
  const tools = (approvalId: string, sessionId: string): [string, object][] => [
    ["loopback_respond", { approval_id: approvalId, approve: true }],
    ["loopback_respond", { approval_id: approvalId, approve: true, updated_input: { command: "rm -rf /" } }],
    ["loopback_get", { approval_id: approvalId }],
    ["loopback_get", { approval_id: approvalId, offset: 0 }],
    ["loopback_pending", {}],
    ["loopback_pending", { session_id: sessionId }],
    ["loopback_wait", { timeout_secs: 0 }],
    ["loopback_configure", {}],
    ["loopback_configure", { session_id: sessionId }],
    ["claudecode_create", { name: "more" }],
    ["claudecode_delete", { session_id: sessionId }],
  ];

  test("is refused by every tool but its permit, in both spellings, and decides nothing", async () => {
    await using world = await childThatWaits();
    for (const [name, args] of tools(world.approvalId, world.session.id)) {
      for (const spelled of [name, name.replace("_", ".")]) {
        const { text } = await send(world.plexus, world.token, call(spelled, args));
        expect({ spelled, refused: text.includes('"isError":true') && text.includes("not_found") }).toEqual({
          spelled,
          refused: true,
        });
        expect(text).not.toContain("toolu_own");
      }
    }
    expect(await statusOf(world.plexus, world.approvalId)).toBe("pending");
  });

  test("is refused by every tool through a decider's MCP session too", async () => {
    await using world = await childThatWaits();
    const { headers } = await handshake(world.plexus, OPERATOR_TOKEN);
    for (const [name, args] of tools(world.approvalId, world.session.id)) {
      const { text } = await send(world.plexus, world.token, call(name, args), headers);
      expect({ name, leaks: text.includes("toolu_own") }).toEqual({ name, leaks: false });
    }
    expect(await statusOf(world.plexus, world.approvalId)).toBe("pending");
  });

  test("is refused by every tool within a batch", async () => {
    await using world = await childThatWaits();
    const batch = tools(world.approvalId, world.session.id).map(([name, args], id) => call(name, args, id));
    const { status, text } = await send(world.plexus, world.token, batch);
    expect(status).toBeLessThan(500);
    expect(text).not.toContain("toolu_own");
    expect(await statusOf(world.plexus, world.approvalId)).toBe("pending");
  });

  test.each([
    ["resources/list", {}],
    ["resources/templates/list", {}],
    ["resources/read", { uri: PENDING_URI }],
    ["resources/subscribe", { uri: PENDING_URI }],
    ["resources/unsubscribe", { uri: PENDING_URI }],
    ["prompts/list", {}],
    ["prompts/get", { name: "x" }],
    ["logging/setLevel", { level: "debug" }],
    ["completion/complete", { ref: { type: "ref/prompt", name: "x" }, argument: { name: "x", value: "" } }],
    ["tasks/list", {}],
    ["tasks/get", { taskId: "x" }],
    ["server/discover", {}],
    ["sampling/createMessage", { messages: [], maxTokens: 1 }],
    ["rpc.discover", {}],
  ])("is refused by the method %s, at once", async (method, params) => {
    await using world = await childThatWaits();
    const { text } = await send(world.plexus, world.token, { jsonrpc: "2.0", id: 1, method, params });
    expect(text).toContain('"error":{"code":-32601');
    expect(text).not.toContain("toolu_own");
  });

  test("lists only its permit", async () => {
    await using world = await childThatWaits();
    const { client } = await world.plexus.connect(world.token);
    expect((await client.listTools()).tools.map((tool) => tool.name)).toEqual(["loopback_permit"]);
    expect(client.getServerCapabilities()).toEqual({ tools: {} });
  });

  test("allows only POST: no stream of notifications, no session to end", async () => {
    await using world = await childThatWaits();
    const { headers } = await handshake(world.plexus, OPERATOR_TOKEN);
    for (const method of ["GET", "DELETE", "PUT", "PATCH", "OPTIONS"]) {
      for (const own of [{}, headers]) {
        const response = await world.plexus.fetch("/mcp", { method, token: world.token, headers: own });
        expect({ method, status: response.status }).toEqual({ method, status: 405 });
      }
    }
    const { text } = await send(world.plexus, OPERATOR_TOKEN, call("loopback_pending", {}), headers);
    expect(text).toContain("toolu_own");
  });

  test("files its permit under its own session, whatever it claims", async () => {
    await using world = await childThatWaits();
    const other = await sessionOf(world.plexus, OPERATOR, "other");
    const claims = { session_id: other.session.id, session_name: "other", owner: "token:x", status: "allowed" };
    const response = await world.plexus.fetch(`/mcp?session_id=${other.session.id}`, {
      method: "POST",
      token: world.token,
      body: JSON.stringify(call("loopback_permit", { tool_name: "Bash", input: { n: 1 }, ...claims })),
      headers: { "mcp-session-id": other.session.id, "x-plexus-session": other.session.id },
    });
    expect(response.status).toBe(200);
    const pending = (await world.plexus.app.approvals.pending(OPERATOR, undefined, 10)).approvals;
    expect(pending.map((approval) => [approval.session_id, approval.status])).toEqual([
      [world.session.id, "pending"],
      [world.session.id, "pending"],
    ]);
  });

  test("gets no sibling's answer by making the same request", async () => {
    await using world = await childThatWaits();
    await world.plexus.app.approvals.decide(OPERATOR, world.approvalId, { approve: true });
    const sibling = await sessionOf(world.plexus, OPERATOR, "sibling");
    const { approvalId } = await ask(world.plexus, sibling.session, { tool_use_id: "toolu_own" });
    expect(approvalId).not.toBe(world.approvalId);
    expect(await statusOf(world.plexus, approvalId)).toBe("pending");
  });

  test("resumes its own waiting permit, and no sibling's, which looks like none", async () => {
    await using world = await childThatWaits();
    const sibling = await sessionOf(world.plexus, OPERATOR, "sibling");
    const resume = async (token: string, id: string) => {
      const stream = await get(world.plexus.url, { token, headers: { "last-event-id": `${id}~1` } });
      stream.disconnect();
      return stream.status;
    };
    expect(await resume(world.token, world.approvalId)).toBe(200);
    expect(await resume(sibling.token, world.approvalId)).toBe(404);
    expect(await resume(sibling.token, crypto.randomUUID())).toBe(404);
  });
});

/** Two people, each with a session and a waiting child, and nothing in common. */
async function annAndBob() {
  const plexus = await startPlexus();
  const [ann, bob] = [await namedToken(plexus, "ann"), await namedToken(plexus, "bob")];
  const [hers, his] = [
    await sessionOf(plexus, ann.principal, "worker"),
    await sessionOf(plexus, bob.principal, "worker"),
  ];
  const herAsk = await ask(plexus, hers.session, { input: { secret: "of-ann" } });
  const hisAsk = await ask(plexus, his.session, { input: { secret: "of-bob" } });
  return {
    plexus,
    ann: { ...ann, ...hers, token: ann.token, childToken: hers.token, approvalId: herAsk.approvalId },
    bob: { ...bob, ...his, token: bob.token, childToken: his.token, approvalId: hisAsk.approvalId },
    [Symbol.asyncDispose]: () => plexus[Symbol.asyncDispose](),
  };
}

describe("a named token", () => {
  test("sees its own and nothing of another's, in every tool that reads", async () => {
    await using world = await annAndBob();
    const bob = await world.plexus.connect(world.bob.token);
    const answers = [
      await bob.call("loopback_pending"),
      await bob.call("loopback_wait", { timeout_secs: 0 }),
      await bob.call("loopback_pending", { session_id: "worker" }),
      await bob.call("loopback_get", { approval_id: world.bob.approvalId }),
    ];
    for (const { text } of answers) {
      expect(text).toContain("of-bob");
      expect(text).not.toContain("of-ann");
    }
    const { contents } = await bob.client.readResource({ uri: PENDING_URI });
    expect(JSON.stringify(contents)).toContain("of-bob");
    expect(JSON.stringify(contents)).not.toContain("of-ann");
  });

  test("gets the same answer for another's approvals and sessions as for missing ones", async () => {
    await using world = await annAndBob();
    const bob = await world.plexus.connect(world.bob.token);
    const { approvalId, session } = world.ann;
    const calls: [string, (id: string) => object, string][] = [
      ["loopback_respond", (id) => ({ approval_id: id, approve: true }), approvalId],
      ["loopback_get", (id) => ({ approval_id: id }), approvalId],
      ["loopback_get", (id) => ({ approval_id: id, offset: 0, length: 10 }), approvalId],
      ["loopback_pending", (id) => ({ session_id: id }), session.id],
      ["loopback_wait", (id) => ({ session_id: id, timeout_secs: 0 }), session.id],
      ["loopback_configure", (id) => ({ session_id: id }), session.id],
    ];
    const unknown = crypto.randomUUID();
    for (const [tool, args, hers] of calls) {
      const forHers = await bob.call(tool, args(hers));
      const forNone = await bob.call(tool, args(unknown));
      expect({ tool, code: forHers.value["code"] }).toEqual({ tool, code: "not_found" });
      expect(forHers.text.replaceAll(hers, "")).toBe(forNone.text.replaceAll(unknown, ""));
    }
    expect(await statusOf(world.plexus, approvalId)).toBe("pending");
  });

  test("is not woken by another's request", async () => {
    await using world = await annAndBob();
    const bob = await world.plexus.connect(world.bob.token);
    await bob.call("loopback_respond", { approval_id: world.bob.approvalId, approve: false });
    const waited = bob.call("loopback_wait", { timeout_secs: 60 });
    await ask(world.plexus, world.ann.session);
    const { approvalId } = await ask(world.plexus, world.bob.session);
    expect((await waited).value["approvals"]).toMatchObject([{ id: approvalId }]);
  });

  test("is notified only of its own requests", async () => {
    await using world = await annAndBob();
    const { call: request, listen } = await handshake(world.plexus, world.bob.token);
    await request(1, "resources/subscribe", { uri: PENDING_URI });
    const stream = await listen();
    await ask(world.plexus, world.ann.session);
    const { approvalId } = await ask(world.plexus, world.bob.session);
    const first = await stream.next();
    expect(first?.message?.params?.["data"]).toMatchObject({ approval_id: approvalId });
    expect((await stream.next())?.message?.method).toBe("notifications/resources/updated");
  });

  test("can't use another's MCP session, whatever the method", async () => {
    await using world = await annAndBob();
    const hers = await handshake(world.plexus, world.ann.token);
    for (const token of [world.bob.token, OPERATOR_TOKEN]) {
      const { status } = await send(world.plexus, token, call("loopback_pending", {}), hers.headers);
      expect(status).toBe(404);
      for (const method of ["GET", "DELETE"]) {
        const headers = { ...hers.headers, accept: "text/event-stream" };
        expect((await world.plexus.fetch("/mcp", { method, token, headers })).status).toBe(404);
      }
    }
    const still = await send(world.plexus, world.ann.token, call("loopback_pending", {}), hers.headers);
    expect(still.text).toContain("of-ann");
  });

  test("has no loopback_permit, neither in its list nor by its name, nor by resuming one", async () => {
    await using world = await annAndBob();
    const { text } = await send(world.plexus, world.bob.token, permitMessage({ command: "ls" }));
    expect(text).toContain("not_found");
    for (const id of [world.ann.approvalId, world.bob.approvalId]) {
      const headers = { "last-event-id": `${id}~1` };
      const stream = await get(world.plexus.url, { token: world.bob.token, headers });
      stream.disconnect();
      expect(stream.status).toBe(404);
    }
  });

  test("finds its own session by a name that another token also uses", async () => {
    await using world = await annAndBob();
    const bob = await world.plexus.connect(world.bob.token);
    const { value } = await bob.call("loopback_configure", { session_id: "worker" });
    expect(value["session_id"]).toBe(world.bob.session.id);
  });

  test("may be overruled by the operator, who sees everything", async () => {
    await using world = await annAndBob();
    const operator = await world.plexus.connect();
    const { text } = await operator.call("loopback_pending");
    expect([text.includes("of-ann"), text.includes("of-bob")]).toEqual([true, true]);
    const { value } = await operator.call("loopback_respond", { approval_id: world.ann.approvalId, approve: false });
    expect(value["type"]).toBe("ok");
  });
});

describe("a revoked token", () => {
  const revoke = (plexus: Plexus) => plexus.fetch("/api/v1/tokens/ann", { method: "DELETE" });

  test("is refused at once, within its MCP session too", async () => {
    await using world = await annAndBob();
    const { headers } = await handshake(world.plexus, world.ann.token);
    await revoke(world.plexus);
    for (const own of [{}, headers]) {
      const response = await world.plexus.fetch("/mcp", {
        method: "POST",
        token: world.ann.token,
        headers: own,
        body: JSON.stringify(call("loopback_respond", { approval_id: world.ann.approvalId, approve: true })),
      });
      await expectRefusal(response, 401, "unauthorized");
    }
    expect(await statusOf(world.plexus, world.ann.approvalId)).toBe("pending");
  });

  test("loses its stream of notifications", async () => {
    await using world = await annAndBob();
    const stream = await (await handshake(world.plexus, world.ann.token)).listen();
    await revoke(world.plexus);
    await ask(world.plexus, world.ann.session, { input: { secret: "told-too-late" } });
    expect(await stream.next()).toBeUndefined();
  });

  test("learns nothing from a wait that it had begun in its session", async () => {
    await using world = await annAndBob();
    const { headers } = await handshake(world.plexus, world.ann.token);
    expect(await toldAfterRevocation(world, headers)).not.toContain("told-too-late");
  });

  test("learns nothing from a wait that it had begun without a session", async () => {
    await using world = await annAndBob();
    expect(await toldAfterRevocation(world, {})).not.toContain("told-too-late");
  });

  /** Everything that a wait returns to a token that is revoked while it waits. */
  async function toldAfterRevocation({ plexus, ann }: Awaited<ReturnType<typeof annAndBob>>, headers: object) {
    await plexus.app.approvals.decide(OPERATOR, ann.approvalId, { approve: false });
    const wait = call("loopback_wait", { timeout_secs: 60 });
    const stream = await post(plexus.url, wait, { token: ann.token, headers: { ...headers } });
    await revoke(plexus);
    await ask(plexus, ann.session, { input: { secret: "told-too-late" } });
    let told = "";
    for (let event = await stream.next(); event; event = await stream.next()) told += JSON.stringify(event);
    return told;
  }

  test("leaves no MCP session to the next token of its name", async () => {
    await using world = await annAndBob();
    const { headers } = await handshake(world.plexus, world.ann.token);
    await revoke(world.plexus);
    const again = await namedToken(world.plexus, "ann");
    expect((await send(world.plexus, again.token, call("loopback_pending", {}), headers)).status).toBe(404);
  });

  test("leaves the children of its sessions to the operator", async () => {
    await using world = await annAndBob();
    await revoke(world.plexus);
    const asked = await post(world.plexus.url, permitMessage({ command: "ls" }), { token: world.ann.childToken });
    const approval = await until("the ask", async () => {
      const { approvals } = await world.plexus.app.approvals.pending(OPERATOR, world.ann.session.id, 10);
      return approvals.find(({ input }) => input["command"]);
    });
    await world.plexus.app.approvals.decide(OPERATOR, approval.id, { approve: false, message: "No." });
    expect(await asked.answer()).toBe('{"behavior":"deny","message":"No."}');
  });
});
