import { afterAll, describe, expect, setDefaultTimeout, test } from "bun:test";
import { existsSync } from "node:fs";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { readResults, script, startScriptedModel } from "../model/scripted-model.ts";
import { processTable } from "../processes/process-table.ts";
import { descendants, isRunning } from "../processes/processes.ts";
import { temporaryDirectory } from "../temporary.ts";
import { until } from "../until.ts";
import { type ClaudeOptions, type ClaudeRun, withClaude } from "./claude.ts";

setDefaultTimeout(120_000);

const model = startScriptedModel();
afterAll(() => model[Symbol.asyncDispose]());

describe("withClaude", () => {
  test("gives the model's text as the result", async () => {
    const outcome = await complete({ model, prompt: script([{ say: ["Hello", ", ", "world"] }]) });
    expect(outcome).toMatchObject({ exitCode: 0, text: "Hello, world", stderr: "" });
    expect(outcome.result).toMatchObject({ subtype: "success", is_error: false });
  });

  test("streams a text that the model says slowly in as many deltas", async () => {
    const deltas = await withClaude(
      { model, prompt: script([{ say: ["a", "b", "c", "d"], delayMs: 5 }]) },
      async (run) => {
        await run.result();
        return run.lines.filter((line) => JSON.stringify(line).includes("text_delta")).length;
      },
    );
    expect(deltas).toBe(4);
  });

  test("runs a tool, and the last turn reports its result", async () => {
    await using cwd = await temporaryDirectory();
    const file_path = join(cwd.path, "note.txt");
    await writeFile(file_path, "the note's only line\n");
    const prompt = script([{ use: [{ name: "Read", input: { file_path }, id: "toolu_note" }] }]);
    const { text } = await complete({ model, prompt, cwd: cwd.path });
    expect(readResults(text)).toMatchObject([{ tool_use_id: "toolu_note", is_error: false }]);
    expect(text).toContain("the note's only line");
  });

  test("runs what --allowedTools allows, with an input of a megabyte", async () => {
    await using cwd = await temporaryDirectory();
    const file_path = join(cwd.path, "big.txt");
    const content = "x".repeat(1_000_000);
    const prompt = script([{ use: [{ name: "Write", input: { file_path, content } }] }]);
    await complete({ model, prompt, cwd: cwd.path, args: ["--allowedTools", "Write"] });
    expect(await Bun.file(file_path).text()).toBe(content);
  });

  test("reports a tool that nobody allowed as denied", async () => {
    const input = { file_path: "refused.txt", content: "" };
    const outcome = await complete({ model, prompt: script([{ use: [{ name: "Write", input }] }]) });
    expect(outcome.exitCode).toBe(0);
    expect(outcome.permissionDenials).toMatchObject([{ tool_name: "Write" }]);
  });

  test("runs a subagent by the script in its own prompt", async () => {
    const prompt = script([{ say: "the subagent's words" }]);
    const input = { description: "a task", subagent_type: "general-purpose", prompt, run_in_background: false };
    const { text } = await complete({ model, prompt: script([{ use: [{ name: "Task", input }] }]) });
    expect(readResults(text)[0]?.content).toContain("the subagent's words");
  });

  test("resumes a conversation in the same home, and obeys the new prompt's script", async () => {
    await using directory = await temporaryDirectory();
    const place = { home: join(directory.path, "home"), cwd: join(directory.path, "work") };
    const first = await complete({ model, ...place, prompt: script([{ say: "one" }]) });
    const id = first.result?.session_id ?? "";
    const second = await complete({ model, ...place, prompt: script([{ say: "two" }]), args: ["--resume", id] });
    expect(second.result).toMatchObject({ session_id: id, result: "two" });
  });

  test("exits 1 with is_error on an HTTP error", async () => {
    const outcome = await complete({ model, prompt: script([{ status: 400, message: "scripted refusal" }]) });
    expect(outcome.exitCode).toBe(1);
    expect(outcome.result).toMatchObject({ subtype: "success", is_error: true });
    expect(outcome.text).toContain("scripted refusal");
  });

  test("exits 1 with is_error when the stream is cut", async () => {
    const env = { CLAUDE_CODE_MAX_RETRIES: "0" };
    const outcome = await complete({ model, prompt: script([{ cut: true }]), env });
    expect(outcome.exitCode).toBe(1);
    expect(outcome.result?.is_error).toBe(true);
  });

  test("lets a body kill a run that hangs", async () => {
    const prompt = script([{ hang: true }], "Hang until you are killed.");
    const outcome = await withClaude({ model, prompt }, async (run) => {
      await until("the hanging request", () => model.requests.some(({ conversation }) => holds(conversation, prompt)));
      run.kill("SIGKILL");
      return run.result();
    });
    expect(outcome).toMatchObject({ signal: "SIGKILL", result: undefined });
  });

  test("ends a run that may be left running, and what its Bash tool started in a session of its own", async () => {
    const { cli, tail } = await withClaude({ ...lingering(), mayLeaveRunning: true }, async (run) => ({
      cli: run.pid,
      tail: await until("the tail", () => lingeringBelow(run.pid)),
    }));
    expect([cli, tail].filter(isRunning)).toEqual([]);
  });

  test("fails when something survives the run, and ends it", async () => {
    let survivor = 0;
    const running = withClaude(lingering(), async (run) => {
      survivor = await until("the tail", () => lingeringBelow(run.pid));
      run.kill("SIGKILL");
      await run.result();
    });
    await expect(running).rejects.toThrow(/left processes behind:[\s\S]*tail -f/);
    expect(isRunning(survivor)).toBe(false);
  });

  test("fails when the CLI itself is left running unannounced", async () => {
    const running = withClaude({ model, prompt: script([{ hang: true }]) }, () => undefined);
    await expect(running).rejects.toThrow("left processes behind");
  });

  test("ends everything and rethrows when the body throws", async () => {
    let pid = 0;
    const running = withClaude({ model, prompt: script([{ hang: true }]) }, (run) => {
      pid = run.pid;
      throw new Error("the body's own error");
    });
    await expect(running).rejects.toThrow("the body's own error");
    expect(isRunning(pid)).toBe(false);
  });

  test("says which line never came when the CLI exits without it", async () => {
    const waiting = withClaude({ model, prompt: script([{ say: "bye" }]) }, (run) =>
      run.line("a unicorn", ({ type }) => type === "unicorn"),
    );
    await expect(waiting).rejects.toThrow(/without a unicorn[\s\S]*result\/success/);
  });

  test("removes the directories that it made", async () => {
    const run = await withClaude({ model, prompt: script([{ say: "done" }]) }, async (run) => {
      await run.result();
      return run;
    });
    expect([run.cwd, run.home].filter(existsSync)).toEqual([]);
  });
});

function complete(options: ClaudeOptions) {
  return withClaude(options, (run: ClaudeRun) => run.result());
}

/** The CLI itself refuses a long sleep. */
const LINGERING = "tail -f /dev/null";

function lingering(): ClaudeOptions {
  const input = { command: LINGERING, description: "linger" };
  return { model, prompt: script([{ use: [{ name: "Bash", input }] }]), args: ["--allowedTools", "Bash"] };
}

function lingeringBelow(pid: number): number | undefined {
  return descendants(pid).find((child) => processTable.get(child)?.command === LINGERING);
}

function holds(conversation: object, prompt: string): boolean {
  return JSON.stringify(conversation).includes(JSON.stringify(prompt).slice(1, -1));
}
