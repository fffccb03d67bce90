import { afterAll, describe, expect, test } from "bun:test";
import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { isCoveredBy } from "../../src/rules/builtin.ts";
import type { JsonObject } from "../../src/schema/values.ts";
import { plantTree } from "./tree.ts";

const tree = await plantTree();
afterAll(() => tree[Symbol.asyncDispose]());

const planted = (text: string) => text.replaceAll("@/", `${tree.root}/`);
const covers = (allowed: string | string[], toolName: string, input: JsonObject, place = tree.place) =>
  isCoveredBy([allowed].flat().map(planted), { toolName, input: JSON.parse(planted(JSON.stringify(input))) }, place);
const runs = (allowed: string | string[], command: string, place = tree.place) =>
  covers(allowed, "Bash", { command }, place);

const EDIT = { old_string: "a", new_string: "b" };

describe("a bare name in allowed_tools", () => {
  test.each<[string, string, JsonObject]>([
    ["Bash", "Bash", { command: "rm -rf / & $(id)", run_in_background: true }],
    ["Bash(*)", "Bash", { command: "anything > at all" }],
    ["Bash(:*)", "Bash", { command: "cat @/data/operator-token" }],
    ["Read", "Read", { file_path: "/etc/hostname" }],
    ["Read", "Read", { file_path: "@/outside/secret.txt" }],
    ["Grep", "Grep", { pattern: "x", path: "@/outside" }],
    ["Edit", "Edit", { file_path: "@/outside/new.txt", ...EDIT }],
    ["Edit", "Write", { file_path: "new.txt", content: "x" }],
    ["Edit", "NotebookEdit", { notebook_path: "n.ipynb", new_source: "x" }],
    ["Write", "Write", { file_path: "dangling", content: "x" }],
    ["WebFetch", "WebFetch", { url: "https://example.com", prompt: "x" }],
    ["WebSearch", "WebSearch", { query: "x" }],
    ["Agent", "Agent", { description: "x", prompt: "y", isolation: "worktree" }],
    ["mcp__github__get_issue", "mcp__github__get_issue", { id: 1 }],
    ["mcp__github", "mcp__github__get_issue", {}],
    ["mcp__github__*", "mcp__github__get_issue", {}],
    ["mcp__github__get_*", "mcp__github__get_issue", {}],
    ["TaskUpdate", "TaskUpdate", { taskId: "1", owner: "x" }],
  ])("%s covers %s %j in default", (allowed, tool, input) => {
    expect(covers(allowed, tool, input)).toBe(true);
    expect(covers([], tool, input)).toBe(false);
  });

  test.each<[string, string, JsonObject]>([
    ["bash", "Bash", { command: "ls" }],
    ["BASH", "Bash", { command: "ls" }],
    ["Bash ", "Bash", { command: "ls" }],
    [" Bash", "Bash", { command: "ls" }],
    ["Bash\n", "Bash", { command: "ls" }],
    ["Bash()", "Bash", { command: "ls" }],
    ["Bash(", "Bash", { command: "ls" }],
    ["B\u0430sh", "Bash", { command: "ls" }],
    ["*", "Bash", { command: "ls" }],
    ["B*", "Bash", { command: "ls" }],
    ["Bash*", "Bash", { command: "ls" }],
    ["Bash,Read", "Bash", { command: "ls" }],
    ["Bash", "BashOutput", {}],
    ["Bash", "PowerShell", { command: "ls" }],
    ["Bash", "Monitor", { command: "ls" }],
    ["Read", "Read", { file_path: "@/data/operator-token" }],
    ["Read", "Read", { file_path: "link-token" }],
    ["Read", "Read", { file_path: "hard-token" }],
    ["Read", "Read", { file_path: "nest/vault/key" }],
    ["Read", "Read", { file_path: "/proc/self/environ" }],
    ["Read", "Read", { file_path: "~/x" }],
    ["Read", "Read", { path: "a.txt" }],
    ["Read", "Write", { file_path: "a.txt", content: "x" }],
    ["Grep", "Grep", { pattern: "x", path: "@/data" }],
    ["Grep", "Grep", { pattern: "x", path: "/" }],
    ["Grep", "Grep", { pattern: "x" }],
    ["Glob", "Glob", { pattern: "@/data/*" }],
    ["Write", "Edit", { file_path: "a.txt", ...EDIT }],
    ["Edit", "Edit", { file_path: "@/person/.claude/settings.json", ...EDIT }],
    ["Edit", "Write", { file_path: "@/data/new", content: "x" }],
    ["Edit", "Write", { file_path: "not-yet", content: "x" }],
    ["Edit", "Write", { file_path: "not-yet/deeper", content: "x" }],
    ["mcp__*", "mcp__github__get_issue", {}],
    ["mcp__", "mcp__github__get_issue", {}],
    ["mcp__git", "mcp__github__get_issue", {}],
    ["mcp__git*", "mcp__github__get_issue", {}],
    ["mcp__github", "mcp__github__evil__tool", {}],
    ["mcp__github__*", "mcp__github__evil__tool", {}],
    ["mcp__github__get_*", "mcp__github__delete", {}],
    ["mcp__github__evil", "mcp__github__evil__tool", {}],
    ["mcp__github__get", "mcp__github__get_issue", {}],
    ["mcp__github(x)", "mcp__github__get_issue", {}],
    ["mcp__GitHub", "mcp__github__get_issue", {}],
  ])("%j does not cover %s %j", (allowed, tool, input) => {
    expect(covers(allowed, tool, input)).toBe(false);
  });
});

