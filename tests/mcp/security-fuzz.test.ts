import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import fc from "fast-check";
import { ask, namedToken, sessionOf } from "../http/support/callers.ts";
import { permitMessage, post } from "../support/mcp/raw-mcp.ts";
import { OPERATOR_TOKEN, startPlexus } from "../support/server/plexus.ts";
import { until } from "../support/until.ts";

const OPERATOR = { kind: "operator" } as const;
const RUNS = Number(Bun.env["FUZZ_RUNS"] ?? 250);
const SEED = Number(Bun.env["FUZZ_SEED"] ?? Date.now() % 2 ** 31);
console.log(`fuzzed with FUZZ_SEED=${SEED}`);

type Caller = "the operator" | "a named token" | "a child" | "nobody, with --auth none" | "nobody";
const CALLERS: Caller[] = ["the operator", "a named token", "a child", "nobody, with --auth none", "nobody"];

/** A server on which the operator's child and a named token's child wait for a decision. */
async function openWorld(caller: Caller) {
  const plexus = await startPlexus(caller === "nobody, with --auth none" ? { flags: { auth: "none" } } : {});
  const ann = await namedToken(plexus, "ann");
  const [own, other] = [await sessionOf(plexus, OPERATOR, "own"), await sessionOf(plexus, ann.principal, "other")];
  const [ownId, otherId] = [(await ask(plexus, own.session)).approvalId, (await ask(plexus, other.session)).approvalId];
  const callers: Record<Caller, { token: string | null; decides: string[] }> = {
    "the operator": { token: OPERATOR_TOKEN, decides: [ownId, otherId] },
    "a named token": { token: ann.token, decides: [otherId] },
    "a child": { token: own.token, decides: [] },
    "nobody, with --auth none": { token: null, decides: [ownId, otherId] },
    nobody: { token: null, decides: [] },
  };
  const { token } = callers[caller];
  const params = { protocolVersion: "2025-11-25", capabilities: {}, clientInfo: { name: "fuzz", version: "1" } };
  const initialize = { jsonrpc: "2.0", id: 0, method: "initialize", params };
  const { headers } = await post(plexus.url, initialize, { token });
  return {
    plexus,
    ...callers[caller],
    /** Set for callers who get a client session. */
    mcpSession: headers.get("mcp-session-id") ?? "",
    ids: [ownId, otherId],
    sessionIds: [own.session.id, other.session.id],
    [Symbol.asyncDispose]: () => plexus[Symbol.asyncDispose](),
  };
}
type World = Awaited<ReturnType<typeof openWorld>>;

/** Values of every JSON type, with those that tend to break things. */
const odd = fc.oneof(
  { weight: 3, arbitrary: fc.jsonValue() },
  fc.constantFrom<unknown>(
    null,
    true,
    false,
    0,
    -1,
    1e308,
    2 ** 53,
    "",
    "\u0000",
    "\ud800",
    "__proto__",
    [],
    {},
    [[]],
    "1",
  ),
  fc.constant(JSON.parse('{"__proto__":{"approve":true},"constructor":{"prototype":{"approve":true}}}')),
);
/** Mostly `likely`, so that odd values get past the first check, and sometimes anything. */
const mostly = <T>(likely: fc.Arbitrary<T>) =>
  fc.oneof({ weight: 9, arbitrary: likely }, { weight: 1, arbitrary: odd });
const object = fc.dictionary(fc.string(), odd, { maxKeys: 5 });
const text = fc.string({ minLength: 1 });

/** A decision that must not count: from a caller who may not decide, or without true or false. */
function decision({ ids, decides }: World) {
  const fields = { message: mostly(text), updated_input: mostly(object), interrupt: mostly(fc.boolean()) };
  const undecided = odd.filter((value) => typeof value !== "boolean");
  return fc.oneof(
    ...ids.map((id) => {
      const approve = decides.includes(id) ? undecided : fc.oneof(fc.boolean(), odd);
      return fc.record({ approval_id: fc.constant(id), approve, ...fields }, { requiredKeys: ["approval_id"] });
    }),
    fc.record({ approval_id: odd, approve: fc.oneof(fc.boolean(), odd), ...fields }, { requiredKeys: [] }),
  );
}

