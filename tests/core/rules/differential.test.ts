import { afterAll, expect, setDefaultTimeout, test } from "bun:test";
import { createHash } from "node:crypto";
import { lstatSync, readdirSync, readFileSync, readlinkSync, realpathSync } from "node:fs";
import { join } from "node:path";
import fc from "fast-check";
import { builtinRule } from "../../../src/core/rules/builtin/builtin.ts";
import { CLAUDE } from "../../support/claude/claude.ts";
import { CANARY, plantTree } from "./tree.ts";

setDefaultTimeout(120_000);

const tree = await plantTree();
afterAll(() => tree[Symbol.asyncDispose]());

const BASH = Bun.which("bash") ?? "bash";
/** The search tools with which Claude Code's shell replaces the usual ones. */
const OWN_TOOLS = ["grep", "find"]
  .map((name) => {
    const [tool, args] =
      name === "grep"
        ? ["ugrep", "-G --ignore-files --hidden -I --exclude-dir=.git"]
        : ["bfs", "-S dfs -regextype findutils-default"];
    return `${name}() { (exec -a ${tool} '${realpathSync(CLAUDE)}' ${args} \${1+"$@"}); }\n`;
  })
  .join("");

/** A digest of everything below a directory, including contents. */
function digest(directory = tree.root): string {
  const hash = createHash("sha256");
  const look = (path: string) => {
    const stat = lstatSync(path, { bigint: true });
    hash.update(`${path} ${stat.mode} ${stat.size} ${stat.mtimeNs} ${stat.ino}\n`);
    if (stat.isSymbolicLink()) hash.update(readlinkSync(path));
    if (stat.isFile()) hash.update(readFileSync(path));
    if (stat.isDirectory()) for (const name of readdirSync(path).sort()) look(join(path, name));
  };
  look(directory);
  return hash.digest("hex");
}

const planted = digest();

function run(command: string, preamble = ""): string {
  const { stdout, stderr, exitedDueToTimeout } = Bun.spawnSync([BASH, "-c", `${preamble}eval "$0"`, command], {
    cwd: tree.child.workingDir,
    env: { PATH: process.env["PATH"] ?? "", HOME: tree.child.home },
    stdin: "ignore",
    timeout: 10_000,
  });
  if (exitedDueToTimeout) throw new Error(`${command} does not end`);
  return stdout.toString() + stderr.toString();
}

const NAMES =
  "a.txt b.txt src src/x.ts src/deep docs nest nest/vault nest/vault/key link-in link-in/x.ts link-out link-file link-token hard-token src/up src/up/secret.txt loop dangling -n -l 5 . .. ../added ../added/c.txt ../outside/secret.txt ../data/operator-token @/project/a.txt @/outside/secret.txt /proc/self/environ none - 'with space.txt' with\\ space.txt";
const OPTIONS =
  "-l -n -la -R -r -rn -i -v -c -h -H -o -s -q -u -b -d -t -k -f -e -E -F -A1 -5 -n5 -L -S -a --color=never --recursive --include='*' -- -type -name -path -print -maxdepth -newer -o -not -printf -exec -delete -fprint -ls";
const VALUES =
  "1 5 20 f d , : '*' '*.txt' CANARY alpha '.' 1,2p '1,$p' '%s' '%d' '%p\\n' x '' \\( \\) \\; '{}' + +%F ] [ -f -e 'a b' \"q\"";
const PROGRAMS =
  "ls cat head tail wc stat file du basename dirname realpath readlink echo printf sort uniq cut tr nl tac rev comm diff cmp sha256sum grep egrep fgrep find tree sed date test [ which type command cd pwd id true";
const JOINTS = [" && ", " || ", " ; ", " | ", "\n", " 2>/dev/null | ", " 2>&1 && ", " & ", " > ", " ;; "];

const words = (text: string) => text.match(/'[^']*'|"[^"]*"|(?:\\.|[^\s\\])+/g) ?? [];
const word = fc.oneof(
  { weight: 4, arbitrary: fc.constantFrom(...words(NAMES)) },
  { weight: 3, arbitrary: fc.constantFrom(...words(OPTIONS)) },
  { weight: 3, arbitrary: fc.constantFrom(...words(VALUES)) },
);
const simple = fc
  .tuple(fc.constantFrom(...words(PROGRAMS)), fc.array(word, { maxLength: 4 }))
  .map((parts) => parts.flat().join(" "));
/** Shapes that the rule often lets run, so that most runs test paths and options. */
const likely = fc.oneof(
  fc
    .tuple(fc.constantFrom("cat", "head -n 3", "wc -l", "sort", "nl", "tac", "ls -la", "stat"), word)
    .map((parts) => parts.join(" ")),
  fc
    .tuple(fc.constantFrom("grep -rn . ", "grep CANARY", "grep -l .", "grep -r -e ."), word, word)
    .map((parts) => parts.join(" ")),
  fc
    .tuple(fc.constantFrom("find"), word, fc.constantFrom("", "-type f", "-name '*'", "-ls"))
    .map((parts) => parts.join(" ")),
  fc
    .tuple(fc.constantFrom("cd ./src", "cd @/project", "cd ./link-in", "cd ./nest", "cd ./docs"), simple)
    .map((parts) => parts.join(" && ")),
);
const command = fc
  .tuple(
    fc.oneof(simple, likely),
    fc.array(fc.tuple(fc.constantFrom(...JOINTS), fc.oneof(simple, likely)), { maxLength: 2 }),
  )
  .map(([first, rest]) => [first, ...rest.flat()].join("").replaceAll("@/", `${tree.root}/`));

test("a command that the rule lets run prints nothing from outside or private files, and changes nothing", () => {
  let allowed = 0;
  fc.assert(
    fc.property(command, (text) => {
      if (builtinRule({ toolName: "Bash", input: { command: text } }, tree.child) !== "bash") return;
      allowed++;
      expect(run(text)).not.toContain(CANARY);
      if (/\b(?:grep|find)\b/.test(text)) expect(run(text, OWN_TOOLS)).not.toContain(CANARY);
      expect(digest()).toBe(planted);
    }),
    { numRuns: 6_000 },
  );
  expect(allowed).toBeGreaterThan(200);
});

test("the test itself would see a canary and notice a change", () => {
  expect(run("cat link-file")).toContain(CANARY);
  expect(run("grep -r . nest")).toContain(CANARY);
  expect(run("grep -r . nest", OWN_TOOLS)).toContain(CANARY);
  expect(run("touch docs/readme.md && cat docs/readme.md")).toContain("Read me");
  expect(digest()).not.toBe(planted);
});
