import { afterAll, describe, expect, setDefaultTimeout, test } from "bun:test";
import { mkdirSync, symlinkSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { supports } from "../../../src/claude/cli-version.ts";
import { script, startScriptedModel, type Turn } from "../../support/model/scripted-model.ts";
import { type Place, TESTED_VERSION, withPlace } from "../child.ts";
import { startMcpStub, startPermitStub } from "../mcp-stub.ts";

setDefaultTimeout(60_000);

const model = startScriptedModel();
afterAll(() => model[Symbol.asyncDispose]());

const HAS_ATTACHMENTS = supports(TESTED_VERSION, "fileMentionsOff");

describe.each(["strict", "default"] as const)("a sealed child, supervised by %s,", (supervision) => {
  test("knows the CLI's own tools and those of its session's servers", () =>
    withPlace(async (_, start) => {
      await using permit = startPermitStub("allow");
      await using other = startOther();
      const words = `Probe ${crypto.randomUUID()}.`;
      const calls = [{ use: [{ name: "mcp__other__poke", input: {} }] }];
      const prompt = script([{ use: [{ name: "ToolSearch", input: { query: "poke" } }] }, ...calls], words);
      await start({ model, supervision, loopback: permit.entry, mcpServers: { other: other.entry }, prompt }).outcome();
      const told = JSON.stringify(requestsWith(words)[0] ?? "");
      expect(["WebFetch", "WebSearch", "mcp__other__poke"].filter((tool) => !told.includes(tool))).toEqual([]);
      expect(other.calls).toHaveLength(1);
      // Older versions only have them together with @file.
      expect(told.includes("Poke with the left hand.")).toBe(HAS_ATTACHMENTS);
    }));
});

type Plant = { project: string; secret: string; words: string; place: Place };
type Case = { plant: (where: Plant) => void; mention?: (where: Plant) => string; turns?: (where: Plant) => Turn[] };

const READS = ({ project }: Plant): Turn[] => [
  { use: [{ name: "Read", input: { file_path: join(project, "sub", "a.txt") } }] },
  { use: [{ name: "Read", input: { file_path: join(project, "sub", "a.txt") } }] },
];
const linked = (name: string): Case => ({
  plant: ({ project, secret }) => {
    mkdirSync(dirname(join(project, name)), { recursive: true });
    symlinkSync(secret, join(project, name));
  },
  turns: READS,
});
const mentionedAs = (name: string, mention: (where: Plant) => string): Case => ({
  plant: ({ project, secret }) => symlinkSync(secret, join(project, name)),
  mention,
});
const mentioned = (mention: (where: Plant) => string) => mentionedAs("README.md", mention);

/** Cases that share one child, each with its own secret: starting the CLI takes most of the time. */
const GROUPS: Record<string, Record<string, Case>> = {
  "what the prompt mentions": {
    "a file": mentioned(() => "@README.md"),
    "a file, quoted": mentionedAs("QUOTED.md", () => '@"QUOTED.md" @./QUOTED.md'),
    "a file, with lines": mentionedAs("LINES.md", () => "@LINES.md#L1-2"),
    "a file, by its whole path": mentionedAs("WHOLE.md", ({ secret }) => `@${secret}`),
    "a file of the home": {
      plant: ({ place, words }) => writeFileSync(join(place.home, "notes.txt"), words),
      mention: () => "@~/notes.txt",
    },
    "a directory": {
      plant: ({ place, words }) => writes(join(place.root, "elsewhere", words), ""),
      mention: ({ place }) => `@${join(place.root, "elsewhere")} @${join(place.root, "elsewhere")}/ @../elsewhere/`,
    },
    "an agent of the project": {
      plant: ({ project, words }) =>
        writes(join(project, ".claude", "agents", "bold.md"), `---\nname: bold\ndescription: ${words}\n---\n${words}`),
      mention: () => '@agent-bold @"bold (agent)"',
    },
  },
  "what a subagent's prompt mentions": {
    "a file, a directory and a resource": {
      plant: ({ project, secret }) => symlinkSync(secret, join(project, "README.md")),
      turns: ({ secret }) => {
        const prompt = `See @README.md @${secret} @other:other://doc ${script([{ say: "seen" }])}`;
        const input = { description: "t", subagent_type: "general-purpose", run_in_background: false, prompt };
        return [{ use: [{ name: "ListMcpResourcesTool", input: {} }] }, { use: [{ name: "Agent", input }] }];
      },
    },
  },
  "what a command prints, or has changed": {
    "a file that is mentioned": {
      ...mentioned(() => ""),
      turns: ({ secret }) => [bash(`echo 'See @README.md @${secret}'`), bash("true")],
    },
    "a file that was read, and is a link by now": {
      plant: () => {},
      turns: (where) => [...READS(where), bash(`ln -sf ${where.secret} sub/a.txt`), bash("true"), bash("true")],
    },
  },
  "a link in place of what Claude Code looks for": {
    "CLAUDE.md beside what is read": linked("sub/CLAUDE.md"),
    ".claude/CLAUDE.md beside what is read": linked("sub/.claude/CLAUDE.md"),
    "CLAUDE.local.md beside what is read": linked("sub/CLAUDE.local.md"),
    "AGENTS.md beside what is read": linked("sub/AGENTS.md"),
    "a rule beside what is read": linked("sub/.claude/rules/a.md"),
    "AGENTS.md": linked("AGENTS.md"),
    "CLAUDE.local.md": linked("CLAUDE.local.md"),
    "a rule": linked(".claude/rules/a.md"),
    "CLAUDE.md above the project": linked("../CLAUDE.md"),
  },
  "what is beside a file that is read": {
    "an import of a CLAUDE.md": {
      plant: ({ project, secret }) => writes(join(project, "sub", "CLAUDE.md"), `@${secret}\n`),
      turns: READS,
    },
    "a skill": {
      plant: ({ project, words }) =>
        writes(join(project, "sub/.claude/skills/e/SKILL.md"), `---\nname: e\ndescription: ${words}\n---\n`),
      turns: READS,
    },
  },
};

describe("the CLI does not send without asking", () => {
  test.each(Object.keys(GROUPS))("%s", (group) =>
    withPlace(async (place, start) => {
      const cases = Object.entries(GROUPS[group] ?? {}).map(([name, one], at) => {
        const words = `secret-${crypto.randomUUID()}`;
        const where = { project: place.workingDir, secret: join(place.root, `secret-${at}.txt`), words, place };
        return { ...one, name, words, where };
      });
      writes(join(place.workingDir, "sub", "a.txt"), "a");
      for (const { plant, where } of cases) {
        writeFileSync(where.secret, where.words);
        plant(where);
      }
      const resource = `secret-${crypto.randomUUID()}`;
      await using permit = startPermitStub("allow");
      await using other = startOther(resource);
      const options = { model, loopback: permit.entry, mcpServers: { other: other.entry } };
      const mentions = cases.map(({ mention, where }) => mention?.(where) ?? "");
      const saying = (turns: Turn[]) => `Look at @other:other://doc ${mentions.join(" ")} now. ${script(turns)}`;
      const run = start({ ...options, prompt: saying([...turnsOf(cases), { say: "done" }]) });
      expect(await run.outcome()).toEqual({ outcome: "complete" });
      // By then the CLI knows more than at its start.
      const resume = run.facts.init?.claudeSessionId;
      const prompt = saying([bash("true"), { say: "done" }]);
      expect(await start({ ...options, prompt, resume }).outcome()).toEqual({ outcome: "complete" });
      const sent = cases.filter(({ words }) => requestsWith(words).length > 0);
      expect(sent.map(({ name }) => name)).toEqual([]);
      expect(requestsWith(resource)).toEqual([]);
      expect(other.methods).not.toContain("resources/read");
    }),
  );
});

/** The distinct turns of all cases. */
function turnsOf(cases: (Case & { where: Plant })[]): Turn[] {
  const turns = cases.flatMap(({ turns, where }) => turns?.(where) ?? []);
  const reads = READS(cases[0]?.where as Plant).map((turn) => JSON.stringify(turn));
  const others = turns.filter((turn) => !reads.includes(JSON.stringify(turn)));
  return [...turns.filter((turn) => !others.includes(turn)).slice(0, reads.length), ...others];
}

function startOther(text = "") {
  const offer = { instructions: "Poke with the left hand.", resource: { uri: "other://doc", text } };
  return startMcpStub("poke", () => "poked", offer);
}

function requestsWith(words: string) {
  return model.requests.flatMap(({ conversation }) =>
    JSON.stringify(conversation).includes(words) ? [conversation] : [],
  );
}

function bash(command: string): Turn {
  return { use: [{ name: "Bash", input: { command, description: "do" } }] };
}

function writes(path: string, text: string): void {
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, text);
}
