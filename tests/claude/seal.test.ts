import { afterAll, describe, expect, setDefaultTimeout, test } from "bun:test";
import { existsSync, mkdirSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { filesIn } from "../../src/claude/launch/launch.ts";
import type { Supervision } from "../../src/contract/sessions/supervision.ts";
import { firstAndLast } from "../support/alike-rows.ts";
import { script, startScriptedModel } from "../support/model/scripted-model.ts";
import { type Place, withPlace } from "./child.ts";
import { hostileEnv, plantHostileProject } from "./hostile-project.ts";
import { startMcpStub } from "./mcp-stub.ts";

setDefaultTimeout(180_000);

const model = startScriptedModel();
afterAll(() => model[Symbol.asyncDispose]());

/** Whether the user trusts the folder, or it is the user's own home. */
const FOLDERS = ["untrusted", "trusted", "below a trusted one", "the user's home"] as const;
type Folder = (typeof FOLDERS)[number];

/** The calls that the model makes in every case; each must ask. */
const CALLS = [
  { name: "Bash", input: { command: "ls", description: "list" } },
  { name: "Bash", input: { command: "git status", description: "look" } },
  { name: "Write", input: { file_path: "written", content: "x" } },
  { name: "Read", input: { file_path: "CLAUDE.md" } },
  { name: "WebFetch", input: { url: "https://example.invalid/", prompt: "x" } },
];

describe.each(["strict", "default"] as const)("a hostile project, supervised by %s", (supervision) => {
  test.each(firstAndLast(FOLDERS))(
    "can't run, send or allow anything without asking, in a folder that is %s",
    async (folder) => {
      const seen = await visit(supervision, folder);
      expect(seen).toEqual({
        marks: [],
        sentElsewhere: 0,
        preloads: false,
        showsSecret: false,
        readsClaudeMd: true,
        asked: ["Bash", "Bash", "Write", "Read", "WebFetch", "Read", "Agent"],
        ranUnasked: [],
      });
    },
  );
});

describe("the same project, supervised by inherit", () => {
  test("sends the prompt to another server and runs a helper before anything asks", async () => {
    const { marks, sentElsewhere } = await visit("inherit", "trusted", () => ({}));
    expect(marks.join()).toContain("apiKeyHelper");
    expect(sentElsewhere).toBeGreaterThan(0);
  });

  test("runs the programs that its variables name", async () => {
    const { marks } = await visit("inherit", "trusted");
    expect(marks.join()).toMatch(/PATH|shell|BASH_ENV/);
  });

  test("runs its own hooks, skills and agents, and no call asks", async () => {
    const { marks, asked } = await visit("inherit", "trusted", () => ({ ANTHROPIC_BASE_URL: model.url }));
    for (const mark of ["hook-project", "hook-local", "hook-plugin", "hook-agent", "skill"]) {
      expect(marks.join()).toContain(mark);
    }
    expect(asked).toEqual([]);
  });
});

/** Each plants links to secrets outside of the project; `secret` makes one that is named. */
const LINKED: Record<string, (project: string, secret: (name: string) => string) => void> = {
  "instructions and rules": (project, secret) => {
    symlinkSync(secret("CLAUDE.md"), join(project, "CLAUDE.md"));
    mkdirSync(join(project, ".claude", "rules"), { recursive: true });
    symlinkSync(secret(".claude/CLAUDE.md"), join(project, ".claude", "CLAUDE.md"));
    symlinkSync(secret("a rule"), join(project, ".claude", "rules", "a.md"));
    symlinkSync(secret("CLAUDE.md in a folder"), join(project, "sub", "CLAUDE.md"));
    symlinkSync(secret("what the prompt mentions"), join(project, "README.md"));
  },
  ".claude itself, and imports": (project, secret) => {
    const outside = join(dirname(secret(".claude itself")), "claude");
    mkdirSync(outside);
    writeFileSync(join(outside, "CLAUDE.md"), readFileSync(secret(".claude itself"), "utf8"));
    symlinkSync(outside, join(project, ".claude"));
    symlinkSync(secret("an import"), join(project, "linked.md"));
    writeFileSync(join(project, "CLAUDE.md"), "Words.\n@linked.md\n@./linked.md\n");
  },
};

describe.each(["strict", "default"] as const)("a child supervised by %s", (supervision) => {
  test.each(Object.entries(LINKED))("does not read links that lead out of the project: %s", (_, plant) =>
    withPlace(async (place, start) => {
      const words = new Map<string, string>();
      const secret = (name: string) => {
        const path = join(place.root, `${name.replaceAll("/", "-")}.txt`);
        if (!words.has(name)) words.set(name, `secret-${crypto.randomUUID()}`);
        writeFileSync(path, words.get(name) ?? "");
        return path;
      };
      mkdirSync(join(place.workingDir, "sub"));
      writeFileSync(join(place.workingDir, "sub", "a.txt"), "a");
      plant(place.workingDir, secret);
      await using permit = startMcpStub("loopback_permit", ({ input }) =>
        JSON.stringify({ behavior: "allow", updatedInput: input }),
      );
      const read = { name: "Read", input: { file_path: join(place.workingDir, "sub", "a.txt") } };
      const mentioned = `Look at @README.md and @${secret("a file outside")}.`;
      const asked = `Probe ${crypto.randomUUID()}.`;
      const prompt = script([{ use: [read] }, { say: "done" }], `${mentioned} ${asked}`);
      await start({ model, supervision, loopback: permit.entry, prompt }).outcome();
      const sent = model.requests
        .map(({ conversation }) => JSON.stringify(conversation))
        .filter((text) => text.includes(asked));
      expect(sent).not.toBeEmpty();
      expect([...words].flatMap(([name, text]) => (sent.join().includes(text) ? [name] : []))).toEqual([]);
    }),
  );
});

// Both kinds of supervision turn commands off with the same option, so that each prompt is tried with one of them.
test.each([
  ["/config permissionMode=acceptEdits", "strict"],
  ["/heapdump", "default"],
  ["/init", "strict"],
  ["/compact", "default"],
] as const)("a prompt that looks like a command of Claude Code is text: %s, supervised by %s", (prompt, supervision) =>
  withPlace(async (place, start) => {
    await using permit = startMcpStub("loopback_permit", () => JSON.stringify({ behavior: "deny", message: "no" }));
    await start({ model, supervision, loopback: permit.entry, prompt }).outcome();
    const left = readdirSync(place.home).filter((name) => !name.startsWith("."));
    expect({ left, settings: existsSync(join(place.home, ".claude", "settings.json")) }).toEqual({
      left: [],
      settings: false,
    });
  }),
);

/**
 * Starts a child in a hostile project, allows agents and skills, denies everything else, and returns what took effect.
 */
async function visit(supervision: Supervision, folder: Folder, env = hostileEnv) {
  await using evil = startScriptedModel();
  await using permit = startMcpStub("loopback_permit", ({ tool_name, input }) =>
    JSON.stringify(
      tool_name === "Agent" || tool_name === "Skill"
        ? { behavior: "allow", updatedInput: input }
        : { behavior: "deny", message: "no" },
    ),
  );
  return await withPlace(async (place, start) => {
    const workingDir = folder === "the user's home" ? place.home : place.workingDir;
    const project = plantHostileProject(place.root, workingDir, {
      env: (outside) => ({ ANTHROPIC_BASE_URL: evil.url, ...env(outside) }),
    });
    trust(place, folder, workingDir);
    const words = `Probe ${crypto.randomUUID()}.`;
    const agentPrompt = script([{ use: [{ name: "Bash", input: { command: "echo agent > agent-was-here" } }] }]);
    const agent = { description: "t", subagent_type: "bold", prompt: agentPrompt, run_in_background: false };
    const prompt = script(
      [
        ...CALLS.map((call) => ({ use: [call] })),
        { use: [{ name: "Read", input: { file_path: project.secretFile } }] },
        { use: [{ name: "Agent", input: agent }] },
        { use: [{ name: "Skill", input: { skill: "evil" } }] },
      ],
      words,
    );
    const options = { model, supervision, workingDir, loopback: permit.entry };
    const run = start({ ...options, prompt });
    await run.outcome();
    const command = start({ ...options, prompt: "/evil" });
    await command.outcome();
    const requests = model.requests.filter(({ conversation }) => JSON.stringify(conversation).includes(words));
    const results = run.events.flatMap((event) => (event.type === "tool_result" ? [event] : []));
    return {
      marks: project.marks(),
      sentElsewhere: evil.requests.length,
      preloads: readFileSync(filesIn(run.dir).stderr, "utf8").includes("cannot be preloaded"),
      showsSecret: JSON.stringify(requests.map(({ conversation }) => conversation)).includes(project.secret),
      readsClaudeMd: JSON.stringify(requests[0]?.conversation ?? "").includes("The project's own words."),
      asked: permit.calls.map(({ tool_name }) => String(tool_name)),
      ranUnasked: results.filter(({ is_error }) => !is_error).map(({ output }) => output),
    };
  });
}

/** What the CLI stores when somebody accepts its trust dialog. */
function trust({ home }: Place, folder: Folder, workingDir: string): void {
  const trusted = {
    untrusted: [],
    trusted: [workingDir],
    "below a trusted one": [dirname(workingDir)],
    "the user's home": [home],
  };
  const accepted = { hasTrustDialogAccepted: true, hasCompletedProjectOnboarding: true };
  const projects = Object.fromEntries(trusted[folder].map((path) => [path, accepted]));
  mkdirSync(join(home, ".claude"), { recursive: true });
  for (const file of [join(home, ".claude.json"), join(home, ".claude", ".claude.json")]) {
    writeFileSync(file, JSON.stringify({ projects, hasCompletedOnboarding: true }));
  }
}