describe("a pattern for Bash", () => {
  test.each<[string | string[], string]>([
    ["Bash(npm test)", "npm test"],
    ["Bash(npm test)", "npm  test"],
    ["Bash(npm test)", "npm 'test'"],
    ["Bash(npm run *)", "npm run lint"],
    ["Bash(npm run *)", "npm run"],
    ["Bash(npm run:*)", "npm run lint -- --fix"],
    ["Bash(npm:*)", "npm test"],
    ["Bash(npm *)", "npm test && npm run lint"],
    [["Bash(npm test)", "Bash(npm run lint)"], "npm test; npm run lint"],
    ["Bash(npm test)", "npm test 2>&1 | tail -20"],
    ["Bash(npm test)", "npm test 2>&1 | grep -v ok | head -5"],
    ["Bash(npm test)", "cd @/project/src && npm test"],
    ["Bash(npm test)", "ls src && npm test"],
    ["Bash(npm test)", "npm test || echo failed"],
    ["Bash(npm test)", "cat a.txt"],
    ["Bash(git commit *)", "git commit -m 'a b'"],
    ["Bash(rm -rf build)", "rm -rf build"],
    ["Bash(python3 scripts/x.py)", "python3 scripts/x.py"],
    ["Bash(timeout 5 npm test)", "timeout 5 npm test"],
    ["Bash(./scripts/check.sh *)", "./scripts/check.sh --all"],
    ["Bash(touch *)", "touch new.txt"],
    ["Bash(git push)", "git push"],
  ])("%j covers %j", (allowed, command) => {
    expect(runs(allowed, command)).toBe(true);
    expect(runs(allowed, command, tree.strict)).toBe(false);
  });

  test.each<[string | string[], string]>([
    ["Bash(npm test)", "npm test x"],
    ["Bash(npm test)", "npm testing"],
    ["Bash(npm test)", "npm"],
    ["Bash(npm test)", "NPM test"],
    ["Bash(npm test)", "'npm' test"],
    ["Bash(npm test)", "\\npm test"],
    ["Bash(npm test)", "npm test && rm x"],
    ["Bash(npm test)", "npm test; curl example.com"],
    ["Bash(npm test)", "npm test | sh"],
    ["Bash(npm test)", "npm test || rm x"],
    ["Bash(npm test)", "npm test\nrm x"],
    ["Bash(npm test)", "npm test & rm x"],
    ["Bash(npm test)", "npm test &"],
    ["Bash(npm test)", "npm test > out"],
    ["Bash(npm test)", "npm test $(id)"],
    ["Bash(npm test)", "npm test `id`"],
    ["Bash(npm test)", "X=1 npm test"],
    ["Bash(npm test)", "(npm test)"],
    ["Bash(npm test)", "npm test # x"],
    ["Bash(npm test)", "npm test\r"],
    ["Bash(npm test)", "npm test\u00a0"],
    ["Bash(npm run *)", "npm run $X"],
    ["Bash(npm run *)", "npm run *"],
    ["Bash(npm run *)", "npm run lint > out"],
    ["Bash(npm run *)", "npm runx"],
    ["Bash(npm run:*)", "npm runx"],
    ["Bash(npm run:*)", "npm run-script x"],
    ["Bash(npm run *)", "npm run x --script-shell=evil"],
    ["Bash(npm run *)", "npm run x --prefix /tmp/evil"],
    ["Bash(npm *)", "npm exec evil"],
    ["Bash(npm *)", "npm publish"],
    ["Bash(n*)", "npm test"],
    ["Bash(npm t*)", "npm test"],
    ["Bash(npm * x)", "npm run x"],
    ["Bash(npm run\\ *)", "npm run x"],
    ["Bash(npm test && rm x)", "npm test && rm x"],
    ["Bash(npm test > out)", "npm test > out"],
    ["Bash(npm test && rm x)", "npm test"],
    ["Bash(npm test > /dev/null)", "npm test"],
    ["Bash( *)", "npm test"],
    ["Bash(npm test", "npm test"],
    ["Bash(rm *)", "rm -rf build"],
    ["Bash(rm *)", "rm /opt/x"],
    ["Bash(rm *)", "rm /etc/passwd"],
    ["Bash(touch *)", "touch /etc/x"],
    ["Bash(git *)", "git push --force"],
    ["Bash(git *)", "git reset --hard"],
    ["Bash(git *)", "git -c core.pager=sh log"],
    ["Bash(git *)", "git -ccore.pager=sh log"],
    ["Bash(git *)", "git config core.hooksPath x"],
    ["Bash(git diff *)", "git diff --output=x"],
    ["Bash(git diff *)", "git diff --ext-diff"],
    ["Bash(git grep *)", "git grep -Osh x"],
    ["Bash(bash *)", "bash -c id"],
    ["Bash(sh *)", "sh x.sh"],
    ["Bash(/bin/sh *)", "/bin/sh x.sh"],
    ["Bash(python3 *)", "python3 -c 'x'"],
    ["Bash(python3 *)", "python3"],
    ["Bash(python3.12 *)", "python3.12 x.py"],
    ["Bash(node *)", "node x.js"],
    ["Bash(perl *)", "perl -e 1"],
    ["Bash(awk *)", "awk 1 a.txt"],
    ["Bash(sed *)", "sed -i s/a/b/ a.txt"],
    ["Bash(env *)", "env rm x"],
    ["Bash(xargs *)", "cat a.txt | xargs rm"],
    ["Bash(sudo *)", "sudo ls"],
    ["Bash(timeout *)", "timeout 5 rm x"],
    ["Bash(time *)", "time ls"],
    ["Bash(nohup *)", "nohup x"],
    ["Bash(command *)", "command rm x"],
    ["Bash(npx *)", "npx evil"],
    ["Bash(find *)", "find . -exec id {} +"],
    ["Bash(find *)", "find . -delete"],
    ["Bash(ssh *)", "ssh host"],
    ["Bash(docker *)", "docker run x"],
    ["Bash(make *)", "make SHELL=evil"],
    ["Bash(tar *)", "tar --to-command=sh -xf x"],
    ["Bash(cd *)", "cd @/outside && cat secret.txt"],
    ["Bash(cd *)", "cd /"],
    ["Bash(cd *)", "echo x | cd ./src"],
    ["Bash(pushd *)", "pushd ./src"],
    ["Bash(cat *)", "cat @/data/operator-token"],
    ["Bash(cat *)", "cat link-token"],
    ["Bash(cat *)", "cat nest/vault/key"],
    ["Bash(cp *)", "cp -r nest copy"],
    ["Bash(tar *)", "tar cf x.tar --directory=@/data ."],
    ["Bash(cat @/data/operator-token)", "cat @/data/operator-token"],
    ["Bash(ln *)", "ln -sfn ../outside src && cat src/x.ts"],
    ["Bash(ln *)", "ln -sfn ../outside src && ls src"],
    ["Bash(ln *)", "cat src/x.ts | ln -sfn ../outside src"],
    ["Bash(ln *)", "ln -sfn ../outside src && cd ./src && ls"],
    ["Bash(npm test)", "cd ./src; npm test"],
    ["Bash(npm test)", "cd src && npm test"],
    ["Read", "cat a.txt"],
    [[], "cat a.txt"],
  ])("%j does not cover %j", (allowed, command) => {
    expect(runs(allowed, command)).toBe(false);
  });

  test.each(
    [
      "sh bash zsh dash ksh mksh ash fish csh tcsh busybox toybox pwsh powershell eval source . exec command builtin",
      "noglob nocorrect trap env xargs sudo doas su pkexec runuser timeout nohup nice ionice chrt taskset setsid stdbuf",
      "unbuffer time watch flock chroot unshare nsenter parallel strace ltrace gdb lldb valgrind script expect entr ssh",
      "scp rsync osascript at batch systemd-run npx bunx pnpx uvx pipx nix-shell docker podman kubectl crontab find fd",
      "fdfind python python3 pypy node nodejs deno bun tsx ts-node perl ruby irb php lua luajit tclsh wish awk gawk mawk",
      "nawk sed ed ex vi vim nvim emacs Rscript R julia java jshell scala groovy ghci runghc elixir erl sqlite3 psql mysql",
    ].flatMap((names) => names.split(" ")),
  )("with a wildcard does not cover %s, which runs whatever it is told to", (program) => {
    expect(runs(`Bash(${program} *)`, `${program} x`)).toBe(false);
    expect(runs(`Bash(/usr/bin/${program} *)`, `/usr/bin/${program} x`)).toBe(false);
  });

  test.each([
    [
      "npm",
      "exec|x|-C/tmp|explore|config|set|publish|--script-shell=x|--prefix|--node-options=x|--userconfig|--globalconfig",
    ],
    ["pnpm", "exec|dlx|config|publish"],
    ["yarn", "exec|dlx|config|publish|npm"],
    [
      "git",
      "-c|-C|--exec-path=x|--config-env=x|--git-dir=x|--work-tree=x|config|submodule|bisect|filter-branch|rebase",
    ],
    ["git", "difftool|mergetool|--upload-pack=x|--receive-pack=x|--ext-diff|--textconv|--exec=x|-x|--output=x|-Ox"],
    ["git", "--open-files-in-pager=x"],
    ["make", "SHELL=x|-fx|-kf|-C|-I.|-E|--eval=x|--file=x|--makefile=x|--directory=x|--include-dir=x"],
    ["cargo", "--config=x|--conf|-Zx|-C"],
    [
      "tar",
      "--to-command=x|--to=x|--checkpoint-action=x|--ch|--use-compress-program=x|--use=x|-I|xIf|-F|--rsh-command=x",
    ],
    ["tar", "--rsh|--info-script=x|--info|--new-volume-script=x|--new"],
    ["sort", "--compress-program=x|--c|--output=x|--o|--files0-from=x|-ox|-ro|-T."],
    ["rg", "--pre=x|--pre|--hostname-bin=x"],
    ["go", "run|generate|tool|-exec=x|--exec|-toolexec=x|-overlay=x"],
  ])("with a wildcard covers no %s that is told what to run: %s", (program, words) => {
    expect(runs(`Bash(${program} *)`, `${program} harmless`)).toBe(true);
    const covered = words.split("|").filter((word) => runs(`Bash(${program} *)`, `${program} harmless ${word}`));
    expect(covered).toEqual([]);
  });

  test.each<JsonObject>([{ run_in_background: true }, { dangerouslyDisableSandbox: true }, { cwd: "/" }])(
    "does not cover a call that also says %j",
    (extra) => {
      expect(covers("Bash(npm test)", "Bash", { command: "npm test", ...extra })).toBe(false);
    },
  );
});

