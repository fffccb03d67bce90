import { describe, expect, test } from "bun:test";
import { z } from "zod";
import { declared, type ToolName } from "../support/mcp/tool-answers.ts";
import { type Plexus, startPlexus } from "../support/server/plexus.ts";
import { until } from "../support/until.ts";

const OPERATOR = { kind: "operator" } as const;

/** Creates a session with a request; returns both ids. */
async function sessionWithAsk(plexus: Plexus) {
  const session = await plexus.app.sessions.createByHand(OPERATOR);
  const { approvalId } = await plexus.app.approvals.request(session, { tool_name: "Bash", input: { command: "ls" } });
  return { session: session.id, approvalId };
}

type Call = { tool: ToolName; required?: Record<string, unknown> };
const calls = (approvalId: string): Call[] => [
  { tool: "loopback_wait", required: { timeout_secs: 0 } },
  { tool: "loopback_wait" },
  { tool: "loopback_pending" },
  { tool: "loopback_get", required: { approval_id: approvalId } },
  { tool: "loopback_configure" },
  { tool: "loopback_respond", required: { approval_id: approvalId, approve: false } },
];

/** The tool's arguments, except for the required ones. */
function othersOf({ tool, required = {} }: Call): string[] {
  const { properties = {} } = z.toJSONSchema(declared(tool).input, { io: "input", unrepresentable: "any" });
  return Object.keys(properties).filter((name) => !(name in required));
}

describe("an optional argument", () => {
  test("accepts null as absent, in every tool", async () => {
    await using plexus = await startPlexus();
    const parent = await plexus.connect();
    const { approvalId } = await sessionWithAsk(plexus);
    for (const call of calls(approvalId)) {
      const { tool, required } = call;
      const nulls = Object.fromEntries(othersOf(call).map((name) => [name, null]));
      const { value, isError } = await parent.call(tool, { ...required, ...nulls });
      expect({ tool, isError, type: value["type"] }).toEqual({ tool, isError: false, type: "ok" });
    }
  });

  test("accepts null as absent in loopback_permit", async () => {
    await using plexus = await startPlexus();
    const { token } = await plexus.child();
    const child = await plexus.connect(token);
    const answered = child.call("loopback_permit", { tool_name: "Bash", input: {}, tool_use_id: null });
    answered.catch(() => {});
    const [approval] = await until("the ask", async () => {
      const { approvals } = await plexus.app.approvals.pending(OPERATOR, undefined, 1);
      return approvals.length > 0 && approvals;
    });
    expect(approval?.tool_use_id).toBeNull();
  });

  test("is listed as not required, and without null, which is accepted but would cost tokens", async () => {
    await using plexus = await startPlexus();
    const { client } = await plexus.connect();
    const { tools } = await client.listTools();
    for (const call of calls("")) {
      const { tool } = call;
      const schema = tools.find((listed) => listed.name === tool)?.inputSchema;
      for (const name of othersOf(call)) expect(schema?.required ?? []).not.toContain(name);
      expect({ tool, hasNull: JSON.stringify(schema).includes("null") }).toEqual({ tool, hasNull: false });
    }
  });
});

describe("an argument that a tool does not have", () => {
  test("is refused by name, never ignored", async () => {
    await using plexus = await startPlexus();
    const parent = await plexus.connect();
    const { approvalId } = await sessionWithAsk(plexus);
    for (const { tool, required } of calls(approvalId)) {
      const { value, isError } = await parent.call(tool, { ...required, aproved: true });
      expect({ tool, isError, code: value["code"] }).toEqual({ tool, isError: true, code: "invalid_arguments" });
      expect(value["message"]).toContain("aproved");
    }
    expect((await plexus.app.approvals.get(OPERATOR, approvalId)).status).toBe("pending");
  });

  test("is listed as not allowed", async () => {
    await using plexus = await startPlexus();
    const { client } = await plexus.connect();
    for (const { name, inputSchema } of (await client.listTools()).tools) {
      const isStrict = inputSchema["additionalProperties"] === false;
      expect({ name, isStrict }).toEqual({ name, isStrict: name !== "loopback_permit" });
    }
  });
});

describe("a value that does not fit", () => {
  test.each([
    ["loopback_respond", { approve: "yes" }],
    ["loopback_respond", { approve: 1 }],
    ["loopback_respond", { approve: null }],
    ["loopback_respond", { approve: true, updated_input: {} }],
    ["loopback_respond", { approve: true, updated_input: "{}" }],
    ["loopback_respond", { approve: false, updated_input: { command: "ls" } }],
    ["loopback_respond", { approve: true, updated_input: { command: "x".repeat(50_000) } }],
    ["loopback_respond", { approve: true, interrupt: true }],
    ["loopback_respond", { approve: true, approval_id: 7 }],
    ["loopback_get", { offset: -1 }],
    ["loopback_get", { length: 0 }],
    ["loopback_get", { offset: 1.5 }],
    ["loopback_wait", { timeout_secs: 111, approval_id: undefined }],
    ["loopback_wait", { timeout_secs: -1, approval_id: undefined }],
    ["loopback_wait", { since: -1, approval_id: undefined }],
    ["loopback_configure", { name: "", approval_id: undefined }],
    ["loopback_configure", { name: "../../etc", approval_id: undefined }],
    ["loopback_configure", { name: "a".repeat(101), approval_id: undefined }],
    ["loopback_configure", { name: "a", session_id: "b", approval_id: undefined }],
  ])("is refused by %s: %j", async (tool, args) => {
    await using plexus = await startPlexus();
    const parent = await plexus.connect();
    const { approvalId } = await sessionWithAsk(plexus);
    const { value, isError } = await parent.call(tool, { approval_id: approvalId, ...args });
    expect({ isError, code: value["code"] }).toEqual({ isError: true, code: "invalid_arguments" });
    expect((await plexus.app.approvals.get(OPERATOR, approvalId)).status).toBe("pending");
  });
});

describe("a tool's name", () => {
  test("may be spelled with a dot", async () => {
    await using plexus = await startPlexus();
    const parent = await plexus.connect();
    const { approvalId } = await sessionWithAsk(plexus);
    for (const { tool, required } of calls(approvalId)) {
      const { isError } = await parent.call(tool.replace("_", "."), { ...required });
      expect({ tool, isError }).toEqual({ tool, isError: false });
    }
  });

  test("may be loopback.permit", async () => {
    await using plexus = await startPlexus();
    const { token } = await plexus.child();
    const child = await plexus.connect(token);
    const answered = child.call("loopback.permit", { tool_name: "Bash", input: { command: "ls" } });
    const [approval] = await until("the ask", async () => {
      const { approvals } = await plexus.app.approvals.pending(OPERATOR, undefined, 1);
      return approvals.length > 0 && approvals;
    });
    await plexus.app.approvals.decide(OPERATOR, approval?.id ?? "", { approve: true });
    expect((await answered).text).toBe('{"behavior":"allow","updatedInput":{"command":"ls"}}');
  });

  test.each([
    "",
    "loopback",
    "loopback-respond",
    "Loopback_respond",
    "loopback_respond ",
    "__proto__",
    "claudecode_obey",
  ])('is not_found when it is "%s", and the refusal names those that exist', async (name) => {
    await using plexus = await startPlexus();
    const parent = await plexus.connect();
    const { value, isError } = await parent.call(name);
    expect({ isError, code: value["code"] }).toEqual({ isError: true, code: "not_found" });
    expect(value["message"]).toContain("loopback_respond");
  });
});
