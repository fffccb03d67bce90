import { Database } from "bun:sqlite";
import { describe, expect, test } from "bun:test";
import { join } from "node:path";
import { AjvJsonSchemaValidator } from "@modelcontextprotocol/sdk/validation/ajv";
import { z } from "zod";
import { APPROVAL_ID, SESSION_ID } from "../../../src/contract/samples.ts";
import { optional } from "../../../src/contract/values.ts";
import { listed } from "../../../src/mcp/tools/declaration/listing.ts";
import { formsOf } from "../../../src/mcp/tools/declaration/tool.ts";
import { CHILD_PERMIT, OPERATOR_PERMIT } from "../../../src/mcp/tools/permit-tool.ts";
import { PARENT_TOOLS, TOOLS } from "../../../src/mcp/tools/tools.ts";
import { expectAnswer, expectRefusal } from "../../contract/tools/answer.ts";
import { writeEcho } from "../../support/claude/stand-in.ts";
import { startPlexus } from "../../support/server/plexus.ts";
import { temporaryDirectory } from "../../support/temporary.ts";
import { until } from "../../support/until.ts";

const ALL = [...PARENT_TOOLS, CHILD_PERMIT, OPERATOR_PERMIT];
const named = ALL.map((tool) => [tool.name, tool] as const);

describe("a tool's declaration", () => {
  test.each(named)("of %s has examples that fit its input and its answer", (_, { input, answer, examples }) => {
    expect(examples).not.toBeEmpty();
    for (const example of examples) {
      input.parse(example.input);
      answer.parse(example.answer);
    }
  });

  test.each(named)("of %s has an example of each form of its answer", (_, { answer, examples }) => {
    for (const form of formsOf(answer)) {
      expect(examples.filter((example) => form.safeParse(example.answer).success)).not.toBeEmpty();
    }
  });

  test("is there once for each name that a role has", () => {
    for (const tools of Object.values(TOOLS)) {
      const names = tools.map(({ name }) => name);
      expect(names).toEqual([...new Set(names)]);
    }
  });
});