describe("a pattern for files", () => {
  test.each<[string, string, JsonObject]>([
    ["Edit(./src/**)", "Edit", { file_path: "src/x.ts", ...EDIT }],
    ["Edit(./src/**)", "Write", { file_path: "@/project/src/new/deep/file.ts", content: "x" }],
    ["Edit(/src/**)", "MultiEdit", { file_path: "src/deep/z.ts", edits: [] }],
    ["Edit(src/**)", "NotebookEdit", { notebook_path: "src/n.ipynb", new_source: "x" }],
    ["Edit(src/*.ts)", "Edit", { file_path: "src/x.ts", ...EDIT }],
    ["Edit(src/?.ts)", "Edit", { file_path: "src/x.ts", ...EDIT }],
    ["Edit(**/*.ts)", "Edit", { file_path: "src/deep/z.ts", ...EDIT }],
    ["Edit(*.ts)", "Edit", { file_path: "src/deep/z.ts", ...EDIT }],
    ["Edit(a.txt)", "Edit", { file_path: "a.txt", ...EDIT }],
    ["Edit(./src/**)", "Edit", { file_path: "link-in/x.ts", ...EDIT }],
    ["Edit(.git/config)", "Edit", { file_path: ".git/config", ...EDIT }],
    ["Edit(.git/**)", "Edit", { file_path: ".git/config", ...EDIT }],
    ["Write(./docs/**)", "Write", { file_path: "docs/new.md", content: "x" }],
    ["Edit(/@/outside/**)", "Write", { file_path: "dangling", content: "x" }],
    ["Read(~/notes/**)", "Read", { file_path: "@/person/notes/n.md" }],
    ["Read(/@/outside/**)", "Read", { file_path: "@/outside/secret.txt" }],
  ])("%s covers %s %j", (allowed, tool, input) => {
    expect(covers(allowed, tool, input)).toBe(true);
    expect(covers(allowed, tool, input, tree.strict)).toBe(tool === "Read");
  });

  test.each<[string, string, JsonObject]>([
    ["Edit(./src/**)", "Edit", { file_path: "a.txt", ...EDIT }],
    ["Edit(./src/**)", "Edit", { file_path: "src/up/secret.txt", ...EDIT }],
    ["Edit(./src/**)", "Write", { file_path: "src/up/new.txt", content: "x" }],
    ["Edit(./src/**)", "Write", { file_path: "src/../a.txt", content: "x" }],
    ["Edit(./src/**)", "Write", { file_path: "src/new/../../a.txt", content: "x" }],
    ["Edit(./src/**)", "Write", { file_path: "srcx/a.txt", content: "x" }],
    ["Edit(./src/**)", "Write", { file_path: "src", content: "x" }],
    ["Edit(./src/**)", "Read", { file_path: "src/x.ts" }],
    ["Edit(./src/*)", "Edit", { file_path: "src/deep/z.ts", ...EDIT }],
    ["Edit(./src/?)", "Edit", { file_path: "src/x.ts", ...EDIT }],
    ["Edit(./src/x?ts)", "Edit", { file_path: "src/x/ts", ...EDIT }],
    ["Edit(./link-out/**)", "Edit", { file_path: "link-out/secret.txt", ...EDIT }],
    ["Edit(**)", "Edit", { file_path: "link-out/secret.txt", ...EDIT }],
    ["Edit(**)", "Write", { file_path: "dangling", content: "x" }],
    ["Edit(**)", "Write", { file_path: "detour", content: "x" }],
    ["Edit(**)", "Write", { file_path: "loop", content: "x" }],
    ["Edit(**)", "Write", { file_path: ".GIT/hooks/pre-commit", content: "x" }],
    ["Edit(**)", "Write", { file_path: "Not-Yet/x", content: "x" }],
    ["Edit(**)", "Edit", { file_path: "nest/vault/key", ...EDIT }],
    ["Edit(nest/vault/key)", "Edit", { file_path: "nest/vault/key", ...EDIT }],
    ["Edit(**)", "Edit", { file_path: "hard-token", ...EDIT }],
    ["Edit(**)", "Write", { file_path: "not-yet/x", content: "x" }],
    ["Edit(**)", "Edit", { file_path: ".git/config", ...EDIT }],
    ["Edit(**)", "Write", { file_path: ".git/hooks/pre-commit", content: "x" }],
    ["Edit(**)", "Write", { file_path: "src/.git/hooks/pre-commit", content: "x" }],
    ["Edit(**)", "Write", { file_path: ".claude/settings.json", content: "x" }],
    ["Edit(**)", "Write", { file_path: "CLAUDE.md", content: "x" }],
    ["Edit(*.json)", "Write", { file_path: ".mcp.json", content: "x" }],
    ["Edit(?git/**)", "Write", { file_path: ".git/x", content: "x" }],
    ["Edit(**/../**)", "Edit", { file_path: "a.txt", ...EDIT }],
    ["Edit(./src/../**)", "Edit", { file_path: "a.txt", ...EDIT }],
    ["Edit([ab]*)", "Edit", { file_path: "a.txt", ...EDIT }],
    ["Edit(a.t*)", "Write", { file_path: "axtxt", content: "x" }],
    ["Edit([*)", "Write", { file_path: "[x", content: "x" }],
    ["Edit(a.txt?)", "Edit", { file_path: "a.txt", ...EDIT }],
    ["Edit([a].txt)", "Edit", { file_path: "a.txt", ...EDIT }],
    ["Edit({a,b}.txt)", "Edit", { file_path: "a.txt", ...EDIT }],
    ["Edit(!a.txt)", "Edit", { file_path: "b.txt", ...EDIT }],
    ["Edit(a**t)", "Edit", { file_path: "a.txt", ...EDIT }],
    ["Edit(**/**/**/*)", "Edit", { file_path: "a.txt", ...EDIT }],
    ["Edit( a.txt)", "Edit", { file_path: "a.txt", ...EDIT }],
    ["Edit(a.txt )", "Edit", { file_path: "a.txt", ...EDIT }],
    ["Edit(src/)", "Edit", { file_path: "src/x.ts", ...EDIT }],
    ["Edit(A.txt)", "Edit", { file_path: "a.txt", ...EDIT }],
    ["Edit(axtxt)", "Edit", { file_path: "a.txt", ...EDIT }],
    ["Edit(./src/**)", "Edit", { file_path: "src/x.ts", ...EDIT, force: true }],
    ["Edit(./src/**)", "Edit", { file_path: "~/src/x.ts", ...EDIT }],
    ["Edit(fifo)", "Write", { file_path: "fifo", content: "x" }],
    ["Write(./src/**)", "Edit", { file_path: "src/x.ts", ...EDIT }],
    ["Read(~/**)", "Read", { file_path: "@/person/.claude/settings.json" }],
    ["Read(~/notes/**)", "Read", { file_path: "~/notes/n.md" }],
    ["Read(~/notes/**)", "Read", { file_path: "@/person/notes/none.md" }],
    ["Read(~/notes/**)", "Grep", { pattern: "x", path: "@/person/notes" }],
    ["Read(//**)", "Read", { file_path: "/proc/self/environ" }],
    ["Read(/@/data/**)", "Read", { file_path: "@/data/operator-token" }],
  ])("%s does not cover %s %j", (allowed, tool, input) => {
    expect(covers(allowed, tool, input)).toBe(false);
  });
});

