import { afterAll, describe, expect, test } from "bun:test";
import type { JsonObject } from "../../../src/contract/values.ts";
import { isCoveredBy } from "../../../src/core/rules/allowed-tools/allowed-tools.ts";
import { ineffectiveEntries } from "../../../src/core/rules/allowed-tools/ineffective.ts";
import { builtinRule } from "../../../src/core/rules/builtin/builtin.ts";
import { plantTree } from "./tree.ts";

const tree = await plantTree();
afterAll(() => tree[Symbol.asyncDispose]());

const WORDS = /one command, with \* only as its last word/;
const WILDCARD = /a wildcard never covers a shell/;
const DANGEROUS = /a wildcard never covers a dangerous command/;
const PATTERN = /take a pattern: leave it out/;
const STAR = /tools of one MCP server/;
const PATH = /at most two \*\*/;
const DOMAIN = /domain:example.com/;
const FORM = /Tool, or Tool\(pattern\)/;

const INEFFECTIVE: [entry: string, why: RegExp][] = [
  ["*", FORM],
  ["Bash(", FORM],
  ["Bash()", FORM],
  ["Bash(npm test", FORM],
  ["Bash(npm test), Edit", FORM],
  ["Bash Read", FORM],
  [" Bash", FORM],
  ["bash", /is spelled Bash/],
  ["websearch", /is spelled WebSearch/],
  ["bash(npm test)", /is spelled Bash/],
  ["Bash(npm*)", WORDS],
  ["Bash(npm * --force)", WORDS],
  ["Bash(npm test && npm run build)", WORDS],
  ["Bash(npm test > out)", WORDS],
  ["Bash(echo $HOME)", WORDS],
  ["Bash(FOO=1 npm test)", WORDS],
  ["Bash(cat ~/x)", WORDS],
  ["Bash( *)", WORDS],
  ["Bash(cd *)", /change of directory/],
  ["Bash(cd src)", /change of directory/],
  ["Bash(python3 *)", WILDCARD],
  ["Bash(node:*)", WILDCARD],
  ["Bash(bash -c *)", WILDCARD],
  ["Bash(docker *)", WILDCARD],
  ["Bash(find . *)", WILDCARD],
  ["Bash(npm exec *)", WILDCARD],
  ["Bash(git config *)", WILDCARD],
  ["Bash(git -C x status *)", WILDCARD],
  ["Bash(rm -rf *)", DANGEROUS],
  ["Bash(git push --force *)", DANGEROUS],
  ["Glob(src/**)", PATTERN],
  ["Agent(Explore)", PATTERN],
  ["mcp__github__get(x)", PATTERN],
  ["mcp__*", STAR],
  ["mcp__github*", STAR],
  ["mcp__github__get__*", STAR],
  ["Task*", STAR],
  ["Read(src/)", PATH],
  ["Edit(../x)", PATH],
  ["Edit(a/./b)", PATH],
  ["Edit({a,b}/**)", PATH],
  ["Edit(**/a/**/b/**)", PATH],
  ["Edit(a**)", PATH],
  ["WebFetch(https://docs.rs)", DOMAIN],
  ["WebFetch(domain:docs.rs/x)", DOMAIN],
  ["WebFetch(domain:*)", DOMAIN],
  ["EnterWorktree", /never leaves its directory/],
];

const READING = ["Read", "Read(./src/**)", "Read(~/notes/*.md)", "Glob", "Grep", "TodoWrite", "TaskUpdate"];
const EFFECTIVE = [
  ...[
    "Bash",
    "Bash(*)",
    "Bash(:*)",
    "Bash(npm test)",
    "Bash(npm run *)",
    "Bash(npm run:*)",
    "Bash(git *)",
    "Bash(npm *)",
  ],
  ...["Bash(git worktree *)", "Bash(python3 setup.py build)", "Bash(rm -rf build)", "Bash(make *)", "Bash(rm *)"],
  ...["Bash(curl https://docs.rs)", 'Bash(git commit -m "a b")', "Bash(touch *)", "Bash(git --no-pager *)"],
  ...["Edit", "Edit(./src/**)", "Write(//srv/x)", "NotebookEdit", "Edit(.github/**)", "Edit(*.md)", "Edit(a?.ts)"],
  ...["WebFetch", "WebFetch(domain:docs.rs)", "WebFetch(domain:*.example.com)", "WebSearch", "Agent", "SomeLaterTool"],
  ...["mcp__github", "mcp__github__*", "mcp__github__get_*", "mcp__github__get_issue", "mcp__github___get"],
];

