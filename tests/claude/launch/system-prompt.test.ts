import { afterAll, describe, expect, setDefaultTimeout, test } from "bun:test";
import { mkdirSync, rmSync, statSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { filesIn } from "../../../src/claude/launch/launch.ts";
import { script, startScriptedModel } from "../../support/model/scripted-model.ts";
import { until } from "../../support/until.ts";
import { type ChildOptions, withPlace } from "../child.ts";
import { startPermitStub } from "../mcp-stub.ts";

setDefaultTimeout(60_000);

const model = startScriptedModel();
afterAll(() => model[Symbol.asyncDispose]());

describe("the system prompt of a child", () => {
  test.each(["strict", "default"] as const)(
    "has the project's instructions, then the creator's, read again in each turn (%s)",
    (supervision) =>
      withPlace(async (place, start) => {
        await using permit = startPermitStub("allow");
        const turn = async (number: number, project: string | undefined, resume: string | undefined) => {
          const file = join(place.workingDir, "CLAUDE.md");
          if (project) writeFileSync(file, project);
          else rmSync(file);
          const words = `Probe ${crypto.randomUUID()}.`;
          const creator = { systemPrompt: `CREATOR-${number}`, supervision, loopback: permit.entry };
          const run = start({ model, ...creator, resume, prompt: script([{ say: "done" }], words) });
          expect(await run.outcome()).toEqual({ outcome: "complete" });
          const told = systemOf(words).match(/PROJECT-\d|CREATOR-\d/g);
          return { told, resume: run.facts.init?.claudeSessionId };
        };
        const first = await turn(1, "PROJECT-1", undefined);
        expect(first.told).toEqual(["PROJECT-1", "CREATOR-1"]);
        const second = await turn(2, "PROJECT-2", first.resume);
        expect(second.told).toEqual(["PROJECT-2", "CREATOR-2"]);
        const third = await turn(3, undefined, second.resume);
        expect(third.told).toEqual(["CREATOR-3"]);
      }),
  );

  test.each(["strict", "default", "inherit"] as const)(
    "can't be seen by other users of the machine (%s)",
    (supervision) =>
      withPlace(async (place, start) => {
        writeFileSync(join(place.workingDir, "CLAUDE.md"), "SAID-BY-PROJECT", { mode: 0o600 });
        await using permit = startPermitStub("allow");
        const gate = crypto.randomUUID();
        const prompt = script([{ waitFor: gate, say: "done" }], gate);
        const said = { supervision, systemPrompt: "SAID-BY-CREATOR", loopback: permit.entry };
        const run = start({ model, ...said, prompt });
        await until("the request", () => systemOf(gate) !== "");
        const commands = Bun.spawnSync(["ps", "axww", "-o", "args"]).stdout.toString();
        expect(commands).toContain(`--append-system-prompt-file=${run.dir}`);
        expect(commands).not.toContain("SAID-BY");
        expect(statSync(filesIn(run.dir).systemPrompt).mode & 0o777).toBe(0o600);
        expect(systemOf(gate)).toContain("SAID-BY-CREATOR");
        model.release(gate);
        await run.outcome();
      }),
  );

  test("may be longer than an argument can be", () =>
    withPlace(async (place, start) => {
      writeFileSync(join(place.workingDir, "CLAUDE.md"), `${"☃".repeat(39_990)}PROJECT`);
      const told = await toldIn(start, { systemPrompt: `${"☃".repeat(99_990)}CREATOR` });
      expect(told.match(/PROJECT|CREATOR/g)).toEqual(["PROJECT", "CREATOR"]);
    }));

  test.each([
    ["binary data", Buffer.from("Use\0tabs."), false],
    ["UTF-16 as Windows writes it", Buffer.from("\ufeffUse tabs.\r\n", "utf16le"), true],
  ])("lets the turn start whatever CLAUDE.md contains: %s", (_, bytes, isRead) =>
    withPlace(async (place, start) => {
      writeFileSync(join(place.workingDir, "CLAUDE.md"), bytes);
      expect((await toldIn(start, {})).includes("Use tabs.")).toBe(isRead);
    }),
  );

  test("is only the creator's if the project has no instructions", () =>
    withPlace(async (_, start) => {
      const told = await toldIn(start, { systemPrompt: "CREATOR" });
      expect(told).toContain("CREATOR");
      expect(told).not.toContain("project-text-");
    }));
});

describe("notes of other sessions", () => {
  test("are not sent to a sealed child", () =>
    withPlace(async ({ home, workingDir }, start) => {
      noteFor(home, workingDir, "NOTED-BEFORE");
      expect(await toldIn(start, {})).not.toContain("NOTED-BEFORE");
    }));

  test("are not sent to a sealed child in a worktree of their repository", () =>
    withPlace(async ({ root, home }, start) => {
      const [other, workingDir] = [join(root, "other"), join(root, "tree")];
      const git = (...args: string[]) => expect(Bun.spawnSync(["git", ...args]).exitCode).toBe(0);
      git("init", "-q", other);
      const author = ["-c", "user.name=a", "-c", "user.email=a@example.invalid"];
      git("-C", other, ...author, "commit", "-q", "--allow-empty", "-m", "first");
      git("-C", other, "worktree", "add", "-q", workingDir);
      noteFor(home, other, "NOTED-BEFORE");
      expect(await toldIn(start, { workingDir })).not.toContain("NOTED-BEFORE");
    }));
});

/** All text that the model gets at the start of a turn. */
async function toldIn(
  start: Parameters<Parameters<typeof withPlace>[0]>[1],
  options: Partial<ChildOptions>,
): Promise<string> {
  await using permit = startPermitStub("allow");
  const words = `Probe ${crypto.randomUUID()}.`;
  const run = start({ ...options, model, loopback: permit.entry, prompt: script([{ say: "done" }], words) });
  expect(await run.outcome()).toEqual({ outcome: "complete" });
  return JSON.stringify(requestWith(words));
}

function systemOf(words: string): string {
  return JSON.stringify(requestWith(words)?.["system"] ?? "").replace('""', "");
}

function requestWith(words: string) {
  const isMain = (conversation: (typeof model.requests)[number]["conversation"]) =>
    conversation.tools.length > 0 && JSON.stringify(conversation.messages).includes(words);
  return model.requests.find(({ conversation }) => isMain(conversation))?.conversation;
}

/** The CLI's directory for notes about a project. */
function noteFor(home: string, project: string, text: string): void {
  const path = join(home, ".claude", "projects", project.replaceAll(/[^A-Za-z0-9]/g, "-"), "memory", "MEMORY.md");
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, `- ${text}`);
}
