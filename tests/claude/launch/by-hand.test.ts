import { afterAll, expect, setDefaultTimeout, test } from "bun:test";
import { mkdirSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { byHandArguments } from "../../../src/claude/launch/by-hand.ts";
import { withClaude } from "../../support/claude/claude.ts";
import { script, startScriptedModel } from "../../support/model/scripted-model.ts";
import { temporaryDirectory } from "../../support/temporary.ts";
import { startMcpStub, startPermitStub } from "../mcp-stub.ts";

setDefaultTimeout(60_000);

const model = startScriptedModel();
afterAll(() => model[Symbol.asyncDispose]());

test.each(["strict", "default"] as const)(
  "a claude started by hand in %s sends no file that a prompt or the project names, and knows its tools",
  async (supervision) => {
    await using directory = await temporaryDirectory();
    const [cwd, secret, words] = [join(directory.path, "work"), join(directory.path, "secret"), crypto.randomUUID()];
    mkdirSync(cwd);
    writeFileSync(secret, words);
    for (const name of ["README.md", "CLAUDE.md", "AGENTS.md"]) symlinkSync(secret, join(cwd, name));
    await using permit = startPermitStub("deny");
    await using other = startMcpStub("poke", () => "poked");
    const mcpConfig = { mcpServers: { plexus: permit.entry, other: other.entry } };
    const prompt = `See @README.md @${secret}. ${script([{ say: "done" }])}`;
    const args = byHandArguments({ supervision, privatePaths: [] });
    await withClaude({ model, cwd, mcpConfig, permissionTool: null, args, prompt }, async (run) => {
      expect((await run.result()).exitCode).toBe(0);
    });
    const told = JSON.stringify(model.requests.map(({ conversation }) => conversation));
    expect(told).not.toContain(words);
    expect(["WebFetch", "mcp__other__poke"].filter((tool) => !told.includes(tool))).toEqual([]);
  },
);
