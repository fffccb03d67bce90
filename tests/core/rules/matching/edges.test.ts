import { afterAll, describe, expect, test } from "bun:test";
import type { JsonObject } from "../../../../src/contract/values.ts";
import { hasOption } from "../../../../src/core/rules/matching/commands/options/option-names.ts";
import { isRunner, wildcardMayCover } from "../../../../src/core/rules/matching/commands/wildcard-limits.ts";
import { createFinder } from "../../../../src/core/rules/matching/find.ts";
import { judgedCall } from "../../../../src/core/rules/matching/judged-call.ts";
import { createProver } from "../../../../src/core/rules/matching/prove.ts";
import { plantTree } from "../tree.ts";
import { dangersIn, rulesFor } from "./judge.ts";

/** Cases that a mutation run found untested: every member of each list, and both sides of each limit. */
const tree = await plantTree();
afterAll(() => tree[Symbol.asyncDispose]());
const { supervision: _, ...place } = tree.child;
const planted = (text: string) => text.replaceAll("@/", `${tree.root}/`);
const call = (toolName: string, input: JsonObject) =>
  judgedCall({ toolName, input: JSON.parse(planted(JSON.stringify(input))) }, place);
const proves = (match: string, toolName: string, input: JsonObject) =>
  createProver(rulesFor([match.replaceAll("@/", `/${tree.root}/`)]), dangersIn(place)).prove(
    call(toolName, input),
    undefined,
  );
const finds = (match: string, command: string) => createFinder(rulesFor([match])).find(call("Bash", { command }));

/** A program, and words for it. */
const about = (rows: string[][]) => rows.map(([program = "", ...words]) => ({ program, words }));
/** A program, one of its options, and lines of words. */
const sought = (rows: string[][]) => rows.map(([program = "", option = "", ...lines]) => ({ program, option, lines }));

describe("a wildcard after a program", () => {
  test.each(
    about([
      ["rg", "--pre=x", "--pre-glob=x", "--hostname-bin=x", "--follow", "-L", "-nL", "--pr", "--pager=x"],
      ["ag", "--follow", "-f", "--pager=x"],
      ["sort", "--compress-program=x", "--compress-prog=x", "--output=x", "-o", "-ro", "-T", "--files0-from=x"],
      [
        "tar",
        "--to-command=x",
        "--checkpoint-action=x",
        "--use-compress-program=x",
        "--rsh-command=x",
        "--info-script=x",
      ],
      [
        "tar",
        "--new-volume-script=x",
        "--add-file=x",
        "--absolute-names",
        "-cIx",
        "-cF",
        "-xh",
        "-cT",
        "-xP",
        "cIf",
        "xPf",
      ],
      [
        "go",
        "-exec=x",
        "-toolexec=x",
        "-overlay=x",
        "-vettool=x",
        "-modfile=x",
        "-C",
        "--C=x",
        "run",
        "generate",
        "tool",
      ],
      ["zip", "--unzip-command=x", "--recurse-paths", "--recurse-patterns", "-T", "-r", "-R"],
      ["just", "--justfile=x", "--working-directory=x", "--shell=x", "--command", "--edit", "-f", "-d", "-c"],
      ["ctags", "--recurse", "--options=x", "-R", "-L"],
      ["diff", "--recursive", "-r", "-ur"],
      ["cargo", "--config=x", "--manifest-path=x", "-Zx", "-C", "+nightly"],
      [
        "make",
        "X=1",
        "-f",
        "-C",
        "-I",
        "-E",
        "--eval=x",
        "--file=x",
        "--makefile=x",
        "--directory=x",
        "--include-dir=x",
      ],
      [
        "mvn",
        "-f",
        "-s",
        "-t",
        "-gs",
        "exec:java",
        "--file=x",
        "--settings=x",
        "--global-settings=x",
        "--toolchains=x",
      ],
      ["gradle", "-I", "-b", "-p", "-c", "--init-script=x", "--build-file=x", "--project-dir=x", "--include-build=x"],
      ["npm", "--script-shell=x", "--prefix=x", "--userconfig=x", "--node-options=x", "-C", "--config.x=y"],
    ]),
  )("$program does not cover some of its words", ({ program, words }) => {
    const verb = ["npm", "cargo"].includes(program) ? ["test"] : [];
    expect(words.filter((word) => wildcardMayCover([program, ...verb, word], 1))).toEqual([]);
  });

  test.each(
    about([
      ["rg", "--count", "--ignore-case", "-n", "x-L"],
      ["sort", "--reverse", "--unique", "-rn"],
      ["tar", "--gzip", "-czf", "xzf", "a/T.tar", "--verbose"],
      ["go", "test", "-race", "--count=1", "rerun", "runner"],
      ["zip", "--quiet", "-q"],
      ["just", "--list", "build"],
      ["ctags", "--languages=x"],
      ["cargo", "test", "--release", "a+b"],
      ["make", "test", "-j4", "--silent", "a-f"],
      ["mvn", "test", "-q", "a-f"],
    ]),
  )("$program covers the others", ({ program, words }) => {
    const verb = program === "cargo" ? ["test"] : [];
    expect(words.filter((word) => !wildcardMayCover([program, ...verb, word], 1))).toEqual([]);
  });

  test.each(
    about([
      ["npm", "exec", "x", "dlx", "explore", "edit", "config", "c", "set", "publish", "create", "init", "node", "npm"],
      ["git", "config", "submodule", "bisect", "filter-branch", "rebase", "difftool", "mergetool", "-c"],
    ]),
  )("never covers the verbs of $program that run others", ({ program, words: verbs }) => {
    expect(verbs.filter((verb) => wildcardMayCover([program, verb], 2))).toEqual([]);
    // A word that only begins or ends like a verb is ordinary, and the pattern may name it.
    expect(wildcardMayCover([program, `${verbs[0]}x`, "y"], 2)).toBe(true);
    expect(wildcardMayCover([program, `x${verbs[0]}`, "y"], 2)).toBe(true);
  });
});

