import { afterAll, describe, expect, setDefaultTimeout, test } from "bun:test";
import { existsSync, statSync } from "node:fs";
import { join } from "node:path";
import { filesIn } from "../../src/claude/launch/launch.ts";
import { readExitCode } from "../../src/claude/process/exit-status.ts";
import { script, startScriptedModel } from "../support/model/scripted-model.ts";
import { processTable } from "../support/processes/process-table.ts";
import { descendants, isRunning, signal } from "../support/processes/processes.ts";
import { until } from "../support/until.ts";
import { type Run, textOf, withPlace } from "./child.ts";
import { startPermitStub } from "./mcp-stub.ts";

setDefaultTimeout(120_000);

const model = startScriptedModel();
afterAll(() => model[Symbol.asyncDispose]());

const LINGERING = "tail -f /dev/null";
const bash = (command: string) => ({ name: "Bash", input: { command, description: "a command" } });

describe("a turn of the real CLI", () => {
  test("streams its answer without repeating it, and completes", () =>
    withPlace(async (_, start) => {
      const run = start({ model, prompt: script([{ say: ["Hello", ", ", "world"] }]) });
      expect(await run.outcome()).toEqual({ outcome: "complete" });
      expect(textOf(run.events)).toBe("Hello, world");
      expect(run.blocks).toEqual([{ role: "assistant", content: { type: "text", text: "Hello, world" } }]);
      expect(run.facts.init).toMatchObject({
        claudeSessionId: run.facts.result?.claudeSessionId,
        plexusStatus: undefined,
      });
      expect(run.facts.result).toMatchObject({
        subtype: "success",
        text: "Hello, world",
        inputTokens: 10,
        outputTokens: 5,
      });
      expect(readExitCode(run.dir)).toBe(0);
    }));

  test("stores an answer that streams word by word in few events", () =>
    withPlace(async (_, start) => {
      const words = Array.from({ length: 200 }, (_, at) => `word${at} `);
      const run = start({ model, prompt: script([{ say: words, delayMs: 5 }]) });
      expect(await run.outcome()).toEqual({ outcome: "complete" });
      expect(textOf(run.events)).toBe(words.join(""));
      const count = run.events.filter(({ type }) => type === "content").length;
      expect(count).toBeGreaterThan(2);
      expect(count).toBeLessThan(40);
    }));

  test("writes files that only this user can read", () =>
    withPlace(async (_, start) => {
      const run = start({ model, prompt: script([{ say: "hi" }]) });
      await run.outcome();
      const files = filesIn(run.dir);
      const modes = [run.dir, files.mcpConfig, files.prompt, files.stdout, files.stderr].map(
        (path) => statSync(path).mode & 0o777,
      );
      expect(modes).toEqual([0o700, 0o600, 0o600, 0o600, 0o600]);
    }));

  test("runs a tool that --allowedTools allows, and reports its call and result once", () =>
    withPlace(async (place, start) => {
      const prompt = script([{ say: "I will.", use: [bash("touch made")] }, { say: "Done." }]);
      const run = start({ model, prompt, allowedTools: ["Bash(touch:*)"] });
      expect(await run.outcome()).toEqual({ outcome: "complete" });
      expect(existsSync(join(place.workingDir, "made"))).toBe(true);
      expect(textOf(run.events)).toBe("I will.Done.");
      expect(run.events.filter(({ type }) => type.startsWith("tool_"))).toMatchObject([
        { type: "tool_use", tool_name: "Bash", input: { command: "touch made" } },
        { type: "tool_result", is_error: false },
      ]);
      expect(run.blocks.map(({ role, content }) => `${role} ${content["type"]}`)).toEqual([
        "assistant text",
        "assistant tool_use",
        "user tool_result",
        "assistant text",
      ]);
    }));

  test("asks Plexus with the turn's token, and runs what Plexus allows", async () => {
    await using permit = startPermitStub("allow");
    await withPlace(async (place, start) => {
      const run = start({ model, loopback: permit.entry, prompt: script([{ use: [bash("touch made")] }]) });
      expect(await run.outcome()).toEqual({ outcome: "complete" });
      expect(run.facts.init?.plexusStatus).toBe("connected");
      expect(permit.calls).toMatchObject([{ tool_name: "Bash", input: { command: "touch made" } }]);
      expect([...permit.authorizations]).toEqual(["Bearer of-the-turn"]);
      expect(existsSync(join(place.workingDir, "made"))).toBe(true);
    });
  });

  test("refuses a call that needs permission when it has no connection to Plexus", () =>
    withPlace(async (place, start) => {
      const run = start({ model, prompt: script([{ use: [bash("touch made")] }]) });
      expect(await run.outcome()).toEqual({ outcome: "complete" });
      expect(run.facts.result?.permissionDenials).toHaveLength(1);
      expect(existsSync(join(place.workingDir, "made"))).toBe(false);
    }));

  test("fails when Plexus can't be reached, and says so", () =>
    withPlace(async (place, start) => {
      const loopback = { type: "http", url: "http://127.0.0.1:9/mcp" };
      const run = start({ model, loopback, prompt: script([{ use: [bash("touch made")] }]) });
      expect(await run.outcome()).toMatchObject({
        outcome: "failed",
        message: expect.stringContaining("could not reach Plexus"),
      });
      expect(run.facts.init?.plexusStatus).toBe("failed");
      expect(existsSync(join(place.workingDir, "made"))).toBe(false);
    }));

  test("fails on an API error, with the API's message", () =>
    withPlace(async (_, start) => {
      const run = start({ model, prompt: script([{ status: 400, message: "scripted refusal" }]) });
      expect(await run.outcome()).toMatchObject({
        outcome: "failed",
        message: expect.stringContaining("scripted refusal"),
      });
    }));

  test("fails on a refused login, and says what to do", () =>
    withPlace(async (_, start) => {
      const prompt = script([{ status: 401, message: "invalid x-api-key" }]);
      const run = start({ model, prompt, env: { CLAUDE_CODE_MAX_RETRIES: "0" } });
      expect(await run.outcome()).toMatchObject({ outcome: "failed", message: expect.stringContaining("log in") });
    }));

  test("fails at max_turns, and says how to continue", () =>
    withPlace(async (_, start) => {
      const run = start({ model, maxTurns: 1, allowedTools: ["Bash"], prompt: script([{ use: [bash("true")] }]) });
      expect(await run.outcome()).toMatchObject({ outcome: "failed", message: expect.stringContaining("max_turns") });
      expect(run.facts.result?.subtype).toBe("error_max_turns");
    }));

  test("passes the model, the system prompt and the added directories to the CLI", () =>
    withPlace(async (place, start) => {
      const prompt = script([{ say: "hi" }], "Which words came with this?");
      const run = start({
        model,
        prompt,
        modelName: "claude-of-the-test",
        systemPrompt: "--speak in riddles",
        addDirs: [place.home],
      });
      expect(await run.outcome()).toEqual({ outcome: "complete" });
      const request = model.requests.find(({ conversation }) =>
        JSON.stringify(conversation).includes("Which words came"),
      );
      expect(request?.conversation.model).toBe("claude-of-the-test");
      expect(JSON.stringify(request?.conversation["system"])).toContain("--speak in riddles");
    }));

  test("does not read the name of an allowed tool as a flag", () =>
    withPlace(async (place, start) => {
      const run = start({
        model,
        allowedTools: ["--dangerously-skip-permissions", "--permission-mode=bypassPermissions"],
        prompt: script([{ use: [bash("touch made")] }]),
      });
      await run.outcome();
      expect(existsSync(join(place.workingDir, "made"))).toBe(false);
    }));

  test("resumes its conversation under the same id, and forks it under another", () =>
    withPlace(async (_, start) => {
      const first = start({ model, prompt: script([{ say: "one" }], "The first question.") });
      await first.outcome();
      const id = first.facts.result?.claudeSessionId ?? "";
      const second = start({ model, prompt: script([{ say: "two" }]), resume: id });
      expect(await second.outcome()).toEqual({ outcome: "complete" });
      expect(second.facts.result).toMatchObject({ claudeSessionId: id, text: "two" });
      const fork = start({ model, prompt: script([{ say: "three" }]), resume: id, forkSession: true });
      expect(await fork.outcome()).toEqual({ outcome: "complete" });
      expect(fork.facts.result?.claudeSessionId).not.toBe(id);
      const asked = JSON.stringify(model.requests.at(-1)?.conversation.messages);
      expect(asked).toContain("The first question.");
    }));

  test("fails when there is nothing to resume, and says so", () =>
    withPlace(async (_, start) => {
      const run = start({ model, prompt: "hi", resume: crypto.randomUUID() });
      expect(await run.outcome()).toMatchObject({
        outcome: "failed",
        message: expect.stringContaining("create a new session"),
      });
    }));
});

