import { beforeAll, describe, expect, setDefaultTimeout, test } from "bun:test";
import { z } from "zod";
import { builtinRule } from "../../../src/core/rules/builtin/builtin.ts";
import { TOOL_KEYS } from "../../../src/core/rules/tool-keys.ts";
import { startPermitStub } from "../../claude/mcp-stub.ts";
import { withClaude } from "../../support/claude/claude.ts";
import { readResults, script, startScriptedModel, type Turn } from "../../support/model/scripted-model.ts";
import { plantTree } from "./tree.ts";

setDefaultTimeout(120_000);

const Tool = z.object({
  name: z.string(),
  input_schema: z.looseObject({
    properties: z.record(z.string(), z.unknown()).default({}),
    required: z.array(z.string()).default([]),
  }),
});
type Tool = z.infer<typeof Tool>;

/** Tools of earlier versions, which this version of the CLI does not have. */
const EARLIER = ["MultiEdit", "TodoWrite"];

/** The schemas of every tool that the CLI can be made to offer. */
const tools = new Map<string, Tool>();
beforeAll(async () => {
  const runs = [
    { env: { ENABLE_TOOL_SEARCH: "false", CLAUDE_CODE_ENABLE_TODO_TOOLS: "1" }, args: [] },
    { env: { ENABLE_TOOL_SEARCH: "true" }, args: [] },
    { env: {}, args: ["--tools", "Glob,Grep"] },
  ];
  for (const { env, args } of runs) {
    await using model = startScriptedModel();
    await withClaude({ model, env, args, prompt: script([{ say: "done" }]) }, (run) => run.result());
    for (const { conversation } of model.requests) {
      for (const tool of z.array(Tool).parse(conversation.tools)) tools.set(tool.name, tool);
    }
  }
});

describe("the tool keys that the rules know", () => {
  test.each(Object.entries(TOOL_KEYS).filter(([name]) => !EARLIER.includes(name)))(
    "are those that %s of the real CLI has",
    (name, { known, alwaysAsk = [], required }) => {
      const schema = tools.get(name)?.input_schema;
      expect(Object.keys(schema?.properties ?? {}).sort()).toEqual([...Object.keys(known), ...alwaysAsk].sort());
      expect(schema?.required).toEqual(expect.arrayContaining([...required]));
    },
  );

  test.each(EARLIER)("include %s for earlier versions of the CLI", (name) => {
    expect(tools.has(name)).toBe(false);
  });

  test("include no tool that reaches beyond the conversation", () => {
    const covered = [...tools.keys()].filter((name) => Object.hasOwn(TOOL_KEYS, name)).sort();
    expect(covered).toEqual(
      Object.keys(TOOL_KEYS)
        .filter((name) => !EARLIER.includes(name))
        .sort(),
    );
    expect(tools.size).toBeGreaterThan(covered.length + 8);
  });
});

describe("in a child of the real CLI", () => {
  const bash = (command: string): Turn => ({ use: [{ name: "Bash", input: { command, description: "x" } }] });

  test("every command starts in the working directory, from which relative paths are resolved", async () => {
    const directories = async (settings: object) => {
      await using model = startScriptedModel();
      await using permit = startPermitStub("allow");
      const prompt = script([bash("mkdir sub && cd ./sub && pwd"), bash("pwd")]);
      const options = { model, prompt, mcpConfig: { mcpServers: { plexus: permit.entry } } };
      const args = ["--setting-sources=", "--settings", JSON.stringify({ permissions: { ask: ["*"] }, ...settings })];
      return await withClaude({ ...options, args }, async (run) => {
        const results = readResults((await run.result()).text).map(({ content }) => content);
        return results.map((path) => path.replace(run.cwd, ""));
      });
    };
    expect(await directories({ env: { CLAUDE_BASH_MAINTAIN_PROJECT_WORKING_DIR: "1" } })).toEqual(["/sub", ""]);
    expect(await directories({})).toEqual(["/sub", "/sub"]);
  });

  test("a command that a rule lets run prints what bash prints, and Read arrives with an absolute path", async () => {
    await using tree = await plantTree();
    await using model = startScriptedModel();
    await using permit = startPermitStub("allow");
    const commands = ["cat a.txt | grep -c a", "cd ./src && grep -rn TODO . --include='*.ts'", "find src -name '*.ts'"];
    const prompt = script([
      ...commands.map(bash),
      { use: [{ name: "Read", input: { file_path: " docs/readme.md" } }] },
    ]);
    const options = { model, prompt, cwd: tree.child.workingDir, mcpConfig: { mcpServers: { plexus: permit.entry } } };
    const settings = {
      permissions: { ask: ["*"] },
      env: { CLAUDE_BASH_MAINTAIN_PROJECT_WORKING_DIR: "1" },
    };
    const args = ["--setting-sources=", "--settings", JSON.stringify(settings)];
    const text = await withClaude({ ...options, args }, async (run) => (await run.result()).text);
    const child = { ...tree.child, privatePaths: [] };
    const Asked = z.object({ tool_name: z.string(), input: z.record(z.string(), z.unknown()) });
    const asked = permit.calls.map((call) => Asked.parse(call));
    expect(asked.map(({ tool_name, input }) => builtinRule({ toolName: tool_name, input }, child))).toEqual([
      "bash",
      "bash",
      "bash",
      "read",
    ]);
    expect(asked.at(-1)?.input).toEqual({ file_path: `${tree.child.workingDir}/docs/readme.md` });
    const results = readResults(text).map(({ content }) => content);
    expect(results[0]).toBe("3");
    expect(results[1]).toContain("x.ts:1:");
    expect(results[2]?.split("\n").sort()).toEqual(["src/deep/z.ts", "src/x.ts"]);
  });
});
