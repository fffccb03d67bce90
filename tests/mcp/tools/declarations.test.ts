import { describe, expect, test } from "bun:test";
import { z } from "zod";
import { listed } from "../../../src/mcp/tools/listing.ts";
import { CHILD_PERMIT, OPERATOR_PERMIT } from "../../../src/mcp/tools/permit-tool.ts";
import { formsOf } from "../../../src/mcp/tools/tool.ts";
import { PARENT_TOOLS, TOOLS } from "../../../src/mcp/tools/tools.ts";
import { expectAnswer, expectRefusal } from "../../contract/tools/answer.ts";
import { startPlexus } from "../../support/server/plexus.ts";
import { temporaryDirectory } from "../../support/temporary.ts";

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

describe("a tool's outputSchema", () => {
  test.each(PARENT_TOOLS.map((tool) => [tool.name, tool] as const))(
    "of %s takes its examples and refusals, has each field, and nothing that some validators can't read",
    (_, tool) => {
      const { outputSchema } = listed(tool);
      const schema = z.fromJSONSchema(z.record(z.string(), z.unknown()).parse(outputSchema));
      for (const { answer } of tool.examples) schema.parse(answer);
      schema.parse({ type: "error", code: "not_found", message: "There is no session of this name." });
      expect(schema.safeParse({ type: "something else" }).success).toBe(false);
      const fields = formsOf(tool.answer).flatMap(({ shape }) => Object.keys(shape));
      expect(Object.keys(outputSchema?.properties ?? {}).toSorted()).toEqual([...new Set(fields)].toSorted());
      expect(JSON.stringify(outputSchema)).not.toMatch(/"pattern"|"null"|"anyOf"|"oneOf"|\$ref/);
    },
  );

  test("is missing for the permit, whose answer is text for Claude Code alone", () => {
    for (const permit of [CHILD_PERMIT, OPERATOR_PERMIT]) expect(listed(permit)).not.toHaveProperty("outputSchema");
  });

  test("costs less than 1,500 tokens for all tools together", () => {
    const characters = PARENT_TOOLS.map((tool) => JSON.stringify(listed(tool).outputSchema).length);
    expect(characters.reduce((sum, count) => sum + count, 0) / 4).toBeLessThan(1_500);
  });

  test("is held against answers and refusals by the official client", async () => {
    await using plexus = await startPlexus();
    await using place = await temporaryDirectory();
    const parent = await plexus.connect();
    // From then on the client checks structured content, also that of a refusal.
    await parent.client.listTools();
    const instead: Record<string, object> = {
      loopback_wait: { timeout_secs: 0 },
      claudecode_create: { name: "other", working_dir: place.path },
    };
    const refused = new Set<string>();
    for (const { name, examples } of PARENT_TOOLS) {
      if (name.startsWith("claudecode_chat")) continue;
      await parent.call("claudecode_create", { name: "worker", working_dir: place.path });
      const answer = await parent.call(name, { ...Object(examples[0]?.input), ...instead[name] });
      if (!answer.isError) expectAnswer(name, answer);
      // Some examples name what is not there.
      else expectRefusal(answer, "not_found");
      if (answer.isError) refused.add(name);
    }
    expect(refused).toContain("loopback_get");
    expect(refused).not.toContain("claudecode_get");
  });
});