function toolCall(world: World) {
  const spelled = (name: string) => mostly(fc.constantFrom(name, name.replace("_", ".")));
  const sessionId = mostly(fc.oneof(fc.constantFrom(...world.sessionIds), text));
  const approvalId = mostly(fc.constantFrom(...world.ids));
  const position = mostly(fc.nat());
  const tools: [string, fc.Arbitrary<unknown>][] = [
    [
      "loopback_permit",
      fc.record(
        { tool_name: mostly(text), input: mostly(object), tool_use_id: mostly(text), session_id: sessionId },
        { requiredKeys: ["tool_name", "input"] },
      ),
    ],
    ["loopback_respond", decision(world)],
    [
      "loopback_get",
      fc.record({ approval_id: approvalId, offset: position, length: position }, { requiredKeys: ["approval_id"] }),
    ],
    ["loopback_pending", fc.record({ session_id: sessionId }, { requiredKeys: [] })],
    [
      "loopback_wait",
      fc.record({ session_id: sessionId, since: position, timeout_secs: position }, { requiredKeys: [] }),
    ],
    ["loopback_configure", fc.record({ name: mostly(text), session_id: sessionId }, { requiredKeys: [] })],
  ];
  return fc.oneof(
    ...tools.map(([name, args]) =>
      fc.record(
        { name: spelled(name), arguments: mostly(args), _meta: fc.record({ progressToken: mostly(fc.nat()) }) },
        { requiredKeys: ["name", "arguments"] },
      ),
    ),
  );
}

function rpcMessage(world: World) {
  const call = fc.record({
    jsonrpc: fc.constant("2.0"),
    id: mostly(fc.oneof(fc.integer(), fc.string())),
    method: fc.constant("tools/call"),
    params: toolCall(world),
  });
  const method = fc.constantFrom(
    "initialize",
    "ping",
    "tools/list",
    "resources/read",
    "resources/subscribe",
    "logging/setLevel",
    "notifications/cancelled",
    "server/discover",
  );
  const other = fc.record(
    { jsonrpc: mostly(fc.constant("2.0")), id: odd, method: mostly(method), params: odd, result: odd, error: odd },
    { requiredKeys: ["jsonrpc", "method"] },
  );
  return fc.oneof({ weight: 5, arbitrary: call }, { weight: 1, arbitrary: other });
}

/** Bodies from nearly right to pure noise. */
function bodies(likely: fc.Arbitrary<unknown>): fc.Arbitrary<string | Uint8Array> {
  const json = likely.map((value) => JSON.stringify(value));
  const batch = fc.array(likely, { maxLength: 6 }).map((values) => JSON.stringify(values));
  const cut = fc.tuple(json, fc.nat()).map(([whole, at]) => whole.slice(0, at % whole.length));
  const changed = fc.tuple(json, fc.nat(), fc.string({ maxLength: 2 })).map(([whole, at, noise]) => {
    const position = at % whole.length;
    return whole.slice(0, position) + noise + whole.slice(position + 1);
  });
  const noise = fc.oneof(
    odd.map((value) => JSON.stringify(value)),
    fc.string(),
    fc.uint8Array({ maxLength: 200 }),
  );
  return fc.oneof({ weight: 8, arbitrary: json }, { weight: 2, arbitrary: batch }, cut, changed, noise);
}

/** Sends, reads the beginning of the answer, and closes the connection: a permit would wait for ever. */
async function statusOf(world: World, path: string, body: string | Uint8Array, headers: Record<string, string>) {
  const connection = new AbortController();
  const init = { method: "POST", token: world.token, body, headers, signal: connection.signal };
  const response = await world.plexus.fetch(path, init);
  await response.body?.getReader().read();
  connection.abort();
  return response.status;
}