/** For each entry that looks right, at least one call that it covers. */
const CALLS: { toolName: string; input: JsonObject }[] = [
  ...[
    ...[
      "npm test",
      "npm run build",
      "npm run build --force",
      "npm exec x",
      "npm exec x --help",
      "npm test && npm run build",
    ],
    ...[
      "cd src",
      "cd ./src",
      "cd src && npm test",
      "python3 x.py",
      "python3 --version",
      "node",
      "node x",
      "bash -c ls",
    ],
    ...[
      "docker ps",
      "find . -name x",
      "git config a b",
      "git -C x status",
      "git -C x status --help",
      "rm -rf x",
      "rm -rf",
    ],
    ...["rm -rf --help", "git push --force", "git push --force origin", "git push --force --help", "echo x", "cat x"],
  ].map((command) => ({ toolName: "Bash", input: { command } })),
  ...["src", "src/a.txt", "a.txt", "x", "a/b", "../x"].flatMap((file_path) => [
    { toolName: "Read", input: { file_path } },
    { toolName: "Edit", input: { file_path, old_string: "a", new_string: "b" } },
    { toolName: "Write", input: { file_path, content: "x" } },
  ]),
  { toolName: "Glob", input: { pattern: "src/**" } },
  { toolName: "Agent", input: { description: "x", prompt: "y", subagent_type: "Explore" } },
  { toolName: "WebFetch", input: { url: "https://docs.rs/x", prompt: "x" } },
  { toolName: "WebSearch", input: { query: "x" } },
  ...["mcp__github__get_issue", "mcp__github__get__issue", "TaskGet"].map((toolName) => ({ toolName, input: {} })),
];

describe("an entry of allowed_tools that covers nothing", () => {
  test.each(INEFFECTIVE)("is named in default, with the reason: %s", (entry, why) => {
    const [sentence, ...others] = ineffectiveEntries(["Read", entry], "default");
    expect(sentence).toStartWith(`allowed_tools ${JSON.stringify(entry.trim())} has no effect: `);
    expect(sentence).toMatch(why);
    expect(others).toEqual([]);
  });

  test.each(INEFFECTIVE)("is named only where it covers none of many calls: %s", (entry) => {
    expect(CALLS.filter((call) => isCoveredBy([entry], call, tree.child) && !builtinRule(call, tree.child))).toEqual(
      [],
    );
  });

  test("is not named where it covers something", () => {
    expect(ineffectiveEntries([...READING, ...EFFECTIVE], "default")).toEqual([]);
  });

  test("is in strict all but reading and bookkeeping", () => {
    expect(ineffectiveEntries(READING, "strict")).toEqual([]);
    for (const entry of EFFECTIVE) {
      expect(ineffectiveEntries([entry], "strict")).toEqual([expect.stringContaining('supervision "strict"')]);
    }
  });

  test("is Claude Code's own matter in inherit", () => {
    expect(
      ineffectiveEntries(
        INEFFECTIVE.map(([entry]) => entry),
        "inherit",
      ),
    ).toEqual([]);
  });

  test("shares its sentence with others of the same reason, which stays short however many there are", () => {
    expect(ineffectiveEntries(["Edit", "Bash", "Edit"], "strict")).toEqual([
      'allowed_tools "Edit", "Bash" have no effect: with supervision "strict" commands, edits, the network, MCP and other tools always need a decision: use "default", or leave it out.',
    ]);
    const many = Array.from({ length: 1_000 }, (_, at) => `Bash(${at} ${'\u202e\n"'.repeat(300)}`);
    const said = ineffectiveEntries([...many, ...INEFFECTIVE.map(([entry]) => entry)], "default");
    expect(said[0]).toContain(" and ");
    expect(JSON.stringify(said).length).toBeLessThan(1_500);
    expect(said.join("")).not.toMatch(/[\p{Cc}\p{Cf}]/u);
  });
});
