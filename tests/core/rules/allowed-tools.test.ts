import { afterAll, describe, expect, test } from "bun:test";
import { mkdirSync } from "node:fs";
import { join } from "node:path";
import type { JsonObject } from "../../../src/contract/values.ts";
import { isCoveredBy } from "../../../src/core/rules/allowed-tools/allowed-tools.ts";
import { plantTree } from "./tree.ts";

const tree = await plantTree();
afterAll(() => tree[Symbol.asyncDispose]());

const planted = (text: string) => text.replaceAll("@/", `${tree.root}/`);
const covers = (allowed: string | string[], toolName: string, input: JsonObject, child = tree.child) =>
  isCoveredBy([allowed].flat().map(planted), { toolName, input: JSON.parse(planted(JSON.stringify(input))) }, child);
const runs = (allowed: string | string[], command: string, child = tree.child) =>
  covers(allowed, "Bash", { command }, child);

const EDIT = { old_string: "a", new_string: "b" };
const LONG = "long".repeat(50);

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
    ["mcp__github___get_issue", "mcp__github___get_issue", {}],
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
    ["Edit", "Write", { file_path: "not-yet.backup", content: "x" }],
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
    ["mcp__github", "mcp__github___get_issue", {}],
    ["mcp__github__*", "mcp__github___get_issue", {}],
    ["mcp__github__get_*", "mcp__github__get___issue", {}],
    ["mcp__github_", "mcp__github___get_issue", {}],
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
    ["Bash(npm test)", "cd @/project && npm test"],
    ["Bash(npm test)", "cd @/project/src && cd @/project && npm test"],
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
    ["Bash(git push ./src)", "git push ./src"],
    ["Bash(git *)", "git add src/x.ts .github/workflows/ci.yml && git commit -m 'fix(x): a/b, or c'"],
    ["Bash(git *)", "git --no-pager diff 'HEAD~1' -- src"],
    ["Bash(git *)", "git switch -c topic && git push -u origin topic"],
    ["Bash(git *)", "git log --oneline main..topic/x"],
    ["Bash(git worktree *)", "git worktree list"],
    ["Bash(git commit *)", `git commit -m '${"long ".repeat(80)}'`],
    [`Bash(git commit -m '${"long ".repeat(80)}')`, `git commit -m '${"long ".repeat(80)}'`],
    ["Bash(npm install *)", `npm install ${"long".repeat(80)}`],
    ["Bash(make *)", "make -j4 test"],
    ["Bash(cargo test *)", "cargo test --release parser"],
    ["Bash(pytest *)", "pytest -q src/deep"],
    ["Bash(ls *)", "ls -la src"],
    ["Bash(mvn *)", "mvn -q test -DskipTests=false"],
    ["Bash(gradle *)", "gradle build -x test --build-cache"],
    ["Bash(cp *)", "cp a.txt copy.txt"],
    ["Bash(tee *)", "echo x | tee link-in/new.ts"],
    ["Bash(tar *)", "tar czf out.tgz src"],
    ["Bash(tool *)", "tool https://example.com/a /dev/null"],
    ["Bash(tool ../x *)", "tool ../x src"],
    ["Bash(tool src/../a.txt)", "tool src/../a.txt"],
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
    ["Bash(cat link-token)", "cat link-token"],
    ["Bash(cat link-proc)", "cat link-proc"],
    ["Bash(cat loop)", "cat loop"],
    ["Bash(ln *)", "ln -sfn ../outside src && cat src/x.ts"],
    ["Bash(ln *)", "ln -sfn ../outside src && ls src"],
    ["Bash(ln *)", "cat src/x.ts | ln -sfn ../outside src"],
    ["Bash(ln *)", "ln -sfn ../outside src && cd ./src && ls"],
    ["Bash(npm test)", "cd ./src; npm test"],
    ["Bash(npm test)", "cd ./src && npm test"],
    ["Bash(git status)", "cd ./src && git status"],
    ["Bash(make *)", "cd ./src && make test"],
    ["Bash(./scripts/check.sh *)", "cd @/added && ./scripts/check.sh"],
    ["Bash(npm test)", "cd ./src && ls | npm test"],
    ["Bash(cat *)", "cd ./src && cat x.ts | cat - ../src/../../data/operator-token"],
    ["Bash(cat *)", "cat - src/../../data/operator-token"],
    ["Bash(cat *)", "cat @/project/../data/operator-token"],
    ["Bash(cat *)", "cat ../outside/secret.txt"],
    ["Bash(tool *)", "tool '~person/x'"],
    ["Bash(tool *)", "tool --file='~person'"],
    ["Bash(tool *)", "tool src/../a.txt"],
    ["Bash(tool *)", "tool @/project/src/.."],
    ["Bash(tool *)", `tool ${"x".repeat(300)}/../../data`],
    ["Bash(tool *)", "tool nest"],
    ["Bash(git *)", "git"],
    ["Bash(cat *)", "cat link-proc"],
    ["Bash(cat *)", "cat link-file"],
    ["Bash(cat *)", "cat 'a.txt '"],
    ["Bash(cat *)", "cat loop"],
    ["Bash(cat *)", "cat /proc/self/environ"],
    ["Bash(tool *)", "tool -f@/data/operator-token"],
    ["Bash(tool *)", "tool -vf@/data/operator-token"],
    ["Bash(tool *)", "tool -vflink-token"],
    ["Bash(tool *)", "tool --file=link-token"],
    ["Bash(tool *)", "tool src:link-token"],
    ["Bash(tool *)", "tool x@link-token"],
    ["Bash(tool *)", "tool a.txt,link-token"],
    ["Bash(tool *)", "tool 'concat:a.txt|link-token'"],
    ["Bash(tool *)", "tool 'x=<link-token'"],
    ["Bash(tool *)", "tool 'x= link-token'"],
    ["Bash(tool *)", "tool x=-flink-token"],
    ["Bash(tool x=link-token)", "tool x=link-token"],
    ["Bash(grep *)", "grep -R CANARY linked"],
    ["Bash(grep *)", "grep -nR CANARY linked"],
    ["Bash(grep *)", "grep --dereference-rec CANARY linked"],
    ["Bash(cp *)", "cp -rL linked copy"],
    ["Bash(cp *)", "cp a.txt linked"],
    ["Bash(cp *)", "cp -t linked a.txt"],
    ["Bash(cp *)", "cp a.txt to-hooks/post-checkout"],
    ["Bash(cp *)", "cp a.txt to-profile"],
    ["Bash(cp *)", "cp a.txt link-out/new.txt"],
    ["Bash(cp *)", "cp a.txt link-cwd"],
    ["Bash(tee *)", "echo x | tee to-hooks/pre-commit"],
    ["Bash(tee *)", "echo x | tee dangling"],
    ["Bash(git *)", "git mv a.txt to-hooks/pre-commit"],
    ["Bash(git *)", "git rm to-hooks/pre-commit"],
    ["Bash(tool *)", "tool -i .github/workflows/ci.yml"],
    ["Bash(tool *)", "tool --file=.npmrc"],
    ["Bash(git *)", "git push ./src HEAD"],
    ["Bash(git *)", "git --no-pager push ./src"],
    ["Bash(git push *)", "git push file://@/project/src HEAD"],
    ["Bash(git *)", "git fetch src"],
    ["Bash(/usr/bin/git *)", "/usr/bin/git fetch src"],
    ["Bash(git *)", "git pull link-in"],
    ["Bash(npm *)", "npm install ./src"],
    ["Bash(npm *)", "npm i src"],
    ["Bash(pnpm *)", "pnpm add ./src"],
    ["Bash(yarn *)", "yarn add file:src"],
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
      "prlimit choom run-parts setarch linux64 dbus-run-session ld-linux-x86-64.so.2 ld-musl-x86_64.so.1 ld.so cmake gcc",
      "gcc-12 g++ cc c++ clang clang-17 uv poetry bundle mise ip setpriv gosu su-exec fakeroot caffeinate rlwrap xvfb-run",
      "ssh-agent watchexec cross-env pipenv conda direnv man 7z 7za 7zr pax less more ldd dotnet docker-compose busctl",
      "linux32 clang++ gtime",
    ].flatMap((names) => names.split(" ")),
  )("with a wildcard does not cover %s, which runs other programs", (program) => {
    expect(runs(`Bash(${program} *)`, `${program} x`)).toBe(false);
    expect(runs(`Bash(/usr/bin/${program} *)`, `/usr/bin/${program} x`)).toBe(false);
  });

  test.each([
    ["npm run", "--script-shell=x|--prefix|--node-options=x|--userconfig|--globalconfig|--editor=x|--viewer=x|--git=x"],
    ["npm run", "-C/tmp|--node-opt=x|--prefi=x|--userconf=x|--globalconf=x|-prefix=x|-node-opt=x|--node_options=x"],
    [
      "npm run",
      "--init-module=x|--local-prefix=x|--registry=x|--onload-script=x|--python=x|--nodedir=x|--shell=x|--script_sh=x",
    ],
    ["pnpm run", "-C|--dir=x|--config.script-shell=x|--node-opt=x"],
    ["yarn test", "--cwd=x|--use-yarnrc=x"],
    ["git status", "--upload-pack=x|--receive-pack=x|--receive-pac=x|--ext-diff|--textconv|--exec=x|--output=x|-Ox"],
    ["git status", "--open-files-in-pager=x|--ope=x|-nO|--git-dir=x|--work-tree=x"],
    [
      "make test",
      "SHELL=x|-fx|-kf|-j4f|-l2.5C|-C|-I.|-E|--eval=x|--file=x|--makefile=x|--directory=x|--include-dir=x|--fi=x",
    ],
    ["cargo test", "--config=x|--conf|-Zx|-C|--manifest-path=x|+x"],
    ["tar -cf x.tar", "--to-command=x|--to=x|--checkpoint-action=x|--ch=x|--use-compress-program=x|--use=x|-I|-F|-zh"],
    [
      "tar -cf x.tar",
      "--rsh-command=x|--rsh|--info-script=x|--info|--new-volume-script=x|--new|-h|--dereference|--deref",
    ],
    ["tar -cf x.tar", "-T|--files-from=x|--add-file=x|-P|--absolute-names"],
    ["gtar -cf x.tar", "-h"],
    ["bsdtar -cf x.tar", "-L|-h|--use-compress-program=x"],
    ["sort", "--compress-program=x|--c=x|--output=x|--o=x|--files0-from=x|-ox|-ro|-T."],
    ["rg x", "--pre=x|--pre|--hostname-bin=x|-L|--follow|-nL"],
    ["go test", "-exec=x|--exec|-toolexec=x|-overlay=x|-vettool=x|-C|-modfile=x"],
    ["zip x.zip a.txt", "-T|-TT|-TqTT|-qTT|--unzip-command=x|--unz=x|-r|-qR|--recurse-paths"],
    ["grep x", "-R|-nR|--dereference-recursive"],
    ["egrep x", "-R"],
    ["cp a.txt", "-L|-rL|--dereference|--der"],
    ["ls", "-L|-RL|--dereference"],
    ["du", "-L"],
    ["tree", "-l|-al"],
    ["diff a.txt", "-r|-ur|--recursive|--rec"],
    ["ag x", "-f|--follow"],
    ["fgrep x", "-R"],
    ["zgrep x", "-R"],
    ["chmod 644", "-L"],
    ["chown x", "-L"],
    ["chgrp x", "-L"],
    ["cpio", "-L"],
    ["ctags", "-R|--recurse|--options=x|-L"],
    ["just test", "-f|-d|-c|--justfile=x|--working-directory=x|--shell=x|--command|--edit"],
    ["gradle test", "-I|-b|-p|-c|--init-script=x|--build-file=x|--project-dir=x|--settings-file=x|--include-build=x"],
    [
      "mvn test",
      "-fx|-s|-t|-gs|--file=x|--settings=x|--global-settings=x|--toolchains=x|exec:exec|org.codehaus.mojo:exec-maven-plugin:x",
    ],
    ["tool", "--dereference|--dereference-args|--derefer|--pager=x|--page|--files-from=x|--files0-from=x"],
  ])("with a wildcard does not cover %s with options that run a program or follow links: %s", (start, words) => {
    const allowed = `Bash(${start.split(" ")[0]} *)`;
    expect(runs(allowed, `${start} harmless`)).toBe(true);
    expect(words.split("|").filter((word) => runs(allowed, `${start} ${word}`))).toEqual([]);
    expect(words.split("|").filter((word) => runs(`Bash(${start} *)`, `${start} ${word}`))).toEqual([]);
  });

  test.each([
    ["npm", "exec|x|explore|config|c|set|publish|create|init|edit"],
    ["pnpm", "exec|dlx|config|publish|tsx"],
    ["yarn", "exec|dlx|config|publish|npm|node"],
    ["git", "config|submodule|bisect|filter-branch|rebase|difftool|mergetool"],
    ["git", "-c|-cx|-C|--exec-path=x|--config-env=x|--git-dir=x|--work-tree=x|--no-optional-locks"],
    ["git", "remote-ext|daemon|maintenance|instaweb|send-pack|unknown"],
    ["go", "run|generate|tool"],
    ["tar", "xIf|cFf|czhf|cTf|xPf|cLf"],
    ["cargo", "+x"],
  ])("with a wildcard does not cover %s with first words that change what it does: %s", (program, words) => {
    expect(words.split("|").filter((word) => runs(`Bash(${program} *)`, `${program} ${word} status`))).toEqual([]);
  });

  test("with a wildcard does not cover a verb that runs other programs", () => {
    expect(runs("Bash(npm exec *)", "npm exec x")).toBe(false);
    expect(runs("Bash(git config *)", "git config x")).toBe(false);
    expect(runs("Bash(git -c x=y *)", "git -c x=y log")).toBe(false);
    expect(runs("Bash(git --no-optional-locks *)", "git --no-optional-locks -c x=y log")).toBe(false);
    expect(runs("Bash(go run *)", "go run x")).toBe(false);
  });

  test.each<JsonObject>([{ run_in_background: true }, { dangerouslyDisableSandbox: true }, { cwd: "/" }])(
    "does not cover a call that also has %j",
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
    ["Edit(.github/**)", "Write", { file_path: ".github/workflows/ci.yml", content: "x" }],
    ["Edit(.claude/**)", "Write", { file_path: ".claude/hooks/x", content: "x" }],
    ["Edit(.cargo/config.toml)", "Write", { file_path: ".cargo/config.toml", content: "x" }],
    ["Edit(**/AGENTS.md)", "Write", { file_path: "src/AGENTS.md", content: "x" }],
    ["Edit(.npmrc)", "Write", { file_path: "src/.npmrc", content: "x" }],
    ["Edit(~/.config/systemd/**)", "Write", { file_path: "@/person/.config/systemd/user/x.service", content: "x" }],
    [`Edit(./${`${LONG}/`.repeat(4)}x)`, "Write", { file_path: `${`${LONG}/`.repeat(4)}x`, content: "x" }],
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
    ["Edit(.cargo/**)", "Write", { file_path: ".cargo/config.toml", content: "x" }],
    ["Edit(.*)", "Write", { file_path: ".npmrc", content: "x" }],
    ["Edit(~/**)", "Write", { file_path: "@/person/.bash_login", content: "x" }],
    ["Edit(~/**)", "Write", { file_path: "@/person/.config/systemd/user/x.service", content: "x" }],
    ["Edit(~/.config/**)", "Write", { file_path: "@/person/.config/systemd/user/x.service", content: "x" }],
    ["Edit(//**)", "Write", { file_path: "/etc/profile.d/x.sh", content: "x" }],
    ["Edit(//etc/**)", "Write", { file_path: "/etc/cron.d/x", content: "x" }],
    ["Edit(.git/**)", "Write", { file_path: ".git/.git/x", content: "x" }],
    ["Edit(.idea/**)", "Write", { file_path: ".idea/.vscode/tasks.json", content: "x" }],
    ["Edit(.idea/**)", "Write", { file_path: ".idea/.gradle/init.d/x.gradle", content: "x" }],
    ["Edit(.idea/**)", "Write", { file_path: ".idea/x/.config/systemd/user/x.service", content: "x" }],
    ["Edit(in\u200bvisible.txt)", "Write", { file_path: "to-invisible", content: "x" }],
    [`Edit(./${`${LONG}/`.repeat(5)}x)`, "Write", { file_path: `${`${LONG}/`.repeat(5)}x`, content: "x" }],
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

test.each(
  [
    ".git/x .hg/hgrc .svn/x .claude/settings.json .mcp.json .vscode/tasks.json .vscode/x .idea/x .husky/pre-commit",
    ".githooks/x .gitmodules .gitattributes .gitconfig .envrc .bashrc .profile .zshrc .ssh/config CLAUDE.md AGENTS.md",
    "claude.local.md .npmrc .github/workflows/ci.yml .pre-commit-config.yaml .cargo/config.toml sitecustomize.py",
    ".bash_login .config/systemd/user/x.service .gitlab-ci.yml .devcontainer/devcontainer.json",
  ].flatMap((paths) => paths.split(" ")),
)("a wildcard for files does not cover %s in any directory", (path) => {
  for (const file_path of [path, `src/${path}`, path.toUpperCase()]) {
    expect(covers(["Edit(**)", "Edit(src/**)", "Edit(*)"], "Write", { file_path, content: "x" })).toBe(false);
  }
  expect(covers(`Edit(${path})`, "Write", { file_path: path, content: "x" })).toBe(true);
});

test("a wildcard does not cover a file that runs later because of the working directory's name", () => {
  const workingDir = join(tree.root, "person/.config");
  mkdirSync(workingDir, { recursive: true });
  const child = { ...tree.child, workingDir };
  expect(covers("Edit(**)", "Write", { file_path: "systemd/user/x.service", content: "x" }, child)).toBe(false);
  expect(covers("Edit(**)", "Write", { file_path: "app/x.json", content: "x" }, child)).toBe(true);
});

test("a wildcard covers the files of a working directory that itself runs later, but not further files that run later", () => {
  const workingDir = join(tree.root, "person/.config/nvim");
  mkdirSync(workingDir, { recursive: true });
  const child = { ...tree.child, workingDir };
  expect(covers("Edit(**)", "Write", { file_path: "lua/x.lua", content: "x" }, child)).toBe(true);
  expect(covers("Edit(**)", "Write", { file_path: "lua/.npmrc", content: "x" }, child)).toBe(false);
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

test("a star in the name of the working directory is not a wildcard", () => {
  const child = { ...tree.child, workingDir: join(tree.root, "st*r") };
  const other = join(tree.root, "stair/x.ts");
  mkdirSync(child.workingDir);
  expect(covers("Edit(**)", "Write", { file_path: "x.ts", content: "x" }, child)).toBe(true);
  expect(covers("Edit(**)", "Write", { file_path: other, content: "x" }, child)).toBe(false);
});

test("a pattern that is built to be slow is matched fast", () => {
  const before = process.cpuUsage();
  const file_path = `${"a".repeat(200)}/`.repeat(18);
  covers(`Edit(**/${"*a".repeat(400)}b/**)`, "Write", { file_path, content: "x" });
  expect(process.cpuUsage(before).user / 1_000).toBeLessThan(500);
});

test("a pattern does not cover too many words or directories", () => {
  const words = (count: number) => `tool ${"x ".repeat(count)}`;
  expect(runs("Bash(tool *)", words(500))).toBe(true);
  expect(runs("Bash(tool *)", words(501))).toBe(false);
  expect(runs("Bash(tool *)", `tool -${"x".repeat(20)}${"/x".repeat(1_000)}`)).toBe(true);
  expect(runs("Bash(tool *)", `tool -${"x".repeat(30)}${"/x".repeat(1_000)}`)).toBe(false);
  const file = (depth: number) => ({ file_path: `${"d/".repeat(depth)}x`, content: "x" });
  expect(covers("Edit(**)", "Write", file(100))).toBe(true);
  expect(covers("Edit(**)", "Write", file(200))).toBe(false);
});

test("a pattern covers no file when the working directory does not exist", () => {
  const child = { ...tree.child, workingDir: join(tree.root, "gone") };
  expect(covers("Read", "Read", { file_path: "@/project/a.txt" }, child)).toBe(false);
  expect(covers("Edit(**)", "Edit", { file_path: "@/project/a.txt", ...EDIT }, child)).toBe(false);
});