async function expectUnharmed({ plexus, ids }: World): Promise<void> {
  expect(plexus.log.filter((line) => line.includes('"level":"error"'))).toEqual([]);
  expect((await plexus.app.approvals.list(OPERATOR, { status: "allowed", limit: 10 })).approvals).toEqual([]);
  for (const id of ids) expect((await plexus.app.approvals.get(OPERATOR, id)).status).toBe("pending");
}

describe.each(CALLERS)("whatever %s sends", (caller) => {
  let fuzzed: World;
  beforeAll(async () => {
    fuzzed = await openWorld(caller);
  });
  afterAll(() => fuzzed[Symbol.asyncDispose]());

  test("to /mcp is never a 5xx, never an error in the log, and never allows anything", async () => {
    const oddHeaders = fc.record(
      {
        accept: fc.constantFrom("application/json, text/event-stream", "*/*", "text/html", ""),
        "content-type": fc.constantFrom("application/json", "text/plain", ""),
        "mcp-protocol-version": fc.constantFrom("2025-11-25", "2024-11-05", "9999", "x"),
        "mcp-session-id": fc.constantFrom("", "x", fuzzed.sessionIds[0] ?? "", "..", "a".repeat(500)),
        "last-event-id": fc.constantFrom("", "1", `${fuzzed.ids[0]}~1`, `${fuzzed.ids[1]}~"x"`, "~", "x~{"),
      },
      { requiredKeys: [] },
    );
    const inSession = fc.constant<Record<string, string>>(
      fuzzed.mcpSession ? { "mcp-session-id": fuzzed.mcpSession } : {},
    );
    const headers = fc.oneof(
      { weight: 4, arbitrary: fc.constant({}) },
      { weight: 4, arbitrary: inSession },
      { weight: 1, arbitrary: oddHeaders },
    );
    await fc.assert(
      fc.asyncProperty(bodies(rpcMessage(fuzzed)), headers, async (body, given) => {
        expect(await statusOf(fuzzed, "/mcp", body, given)).toBeLessThan(500);
        await expectUnharmed(fuzzed);
      }),
      { numRuns: RUNS, seed: SEED },
    );
  }, 60_000);

  test("to /api/v1/approvals/:id/respond is never a 5xx and never allows anything", async () => {
    const decided = decision(fuzzed).filter(({ approval_id: id }) => typeof id === "string" && id !== "");
    await fc.assert(
      fc.asyncProperty(decided, fc.nat(), async ({ approval_id: id, ...rest }, choice) => {
        const [body] = fc.sample(bodies(fc.constant(rest)), { seed: choice, numRuns: 1 });
        const path = `/api/v1/approvals/${encodeURIComponent(String(id).toWellFormed())}/respond`;
        expect(await statusOf(fuzzed, path, body ?? "", {})).toBeLessThan(500);
        await expectUnharmed(fuzzed);
      }),
      { numRuns: RUNS, seed: SEED },
    );
  }, 60_000);

  test("leaves the server able to answer", async () => {
    expect((await fuzzed.plexus.fetch("/healthz", { token: null })).status).toBe(200);
    const pending = (await fuzzed.plexus.app.approvals.pending(OPERATOR, undefined, 1_000)).approvals;
    for (const { id } of pending.slice(0, 3)) {
      expect(await fuzzed.plexus.app.approvals.decide(OPERATOR, id, { approve: false })).toMatchObject({ type: "ok" });
    }
  });
});