describe("isRunner", () => {
  test.each(
    "rbash yash nu xonsh ipython pdb rvim corepack pyenv nvm rake jrunscript zargs sched bash-static bash5 bash-5.2 busybox.exe python3.11 node20 sed.exe genv gxargs gsed gawk gfind gtimeout gnice gnohup gstdbuf git-push ld.so.2 ld-musl-x86_64.so.1 ld-linux-x86-64.so.2".split(
      " ",
    ),
  )("%s runs what its words say", (name) => {
    expect(isRunner(name)).toBe(true);
  });

  test.each("git grep genvy gsedx agenv gcc-x86 gitk shellcheck bashful oldgit-x ldd2x touch".split(" "))(
    "%s does not",
    (name) => {
      expect(isRunner(name)).toBe(false);
    },
  );
});

describe("hasOption", () => {
  test.each(
    sought([
      ["curl", "-d", "--data x", "--data-raw x", "--data-binary x", "--data-ascii x", "--data-urlencode x"],
      ["curl", "-F", "--form x"],
      ["curl", "-H", "--header x", "-sH x"],
      ["curl", "-K", "--config x"],
      ["curl", "-L", "--location", "-sL"],
      ["curl", "-T", "--upload-file x"],
      ["curl", "-X", "--request POST", "-XPOST"],
      ["curl", "-o", "--output x"],
      ["curl", "--output", "-o x", "-sox"],
      ["docker", "-v", "--volume x", "--volume=x"],
      ["docker", "--volume", "-v x", "-itv x"],
      ["podman", "-e", "--env X"],
      ["docker", "--user", "-u root"],
      ["git", "-D", "--delete --force", "-Df"],
      ["git", "--set-upstream", "-u"],
      ["git", "--no-verify", "-n"],
      ["rm", "-r", "-R", "--recursive", "-vR", "--rec"],
      ["rm", "-rf", "-fr", "-r -f", "--recursive --force", "-Rfv"],
      ["ls", "-a", "--all"],
      ["x", "--name=value", "--name=value", "--name value", "--na value"],
      ["x", "-q", "-q", "-vq"],
    ]),
  )("of $program finds $option", ({ program, option, lines }) => {
    expect(lines.filter((line) => !hasOption(program, line.split(" "), option))).toEqual([]);
  });

  test.each(
    sought([
      ["curl", "-d", "--dump-header x", "--header data", "data", "x-d"],
      ["docker", "-v", "--env volume", "volume", "x--volume"],
      ["git", "-D", "--delete", "--force"],
      ["rm", "-rf", "-r", "-f", "--recursive", "rf", "--", "x-rf"],
      ["x", "--name=value", "--name other", "--name", "value --name", "--other value", "--name=values"],
      ["x", "-q", "q", "--q", "-"],
    ]),
  )("of $program does not find $option elsewhere", ({ program, option, lines }) => {
    expect(lines.filter((line) => hasOption(program, line.split(" "), option))).toEqual([]);
  });
});