describe("a pattern for WebFetch", () => {
  test.each<[string, string]>([
    ["WebFetch(domain:docs.rs)", "https://docs.rs/zod"],
    ["WebFetch(domain:docs.rs)", "http://DOCS.rs"],
    ["WebFetch(domain:docs.rs)", "https://docs.rs:443/x"],
    ["WebFetch(domain:*.example.com)", "https://a.b.example.com/?q=1#x"],
  ])("%s covers %s", (allowed, url) => {
    expect(covers(allowed, "WebFetch", { url, prompt: "x" })).toBe(true);
    expect(covers(allowed, "WebFetch", { url, prompt: "x" }, tree.strict)).toBe(false);
  });

  test.each<[string, string]>([
    ["WebFetch(domain:docs.rs)", "https://evil-docs.rs"],
    ["WebFetch(domain:docs.rs)", "https://docs.rs.evil.com"],
    ["WebFetch(domain:docs.rs)", "https://a.docs.rs"],
    ["WebFetch(domain:docs.rs)", "https://docs.rs@evil.com"],
    ["WebFetch(domain:docs.rs)", "https://user:pw@docs.rs"],
    ["WebFetch(domain:docs.rs)", "https://evil.com/docs.rs"],
    ["WebFetch(domain:docs.rs)", "https://evil.com#docs.rs"],
    ["WebFetch(domain:docs.rs)", "https://evil.com\\@docs.rs"],
    ["WebFetch(domain:docs.rs)", "https://docs.rs:8080"],
    ["WebFetch(domain:docs.rs)", "https://docs.rs."],
    ["WebFetch(domain:docs.rs)", "ftp://docs.rs"],
    ["WebFetch(domain:docs.rs)", "file:///etc/passwd"],
    ["WebFetch(domain:docs.rs)", "docs.rs"],
    ["WebFetch(domain:docs.rs)", " https://docs.rs"],
    ["WebFetch(domain:docs.rs)", "https://docs.rs\n"],
    ["WebFetch(domain:docs.rs)", "https://d\u043ecs.rs"],
    ["WebFetch(domain:*.example.com)", "https://example.com"],
    ["WebFetch(domain:*.example.com)", "https://evilexample.com"],
    ["WebFetch(domain:*)", "https://docs.rs"],
    ["WebFetch(domain:*.com)", "https://docs.rs"],
    ["WebFetch(docs.rs)", "https://docs.rs"],
    ["WebFetch(domain:docs.rs,evil.com)", "https://evil.com"],
    ["WebFetch(domain: docs.rs)", "https://docs.rs"],
  ])("%s does not cover %j", (allowed, url) => {
    expect(covers(allowed, "WebFetch", { url, prompt: "x" })).toBe(false);
  });
});