describe("a tool's inputSchema", () => {
  test.each(named)("of %s has nothing that some validators can't read, and lists no null", (_, tool) => {
    const { inputSchema } = listed(tool);
    expect(JSON.stringify(inputSchema)).not.toMatch(/\\\\p\{|"null"|null/);
    const schema = z.fromJSONSchema(z.record(z.string(), z.unknown()).parse(inputSchema));
    for (const { input } of tool.examples) schema.parse(input);
  });

  test("lists what it lists of a field beside null, whatever that is", () => {
    const input = z.strictObject({
      flag: optional(z.boolean()).describe("A flag"),
      choice: optional(z.union([z.string(), z.int()])),
      list: optional(z.array(z.string().nullable())),
      pattern: optional(z.string().regex(/^\p{L}$/u)),
      nested: z.object({ deep: optional(z.number()) }),
    });
    const { inputSchema } = listed({ ...CHILD_PERMIT, input });
    expect(inputSchema.properties).toMatchObject({
      flag: { type: "boolean", description: "A flag" },
      choice: { anyOf: [{ type: "string" }, { type: "integer" }] },
      list: { type: "array", items: { type: "string" } },
      nested: { properties: { deep: { type: "number" } } },
    });
    expect(inputSchema.properties?.["pattern"]).toEqual({ type: "string" });
  });

  test("of a session's name is still checked as before, and null still means absent", async () => {
    await using plexus = await startPlexus();
    const parent = await plexus.connect();
    expectRefusal(await parent.call("claudecode_create", { name: "!" }), "invalid_arguments");
    expectAnswer("loopback_pending", await parent.call("loopback_pending", { session_id: null }));
  });
});

test("all listed tools together cost a parent at most 4,400 tokens", () => {
  const tokens = JSON.stringify({ tools: TOOLS.operator.map(listed) }).length / 4;
  expect(tokens).toBeLessThanOrEqual(4_400);
});

describe("a tool's annotations", () => {
  test("mark no tool as read-only that writes anything, such as a position", async () => {
    await using place = await temporaryDirectory();
    await using plexus = await startPlexus({
      flags: { claude: writeEcho(place.path) },
      clocks: { rereadEveryMs: 3_600_000 },
    });
    const parent = await plexus.connect();
    const create = { name: "worker", working_dir: place.path };
    const { id } = (await parent.call("claudecode_create", create)).value;
    const session = await plexus.app.sessions.createByHand({ kind: "operator" }, "hand");
    const { approvalId } = await plexus.app.approvals.request(session, { tool_name: "Bash", input: { command: "x" } });
    // Unread events, and an end that no answer has told yet.
    await parent.call("claudecode_chat_async", { name: "worker", prompt: "Hello." });
    const isOver = async () => (await parent.call("claudecode_get", { name: "worker" })).value;
    await until("the end", async () => Object((await isOver())["config"]).status === "complete");
    using database = new Database(join(plexus.dataDir, "plexus.db"), { readonly: true });
    const version = () => database.query("PRAGMA data_version").get();

    const readOnly = PARENT_TOOLS.filter(({ annotations }) => annotations.readOnlyHint);
    expect(readOnly.length).toBeGreaterThan(5);
    for (const { name, examples } of readOnly) {
      const example = JSON.stringify(examples[0]?.input);
      const args = JSON.parse(example.replaceAll(SESSION_ID, String(id)).replaceAll(APPROVAL_ID, approvalId));
      const before = version();
      const { isError } = await parent.call(name, args);
      expect({ name, isError, version: version() }).toEqual({ name, isError: false, version: before });
    }
    const poll = await parent.call("claudecode_poll", { name: "worker" });
    expect(poll.value["events"]).not.toBeEmpty();
    expect((await parent.call("loopback_wait")).value["finished"]).toHaveLength(1);
  });
});

describe("a tool's outputSchema", () => {
  test.each(PARENT_TOOLS.map((tool) => [tool.name, tool] as const))(
    "of %s takes its examples and refusals, and nothing without a type",
    (_, tool) => {
      const validate = new AjvJsonSchemaValidator().getValidator(Object(listed(tool).outputSchema));
      const refusal = { type: "error", code: "not_found", message: "There is no session of this name." };
      for (const answer of [...tool.examples.map(({ answer }) => answer), refusal])
        expect(validate(answer)).toMatchObject({ valid: true });
      expect(validate({})).toMatchObject({ valid: false });
    },
  );

  test("is missing for the permit, whose answer is text for Claude Code", () => {
    for (const permit of [CHILD_PERMIT, OPERATOR_PERMIT]) expect(listed(permit)).not.toHaveProperty("outputSchema");
  });

  test("matches answers and refusals, as the official client checks", async () => {
    await using plexus = await startPlexus();
    await using place = await temporaryDirectory();
    const parent = await plexus.connect();
    // From now on the client checks structured content, also in refusals.
    await parent.client.listTools();
    const instead: Record<string, object> = {
      loopback_wait: { timeout_secs: 0 },
      claudecode_create: { name: "other", working_dir: place.path },
    };
    const refused = new Set<string>();
    for (const { name, examples } of PARENT_TOOLS) {
      if (name.startsWith("claudecode_chat") || name === "claudecode_run") continue;
      await parent.call("claudecode_create", { name: "worker", working_dir: place.path });
      const answer = await parent.call(name, { ...Object(examples[0]?.input), ...instead[name] });
      if (!answer.isError) expectAnswer(name, answer);
      // Some examples name things that do not exist here.
      else expectRefusal(answer, "not_found");
      if (answer.isError) refused.add(name);
    }
    expect(refused).toContain("loopback_get");
    expect(refused).not.toContain("claudecode_get");
  });
});