describe("a rule to allow", () => {
  test.each<[string, string, JsonObject]>([
    // A bare name covers no file that controls programs.
    ["Edit", "Write", { file_path: ".gitattributes", content: "" }],
    ["Edit", "Write", { file_path: ".githooks/pre-commit", content: "" }],
    ["Edit", "Write", { file_path: "src/.hg/hgrc", content: "" }],
    ["*", "Write", { file_path: ".svn/x", content: "" }],
    // Only a person may answer these.
    ["EnterPlanMode", "EnterPlanMode", {}],
    ["EnterWorktree", "EnterWorktree", {}],
    ["ExitWorktree", "ExitWorktree", {}],
    // A search tool reads ignore files even if they are links.
    ["Read(./ignoring/**)", "Grep", { pattern: "x", path: "ignoring" }],
    ["Read(./**)", "Grep", { pattern: "x", path: "ignoring" }],
    // Only a pattern for everything below covers a search.
    ["Read(./src/*)", "Grep", { pattern: "x", path: "src" }],
    ["Read(./src/deep/**)", "Grep", { pattern: "x", path: "src" }],
    ["Read(./*/deep/**)", "Grep", { pattern: "x", path: "src/deep" }],
    ["Read(./src/**)", "Grep", { pattern: "x", path: "docs" }],
    ["Read(./src/**)", "Read", { file_path: "src/missing.ts" }],
    ["Edit(./src/**)", "Grep", { pattern: "x", path: "src" }],
    // A redirect to an empty name, and to a place outside.
    ["Bash(npm test)", "Bash", { command: 'npm test > ""' }],
    ["Edit(./src/**)", "Bash", { command: "echo x > /src/out.txt" }],
    ["Edit(./src/**)", "Bash", { command: "> src/out.txt" }],
    // A line break where a command is missing.
    ["Bash(npm test)", "Bash", { command: "npm test &&\n&& npm test" }],
    // Claude Code rewrites such a redirect.
    ["Bash(echo *)", "Bash", { command: "echo a '>nul'" }],
    ["Bash(echo *)", "Bash", { command: "echo a '>  nul'" }],
  ])("%s does not cover %s %j", (match, tool, input) => {
    expect(proves(match, tool, input)).toBeUndefined();
  });

  test.each<[string, string, JsonObject]>([
    ["Read(./src/**)", "Grep", { pattern: "x", path: "src/deep" }],
    ["Read(./src/**)", "Grep", { pattern: "x", path: "src" }],
    ["Read(@/project/docs/**)", "Grep", { pattern: "x", path: "docs" }],
    ["Read(~/notes/**)", "Grep", { pattern: "x", path: "@/person/notes" }],
    ["Read(./src/**)", "Grep", { pattern: "x", path: "src/x.ts" }],
  ])("%s covers %s %j", (match, tool, input) => {
    expect(proves(match, tool, input)).toHaveLength(1);
  });

  test("covers a tool's name up to 512 characters, and finds it as far", () => {
    const name = (length: number) => `mcp__a__${"x".repeat(length - 8)}`;
    const finder = createFinder(rulesFor(["mcp__a"]));
    expect([512, 513].map((length) => proves("mcp__a", name(length), {}) !== undefined)).toEqual([true, false]);
    expect([512, 513].map((length) => finder.find(call(name(length), {})) !== undefined)).toEqual([true, false]);
  });
});

