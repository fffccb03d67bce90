import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { PARENT_TOOLS } from "../../../src/mcp/tools/tools.ts";
import { type Plexus, startPlexus } from "../../support/server/plexus.ts";
import { supervised } from "./supervised.ts";

/** Arguments whose purpose is clear from their names and the tool. */
const EVIDENT = [
  "name",
  "new_name",
  "session_id",
  "approval_id",
  "prompt",
  "tool_name",
  "input",
  "tool_use_id",
  "expires_in_secs",
  "rule_id",
];

describe("the tools", () => {
  const PARENT = PARENT_TOOLS.map(({ name }) => name).toSorted();
  let plexus: Plexus;
  beforeAll(async () => {
    plexus = await startPlexus();
  });
  afterAll(() => plexus[Symbol.asyncDispose]());

  const listed = async (token?: string) => {
    const { client } = await plexus.connect(token);
    return (await client.listTools()).tools;
  };
  const namesOf = async (token?: string) => (await listed(token)).map((tool) => tool.name).toSorted();

  test("of the operator are all tools", async () => {
    expect(await namesOf()).toEqual([...PARENT, "loopback_permit"].toSorted());
  });

  test("of a named token are the parent's tools", async () => {
    expect(await namesOf((await plexus.app.tokens.createNamed("laptop")).token)).toEqual(PARENT);
  });

  test("of a child are only its permit", async () => {
    expect(await namesOf((await plexus.child()).token)).toEqual(["loopback_permit"]);
  });

  test("have a description, and one for each argument", async () => {
    const tools = await listed();
    const settings = tools.find(({ name }) => name === "claudecode_create")?.inputSchema.properties ?? {};
    for (const { name, description, inputSchema } of tools) {
      expect(description?.length ?? 0).toBeGreaterThan(40);
      const isLikeCreate = ["claudecode_run", "claudecode_update", "loopback_configure"].includes(name);
      for (const [argument, schema] of Object.entries(inputSchema.properties ?? {})) {
        // `claudecode_create` describes it, or its name is clear.
        if (isLikeCreate && argument in settings) continue;
        if (EVIDENT.includes(argument)) continue;
        // As loopback_wait describes it.
        if (["skip", "consumer"].includes(argument) && name !== "loopback_wait") continue;
        // loopback_rule_add describes it.
        if (name === "loopback_rule_test" && ["decision", "match"].includes(argument)) continue;
        expect({ name, argument, schema }).toEqual({
          name,
          argument,
          schema: expect.objectContaining({ description: expect.any(String) }),
        });
      }
    }
  });
});

describe("a child's input", () => {
  test("is marked as untrusted text in every description of a tool that shows it", async () => {
    await using world = await supervised();
    const { tools } = await world.parent.client.listTools();
    for (const name of ["loopback_wait", "loopback_pending", "loopback_get"]) {
      expect(tools.find((tool) => tool.name === name)?.description).toContain("untrusted");
    }
  });

  test("is marked as untrusted text in every result that shows it", async () => {
    await using world = await supervised();
    const { id } = await world.ask();
    const answers = [
      await world.parent.call("loopback_wait"),
      await world.parent.call("loopback_pending"),
      await world.parent.call("loopback_get", { approval_id: id }),
      await world.parent.call("loopback_get", { approval_id: id, offset: 0 }),
    ];
    const fields = [["approvals", "finished"], ["approvals"], ["approval"], ["text"]];
    expect(answers.map(({ value }) => value["untrusted"])).toEqual(fields);
  });
});

describe("the instructions", () => {
  test("explain the shortest loop for a decider in 500 tokens", async () => {
    await using world = await supervised();
    const instructions = world.parent.client.getInstructions() ?? "";
    expect(instructions.length / 4).toBeLessThan(500);
    for (const word of [
      ...["claudecode_run", "loopback_respond and wait_secs", "loopback_wait", "remember {scope", "decisions for many"],
      ...["untrusted", "expires_in_secs", "already_resolved", "older since", "loopback_get", "view summary"],
    ]) {
      expect(instructions).toContain(word);
    }
  });

  test("tell a child nothing about how decisions are made", async () => {
    await using world = await supervised();
    expect(world.child.client.getInstructions()).not.toContain("loopback_respond");
  });
});