describe("a child that is stopped", () => {
  test("makes its turn fail with the name of the signal if its CLI was killed", () =>
    withPlace(async (_, start) => {
      const prompt = script([{ hang: true }], "Hang until killed.");
      const run = start({ model, prompt });
      await until("the request", () =>
        model.requests.some(({ conversation }) => JSON.stringify(conversation).includes("Hang until killed.")),
      );
      const [cli = 0] = descendants(run.pid);
      signal(cli, "SIGKILL");
      expect(await run.outcome()).toMatchObject({
        outcome: "failed",
        message: expect.stringContaining("137 (SIGKILL)"),
      });
      await run.exited;
    }));

  test("makes its turn fail without an exit code if its shell was killed too", () =>
    withPlace(async (_, start) => {
      const prompt = script([{ hang: true }], "Hang until all is killed.");
      const run = start({ model, prompt });
      await until("the CLI", () => descendants(run.pid).length > 0);
      for (const pid of [run.pid, ...descendants(run.pid)]) signal(pid, "SIGKILL");
      expect(await run.outcome()).toMatchObject({
        outcome: "failed",
        message: expect.stringContaining("without an exit code"),
      });
    }));

  test("leaves no process if it is cancelled while the model hangs", () =>
    withPlace(async (_, start) => {
      const prompt = script([{ hang: true }], "Hang until cancelled.");
      const run = start({ model, prompt });
      await until("the request", () =>
        model.requests.some(({ conversation }) => JSON.stringify(conversation).includes("Hang until cancelled.")),
      );
      await run.cancel();
      expect([run.pid, ...descendants(run.pid)].filter(isRunning)).toEqual([]);
      expect(await run.outcome()).toMatchObject({ outcome: "failed" });
      expect(readExitCode(run.dir)).toBeNumber();
    }));

  test("leaves no process if it is cancelled while its Bash tool runs in another process session", () =>
    withPlace(async (_, start) => {
      const run = start({ model, prompt: script([{ use: [bash(LINGERING)] }]), allowedTools: ["Bash"] });
      const tail = await until("the tail", () => lingeringBelow(run));
      await run.cancel();
      expect([run.pid, tail].filter(isRunning)).toEqual([]);
      expect(await run.outcome()).toMatchObject({ outcome: "failed" });
    }));

  test("keeps a conversation that can be resumed if it is cancelled in the middle of a turn", () =>
    withPlace(async (_, start) => {
      const prompt = script([{ use: [bash(LINGERING)] }], "The question before the cancel.");
      const run = start({ model, prompt, allowedTools: ["Bash"] });
      await until("the tail", () => lingeringBelow(run));
      await run.cancel(5_000);
      await run.outcome();
      const next = start({ model, prompt: script([{ say: "on" }]), resume: run.facts.init?.claudeSessionId });
      expect(await next.outcome()).toEqual({ outcome: "complete" });
      expect(JSON.stringify(model.requests.at(-1)?.conversation.messages)).toContain("The question before the cancel.");
    }));

  test("leaves no process if it is cancelled without a grace period while its Bash tool ignores signals", () =>
    withPlace(async (_, start) => {
      const command = `trap '' INT TERM HUP; ${LINGERING}`;
      const run = start({ model, prompt: script([{ use: [bash(command)] }]), allowedTools: ["Bash"] });
      const tail = await until("the tail", () => lingeringBelow(run));
      await run.cancel(0);
      expect([run.pid, tail].filter(isRunning)).toEqual([]);
    }));

  test("leaves no process if it is cancelled while it waits for a decision", async () => {
    await using permit = startPermitStub(new Promise<never>(() => {}));
    await withPlace(async (place, start) => {
      const run = start({ model, loopback: permit.entry, prompt: script([{ use: [bash("touch made")] }]) });
      await until("the ask", () => permit.calls.length === 1);
      await run.cancel();
      expect(isRunning(run.pid)).toBe(false);
      expect(existsSync(join(place.workingDir, "made"))).toBe(false);
    });
  });

  test("leaves no process of its Bash tool if it is cancelled after its CLI was killed", () =>
    withPlace(async (_, start) => {
      const run = start({ model, prompt: script([{ use: [bash(LINGERING)] }]), allowedTools: ["Bash"] });
      const tail = await until("the tail", () => lingeringBelow(run));
      const [cli = 0] = descendants(run.pid);
      signal(cli, "SIGKILL");
      await run.exited;
      expect(isRunning(tail)).toBe(true);
      await run.cancel();
      expect(isRunning(tail)).toBe(false);
    }));
});

function lingeringBelow(run: Run): number | undefined {
  return descendants(run.pid).find((child) => processTable.get(child)?.command === LINGERING);
}