describe("a rule against a command", () => {
  test.each([
    ["echo 'git push' | sh"],
    ["echo -e 'ls\\ngit push' | bash"],
    ["echo -ne 'ls\\ngit push' | bash -s"],
    ["printf 'ls\\ngit push' | sh -"],
    ["printf '%s' 'git push' | sh; echo git push | zsh /dev/stdin"],
    ["echo git push | bash -x"],
    ["cat <<EOF | sh\ngit push\nEOF"],
    ["bash -s <<< 'git push'"],
  ])("finds what is printed into a shell: %s", (command) => {
    expect(finds("Bash(git push *)", command)).toBeDefined();
  });

  test.each(
    sought([
      ["chroot / rm", "-u", "-g", "-G", "--userspec", "--groups"],
      ["unshare rm", "-R", "-S", "-G", "-w", "-l", "--boottime", "--load-interp", "--map-group", "--map-groups"],
      [
        "unshare rm",
        "--map-user",
        "--map-users",
        "--monotonic",
        "--propagation",
        "--root",
        "--setgid",
        "--setgroups",
        "--setuid",
        "--wd",
      ],
      ["nsenter rm", "-t", "-S", "-G", "-W", "-N", "--net-socket", "--target", "--setuid", "--setgid", "--wdns"],
      ["pkexec rm", "--user"],
      ["wsl rm", "-d", "-u", "--cd", "--distribution", "--shell-type", "--user"],
      ["docker run image rm", "--cap-add", "--device"],
      ["sshpass ssh host rm", "-p", "-f", "-d", "-P"],
      ["mosh host rm", "-p", "--bind-server", "--family", "--port", "--predict", "--server", "--ssh"],
      [
        "ssh host rm",
        "-B",
        "-b",
        "-c",
        "-D",
        "-E",
        "-e",
        "-F",
        "-I",
        "-i",
        "-J",
        "-L",
        "-l",
        "-m",
        "-O",
        "-o",
        "-P",
        "-p",
        "-Q",
        "-R",
        "-S",
        "-W",
        "-w",
      ],
      ["autossh host rm", "-M", "-p"],
      [
        "kubectl exec pod rm",
        "-c",
        "-f",
        "-n",
        "-s",
        "--as",
        "--as-group",
        "--cluster",
        "--container",
        "--context",
        "--filename",
        "--image",
      ],
      [
        "kubectl exec pod rm",
        "--kubeconfig",
        "--namespace",
        "--pod-running-timeout",
        "--request-timeout",
        "--server",
        "--token",
        "--user",
      ],
      ["kubectl run pod rm", "--custom", "--labels", "--overrides", "--profile", "--restart", "--target"],
      ["gh codespace ssh rm", "-c", "-p", "--codespace", "--profile", "--server-port"],
    ]).map(({ program, option, lines }) => ({ line: program, options: [option, ...lines] })),
  )("finds what $line runs, behind each of its options with a value", ({ line, options }) => {
    const words = line.split(" ");
    const own = words.findIndex((word) => /^(?:exec|run|ssh)$/.test(word)) + 1 || 1;
    const start = words[0] === "ssh" || words[0] === "sshpass" ? 1 : own;
    const written = (option: string) =>
      [...words.slice(0, start), option, "value", ...words.slice(start), "x"].join(" ");
    expect(options.map(written).filter((command) => finds("Bash(rm *)", command) === undefined)).toEqual([]);
  });

  test.each([
    ["echo git push | cat"],
    ["echo 'git push'; sh x.sh"],
    ["echo git push | sh x.sh"],
    ["echo git push | sh -c ls"],
    ["grep git push | sh"],
  ])("does not find what no shell reads: %s", (command) => {
    expect(finds("Bash(git push *)", command)).toBeUndefined();
  });
});
