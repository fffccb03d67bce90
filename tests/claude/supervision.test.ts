import { afterAll, describe, expect, setDefaultTimeout, test } from "bun:test";
import { existsSync, mkdirSync, readdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Supervision } from "../../src/contract/sessions/supervision.ts";
import { script, startScriptedModel } from "../support/model/scripted-model.ts";
import { type Place, withPlace } from "./child.ts";
import { startMcpStub, startPermitStub } from "./mcp-stub.ts";

setDefaultTimeout(120_000);

const model = startScriptedModel();
afterAll(() => model[Symbol.asyncDispose]());

/** One call of each kind, by its name in the tests. */
const CALLS: Record<string, { name: string; input: Record<string, unknown> }> = {
  ls: { name: "Bash", input: { command: "ls", description: "list" } },
  echo: { name: "Bash", input: { command: "echo hi", description: "say" } },
  touch: { name: "Bash", input: { command: "touch touched", description: "make" } },
  write: { name: "Write", input: { file_path: "written", content: "x" } },
  read: { name: "Read", input: { file_path: "there.txt" } },
  edit: { name: "Edit", input: { file_path: "there.txt", old_string: "old", new_string: "new" } },
  fetch: { name: "WebFetch", input: { url: "https://example.invalid/", prompt: "x" } },
  search: { name: "WebSearch", input: { query: "plexus" } },
  mcp: { name: "mcp__other__poke", input: {} },
};
const ALLOWED = ["Bash", "Write", "Edit", "WebFetch", "WebSearch", "mcp__other__poke"];
const EVERYTHING = Object.keys(CALLS);

describe("supervision, with allow rules and allowing hooks in user, project and local settings", () => {
  test.each(["strict", "default"] as const)(
    "%s: every call asks, and the child gets the project's CLAUDE.md",
    async (supervision) => {
      const seen = await supervise(supervision);
      expect(seen).toEqual({ asked: EVERYTHING, hooks: [], readsClaudeMd: true });
    },
  );

  test("inherit: the user's and the project's settings apply", async () => {
    const seen = await supervise("inherit");
    expect(seen).toMatchObject({ asked: [], hooks: ["hook-local", "hook-project", "hook-user"], readsClaudeMd: true });
  });
});

test.each(["strict", "default"] as const)("%s: every call of a subagent asks too", async (supervision) => {
  await using permit = startPermit(["Agent"]);
  await withPlace(async (place, start) => {
    const prompt = script([{ use: [call("ls")] }, { use: [call("write")] }]);
    const input = { description: "t", subagent_type: "general-purpose", prompt, run_in_background: false };
    const run = start({
      model,
      supervision,
      loopback: permit.entry,
      prompt: script([{ use: [{ name: "Agent", input }] }]),
    });
    expect(await run.outcome()).toEqual({ outcome: "complete" });
    expect(permit.calls.map(({ tool_name }) => tool_name)).toEqual(["Agent", "Bash", "Write"]);
    expect(readdirSync(place.workingDir)).toEqual([]);
  });
});

describe("the data dir", () => {
  for (const [supervision, name] of [
    ["inherit", "plain"],
    ["strict", "odd [x] (y) *z? \\w"],
  ] as const) {
    test(`can be neither read nor written if it is called "${name}" (${supervision}), even if every call is allowed`, async () => {
      await using permit = startPermitStub("allow");
      await withPlace(async (place, start) => {
        const dataDir = join(place.root, name);
        mkdirSync(dataDir);
        writeFileSync(join(dataDir, "secret"), "the secret words");
        const prompt = script([
          { use: [{ name: "Read", input: { file_path: join(dataDir, "secret") } }] },
          { use: [{ name: "Write", input: { file_path: join(dataDir, "new"), content: "x" } }] },
        ]);
        const options = { addDirs: [place.root], allowedTools: ["Read", "Edit", "Write"], loopback: permit.entry };
        const run = start({ model, supervision, dataDir, prompt, ...options });
        expect(await run.outcome()).toEqual({ outcome: "complete" });
        expect(run.events.filter(({ type }) => type === "tool_result")).toMatchObject([
          { is_error: true },
          { is_error: true },
        ]);
        expect(JSON.stringify(run.events)).not.toContain("the secret words");
        expect(existsSync(join(dataDir, "new"))).toBe(false);
      });
    });
  }
});

/** A stand-in for Plexus that allows these tools and denies all others. */
function startPermit(allowed: string[]) {
  return startMcpStub("loopback_permit", ({ tool_name, input }) =>
    JSON.stringify(
      allowed.includes(String(tool_name))
        ? { behavior: "allow", updatedInput: input }
        : { behavior: "deny", message: "no" },
    ),
  );
}

/** Runs every call under this supervision, denies everything except reading, and returns which calls asked. */
async function supervise(supervision: Supervision) {
  // The CLI refuses to edit a file that it has not read, without asking.
  await using permit = startPermit(["Read"]);
  await using other = startMcpStub("poke", () => "poked");
  return await withPlace(async (place, start) => {
    writeSettings(place);
    const words = `Probe ${crypto.randomUUID()}.`;
    const prompt = script(
      EVERYTHING.map((name) => ({ use: [call(name)] })),
      words,
    );
    const run = start({ model, supervision, prompt, loopback: permit.entry, mcpServers: { other: other.entry } });
    expect(await run.outcome()).toEqual({ outcome: "complete" });
    const request = model.requests.find(({ conversation }) => JSON.stringify(conversation).includes(words));
    const asked = permit.calls.map(({ tool_use_id }) => String(tool_use_id).replace("toolu_", ""));
    const kept = ["touched", "written"].filter((file) => existsSync(join(place.workingDir, file)));
    expect(kept).toEqual(asked.includes("touch") ? [] : ["touched", "written"]);
    expect(other.calls).toHaveLength(asked.includes("mcp") ? 0 : 1);
    return {
      asked,
      hooks: readdirSync(place.root)
        .filter((file) => file.startsWith("hook-"))
        .sort(),
      readsClaudeMd: JSON.stringify(request?.conversation).includes("The project's own words."),
    };
  });
}

function call(name: string) {
  return { name: "", input: {}, ...CALLS[name], id: `toolu_${name}` };
}

function writeSettings({ root, home, workingDir }: Place): void {
  const allow = { hookSpecificOutput: { hookEventName: "PreToolUse", permissionDecision: "allow" } };
  const settings = (name: string) => {
    const command = `touch ${join(root, `hook-${name}`)}; echo '${JSON.stringify(allow)}'`;
    const hooks = { PreToolUse: [{ matcher: "*", hooks: [{ type: "command", command }] }] };
    return JSON.stringify({ permissions: { allow: ALLOWED, defaultMode: "acceptEdits" }, hooks });
  };
  mkdirSync(join(workingDir, ".claude"));
  writeFileSync(join(home, ".claude", "settings.json"), settings("user"));
  writeFileSync(join(workingDir, ".claude", "settings.json"), settings("project"));
  writeFileSync(join(workingDir, ".claude", "settings.local.json"), settings("local"));
  writeFileSync(join(workingDir, "CLAUDE.md"), "The project's own words.");
  writeFileSync(join(workingDir, "there.txt"), "old\n");
}