describe("a permit with an odd envelope", () => {
  const permit = (fields: object) => ({ ...permitMessage({ command: "ls" }), ...fields });
  const { id: _, ...notification } = permit({}) as Record<string, unknown>;

  test.each<[string, unknown]>([
    ["an id of null", permit({ id: null })],
    ["an object for an id", permit({ id: { a: 1 } })],
    ["a list for an id", permit({ id: [1] })],
    ["a boolean for an id", permit({ id: true })],
    ["a fraction for an id", permit({ id: 1.5 })],
    ["no id at all: a notification", notification],
    ["no version", permit({ jsonrpc: undefined })],
    ["another version", permit({ jsonrpc: "1.0" })],
    ["another member beside the known", permit({ result: {} })],
    ["a batch around it", [permit({})]],
    ["a batch of two with one id", [permit({}), permit({})]],
    ["a batch of fifty", Array.from({ length: 50 }, (_, id) => permit({ id }))],
    ["a batch with a handshake", [{ jsonrpc: "2.0", id: 0, method: "initialize", params: {} }, permit({})]],
    ["a batch in a batch", [[permit({})]]],
    ["an empty batch", []],
    ["a method in capitals", permit({ method: "TOOLS/CALL" })],
    ["its name in a list", permit({ params: { name: ["loopback_permit"], arguments: {} } })],
    ["no parameters", permit({ params: undefined })],
    ["parameters in a list", permit({ params: ["loopback_permit"] })],
  ])("(%s) is refused, files nothing, and never allows", async (_, body) => {
    await using plexus = await startPlexus();
    const { token } = await plexus.child();
    const response = await plexus.fetch("/mcp", { method: "POST", token, body: JSON.stringify(body) });
    expect(response.status).toBeLessThan(500);
    expect(await response.text()).not.toContain("allow\\");
    expect((await plexus.app.approvals.list(OPERATOR, { limit: 10 })).approvals).toEqual([]);
    expect(plexus.log.filter((line) => line.includes('"level":"error"'))).toEqual([]);
  });

  test.each<[string, string | number]>([
    ["a text of a kilobyte", "x".repeat(1_000)],
    ["an empty text", ""],
    ["a text of control characters", "\u0000\n\r\n\r\nid: 1\ndata: {}\n\n"],
    ["the largest safe number", Number.MAX_SAFE_INTEGER],
    ["zero", 0],
    ["a negative number", -7],
  ])("(%s for an id) is answered under that id", async (_, id) => {
    await using plexus = await startPlexus();
    const { token } = await plexus.child();
    const stream = await post(plexus.url, permit({ id }), { token });
    const approval = await until(
      "the ask",
      async () => (await plexus.app.approvals.pending(OPERATOR, undefined, 1)).approvals[0],
    );
    await plexus.app.approvals.decide(OPERATOR, approval.id, { approve: true });
    let answered: unknown;
    for (let event = await stream.next(); event; event = await stream.next()) {
      if (event.message?.result) answered = event.message.id;
    }
    expect(answered).toBe(id);
  });

  test("(an id of megabytes) is refused, because a waiting call would keep it in memory", async () => {
    await using plexus = await startPlexus();
    const { token } = await plexus.child();
    const stream = await post(plexus.url, permit({ id: "x".repeat(1_000_000) }), { token });
    expect(await stream.answer()).toContain("invalid_arguments");
    expect((await plexus.app.approvals.list(OPERATOR, { limit: 1 })).approvals).toEqual([]);
  });

  test("that shares its id with another in flight gets its own answer and not the other's", async () => {
    await using plexus = await startPlexus();
    const { token } = await plexus.child();
    const asks = await Promise.all(
      ["one", "two"].map((command) => post(plexus.url, permitMessage({ command }, { id: 7 }), { token })),
    );
    const pending = await until("both asks", async () => {
      const both = (await plexus.app.approvals.pending(OPERATOR, undefined, 10)).approvals;
      return both.length === 2 && both;
    });
    for (const { id, input } of pending) {
      await plexus.app.approvals.decide(OPERATOR, id, { approve: input["command"] === "one", message: "No." });
    }
    expect(await Promise.all(asks.map((one) => one.answer()))).toEqual([
      '{"behavior":"allow","updatedInput":{"command":"one"}}',
      '{"behavior":"deny","message":"No."}',
    ]);
  });
});