test.each<[string, JsonObject]>([
  ["Bash", { command: "ls" }],
  ["PowerShell", { command: "ls" }],
  ["Monitor", { command: "ls" }],
  ["REPL", {}],
  ["Edit", { file_path: "a.txt", ...EDIT }],
  ["Write", { file_path: "a.txt", content: "x" }],
  ["MultiEdit", { file_path: "a.txt", edits: [] }],
  ["NotebookEdit", { notebook_path: "a.ipynb", new_source: "x" }],
  ["WebFetch", { url: "https://docs.rs", prompt: "x" }],
  ["WebSearch", { query: "x" }],
  ["mcp__github__get_issue", {}],
  ["Workflow", {}],
  ["CronCreate", {}],
  ["RemoteTrigger", {}],
  ["Artifact", {}],
  ["EnterWorktree", {}],
  ["Skill", { skill: "x" }],
  ["Agent", { description: "x", prompt: "y" }],
  ["SendMessage", {}],
  ["SomethingNew", {}],
])("in strict nothing covers %s", (tool, input) => {
  expect(covers(tool, tool, input)).toBe(true);
  expect(covers([tool, `${tool}(*)`], tool, input, tree.strict)).toBe(false);
});

test("in strict allowed_tools cover reading and bookkeeping", () => {
  expect(covers("Read", "Read", { file_path: "@/outside/secret.txt" }, tree.strict)).toBe(true);
  expect(covers("Grep", "Grep", { pattern: "x", path: "@/outside" }, tree.strict)).toBe(true);
  expect(covers("TaskUpdate", "TaskUpdate", { taskId: "1", owner: "x" }, tree.strict)).toBe(true);
});

test("a star in the name of the working directory is no wildcard", () => {
  const place = { ...tree.place, workingDir: join(tree.root, "st*r") };
  const other = join(tree.root, "stair/x.ts");
  mkdirSync(place.workingDir);
  expect(covers("Edit(**)", "Write", { file_path: "x.ts", content: "x" }, place)).toBe(true);
  expect(covers("Edit(**)", "Write", { file_path: other, content: "x" }, place)).toBe(false);
});

test("a pattern that is made to take long takes no time", () => {
  const before = process.cpuUsage();
  const file_path = `${"a".repeat(200)}/`.repeat(18);
  covers(`Edit(**/${"*a".repeat(400)}b/**)`, "Write", { file_path, content: "x" });
  expect(process.cpuUsage(before).user / 1_000).toBeLessThan(500);
});

test("nothing is covered by a path in a place that is not there", () => {
  const place = { ...tree.place, workingDir: join(tree.root, "gone") };
  expect(covers("Read", "Read", { file_path: "@/project/a.txt" }, place)).toBe(false);
  expect(covers("Edit(**)", "Edit", { file_path: "@/project/a.txt", ...EDIT }, place)).toBe(false);
});
