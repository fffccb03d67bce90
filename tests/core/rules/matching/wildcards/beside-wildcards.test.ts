import { afterAll, describe, expect, test } from "bun:test";
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { plantTree } from "../../tree.ts";
import { judge, type Rules, type Verdict } from "../judge.ts";

const tree = await plantTree();
afterAll(() => tree[Symbol.asyncDispose]());

const { supervision: _, ...place } = tree.child;
mkdirSync(join(place.workingDir, "fixtures/bare.git"), { recursive: true });
writeFileSync(join(place.workingDir, "gitfile"), "gitdir: fixtures/bare.git\n");

/** Each line of a text is one command. */
type Row = [against: string, allow: string, commands: string];

const verdicts = ([against, allow, commands]: Row, rules: (match: string) => Rules) => {
  const decide = judge({ ...rules(against), allow: allow.split(", ") }, place);
  const lines = commands
    .split("\n")
    .map((line) => line.trim())
    .filter((line) => line !== "");
  return lines.map((command): [string, Verdict] => [command, decide("Bash", { command })]);
};
const denying = (match: string): Rules => ({ deny: [match] });
const asking = (match: string): Rules => ({ ask: [match] });
const otherThan = (wanted: Verdict, all: [string, Verdict][]) => all.filter(([, given]) => given !== wanted);

/** Commands that a deny rule certainly finds. */
const FOUND: Row[] = [
  [
    "Bash(git push)",
    "Bash(git *)",
    `git push
     git push origin
     git push --force
     git push -u origin main
     git -C x push origin
     git --no-pager push origin
     git -c alias.p=push p origin
     git -c alias.p='push origin' p
     git -c alias.q=p -c alias.p=push q
     git -c alias.p='!git push' p
     git -c 'ALIAS.P=!cd / && git push' p
     git send-pack origin
     git subtree push --prefix x origin y
     git-push origin
     /usr/lib/git-core/git-push origin
     $'git' push origin
     git {push,origin}
     command git push origin
     git push -- origin
     (git push origin)
     bash <<< 'git push origin'`,
  ],
  [
    "Bash(git push origin main)",
    "Bash(git *)",
    `git push origin main
     git push origin HEAD:main
     git push origin +main
     git push origin :main
     git push origin refs/heads/main
     git push origin x:refs/heads/main
     git push --force origin main`,
  ],
  [
    "Bash(npm install *)",
    "Bash(npm *)",
    `npm i
     npm i x
     npm add x
     npm in x
     npm isntall x
     npm instal x
     npm --silent i x
     npm i --save-dev x`,
  ],
  ["Bash(npm i left-pad)", "Bash(npm *)", "npm install left-pad\nnpm install x left-pad\nnpm i left-pad@1.0.0"],
  ["Bash(npm uninstall *)", "Bash(npm *)", "npm rm x\nnpm un x\nnpm r x\nnpm remove x\nnpm unlink x\nnpm uninst x"],
  ["Bash(npm publish)", "Bash(npm *)", "npm publ\nnpm pub --tag x\nnpm publish --access public"],
  [
    "Bash(npm test)",
    "Bash(npm *)",
    "npm t\nnpm tst\nnpm run test\nnpm run-script test\nnpm runScript test\nnpm urn test",
  ],
  ["Bash(npm run deploy)", "Bash(npm run *)", "npm run deploy x\nnpm run-script deploy\nnpm rum deploy -- x"],
  ["Bash(npm run *)", "Bash(npm *)", "npm run test\nnpm run-script x\nnpm urn x"],
  ["Bash(npx *)", "Bash(npm *)", "npm exec x\nnpm x x"],
  ["Bash(yarn run deploy)", "Bash(yarn *)", "yarn deploy\nyarn run deploy\nyarn deploy --prod\nyarnpkg deploy"],
  ["Bash(pnpm deploy)", "Bash(pnpm *)", "pnpm run deploy\npnpm -r deploy"],
  ["Bash(pnpm remove *)", "Bash(pnpm *)", "pnpm rm x\npnpm un x\npnpm uninstall x"],
  [
    "Bash(rm *)",
    "Bash(pnpm -r *), Bash(yarn *), Bash(pnpm --filter y *)",
    `pnpm -r exec rm victim
     pnpm --filter y exec rm x
     yarn --silent exec rm x
     yarn workspace y exec rm x
     npm -s exec rm x
     uv --quiet run rm x
     poetry -q run rm x
     docker --host x exec c rm x`,
  ],
  ["Bash(cargo run *)", "Bash(cargo *)", "cargo r\ncargo run --release"],
  ["Bash(docker rmi *)", "Bash(docker *)", "docker image rm x\ndocker image remove x\ndocker rmi -f x"],
  ["Bash(docker container rm *)", "Bash(docker *)", "docker rm x"],
  ["Bash(docker compose down *)", "Bash", "docker-compose down\ndocker compose down -v"],
  [
    "Bash(pip install *)",
    "Bash",
    "pip3 install x\npip3.12 install x\npython3 -m pip install x\npython -mpip install x",
  ],
  ["Bash(apt install *)", "Bash", "apt-get install x\napt-get -y install x"],
  [
    "Bash(make deploy)",
    "Bash(make *)",
    `make deploy
     make test deploy
     make deploy test
     make -j4 test deploy
     make test ./deploy
     make .//deploy
     gmake test deploy
     make deploy -- test
     make -s deploy`,
  ],
  ["Bash(just deploy)", "Bash(just *)", "just test deploy\njust ci::deploy"],
  ["Bash(ninja deploy)", "Bash(ninja *)", "ninja test deploy"],
  [
    "Bash(gradle deployProd)",
    "Bash(gradle *), Bash(./gradlew *)",
    "gradle test deployProd\n./gradlew test deployProd\ngradle :app:deployProd\ngradle depProd\ngradle dP\ngradle DEPLOYPROD\ngradle deploy-prod\ngradle deployp",
  ],
  ["Bash(mvn deploy)", "Bash(mvn *)", "mvn clean deploy\nmvn -q clean deploy\nmvn deploy:deploy"],
  ["Bash(npm-run-all deploy)", "Bash(npm-run-all *)", "npm-run-all test deploy\nnpm-run-all 'deploy -- --prod'"],
  ["Bash(turbo run deploy)", "Bash(turbo *)", "turbo run build deploy\nturbo deploy\nturbo run web#deploy"],
  ["Bash(curl -X POST *)", "Bash(curl *)", "curl -XPOST x\ncurl --request=POST x"],
  [
    "Edit(./docs/**)",
    "Bash",
    `tar -cf docs/x.tar a.txt
   mytool --out docs/readme.md
   mytool --out=docs/readme.md
   mytool -odocs/readme.md
   patch docs/readme.md
   curl -o docs/x x
   wget -O docs/x x
   find . -fprint docs/x
   truncate -s 0 docs/readme.md
   install a.txt docs/x
   git checkout -- docs/readme.md
   dd if=a.txt of=docs/x`,
  ],
];

/** Commands that a deny rule might match, so no wildcard may allow them. */
const SUSPECTED: Row[] = [
  [
    "Bash(git push)",
    "Bash",
    `mywrap git push
     mywrap git -C x push origin
     mywrap --verbose -- git push
     mywrap 'git push origin'
     mywrap --exec='git push'
     mywrap -c'git push'
     mywrap /usr/bin/git push
     mywrap "sh -c 'git push'"
     mywrap sh -c 'cd x; git push'
     mywrap GIT push
     npm run wrap -- git push
     npm run wrap git push
     npm test 'git push'
     yarn run wrap --x git push`,
  ],
  ["Bash(git push)", "Bash(mywrap *)", "mywrap git push\nmywrap 5 git push\nmywrap npm-x git push"],
  ["Bash(rm -rf *)", "Bash(mywrap *)", "mywrap rm -rf x\nmywrap rm x -r -f\nmywrap sudo rm -rf x"],
  ["Bash(tool deploy)", "Bash(tool *)", "tool build deploy\ntool --x y build deploy"],
  ["Bash(npm run deploy)", "Bash(npm run *)", "npm run test deploy"],
  ["Bash(curl -X POST *)", "Bash(curl *)", "curl https://x.example -X POST"],
  [
    "Edit(./docs/**)",
    "Bash",
    `prettier --write docs/readme.md
     prettier -w docs
     prettier --write .
     black docs
     uniq a.txt docs/x
     tar cf docs/x.tar a.txt
     tar czf docs/x.tgz a.txt
     tar xf a.tar docs/readme.md
     gofmt -w docs/x.go
     mytool docs/readme.md
     mytool ./src/../docs/readme.md
     mytool DOCS/readme.md
     eslint --fix docs
     make docs/readme.md
     npm run format docs/readme.md
     git stash push docs/readme.md
     prettier --write '**/*.md'
     prettier --write 'doc?/*.md'
     prettier --write '{docs,src}/*'
     mytool --glob='doc[s]/*'
     unzip a.zip docs/readme.md`,
  ],
  ["Read(.env)", "Bash(mytool *)", "mytool '.en?'\nmytool '.e*'\nmytool --from='*'"],
  [
    "Read(.env)",
    "Bash, Bash(git *), Bash(grep *), Bash(rg *), Bash(curl *), Bash(jq *)",
    `grep -r -A 3 SECRET
     grep -r -m 5 SECRET
     grep -rAe SECRET
     git grep --untracked -A 3 SECRET
     rg -uu -e SECRET -C 2
     rg SECRET -g '.en*'
     rg --max-count 5 SECRET
     git grep -e SECRET -- '.en?'
     git grep SECRET HEAD
     git grep SECRET src --
     git log -p
     git log -p -- '.en?'
     git diff '.en?'
     git cat-file --batch-all-objects --batch
     curl -s file:///x/%2eenv
     curl 'file:///x/.en[v-v]'
     curl '{file}:///x/%2eenv'
     jq -n 'import "./secret\\u0073/a" as $d; $d'`,
  ],
  [
    "Read(./secrets/**)",
    "Bash(git *), Bash(git diff), Bash(git show HEAD), Bash(sh -c 'git diff'), Bash(git-diff), Bash(hg *), Bash(jj *)",
    `git diff
     git show HEAD
     git show abc:key
     git log -p .
     git grep x HEAD
     sh -c 'git diff'
     git-diff
     hg diff
     hg log -p
     jj show`,
  ],
  ["Read", "Bash(git *)", "git diff\ngit log -p -- src/x.ts\ngit show HEAD:src/x.ts"],
  [
    "Edit(./docs/**)",
    "Bash, Bash(git *), Bash(prettier *), Bash(eslint *)",
    `git rm 'doc?/readme.md'
     git stash push 'doc?/readme.md'
     prettier --write 'doc*/**'
     eslint --fix 'doc?/**'`,
  ],
  [
    "Bash(unrelated)",
    "Bash, Bash(git *), Bash(git push *), Bash(git clone *), Bash(git diff *)",
    `git push ./fixtures/bare HEAD:refs/heads/x
     git push ./gitfile HEAD
     git fetch fixtures/bare
     git pull ./fixtures/bare
     git clone fixtures/bare
     git remote add x fixtures/bare
     git push host.example:repo HEAD
     git push -u host.example:repo HEAD
     git fetch --depth 1 host.example:repo
     git diff /dev/null /etc/passwd`,
  ],
  [
    "Bash(unrelated)",
    "Bash, Bash(uniq *), Bash(xxd *), Bash(tree *)",
    `uniq a.txt src/x.ts
     uniq -c -- a.txt src/x.ts
     xxd a.txt src/x.ts
     tree -o src/x.ts`,
  ],
  ["Edit(package.json)", "Bash", "mytool package.json\nprettier --write package.json\nnpm run format -- package.json"],
  ["Write(./docs/**)", "Bash(mytool *)", "mytool docs/readme.md"],
  ["Edit(*.md)", "Bash(mytool *)", "mytool docs\nmytool docs/readme.md"],
  ["Edit(./docs/readme.md)", "Bash(mytool *)", "mytool docs\nmytool .\nmytool -r docs/"],
];

/** Commands that no deny rule concerns. */
const UNSUSPECTED: Row[] = [
  [
    "Bash(git push)",
    "Bash",
    `git status
     git commit -m push
     git commit -m 'git push'
     git log push
     echo git push
     npm test
     npm run push
     mywrap git status
     mywrap push
     rg 'git push' a.txt
     mytool pushing`,
  ],
  ["Bash(npm install *)", "Bash(npm *)", "npm test\nnpm run install-hooks\nnpm ls\nnpm ci"],
  ["Bash(npm run *)", "Bash(npm *)", "npm test\nnpm ls"],
  ["Bash(make deploy)", "Bash(make *)", "make test\nmake deployment\nmake -j4"],
  ["Read(.env)", "Bash(mytool *), Bash(rg *)", "mytool 'src/*.ts'\nmytool src/x.ts\nrg 'a.*b' src/x.ts"],
  [
    "Read(.env)",
    "Bash(git *), Bash(grep *), Bash(rg *), Bash(curl *), Bash(jq *), Bash(uniq *), Bash(xxd *)",
    `grep -r -A 3 TODO src
     rg -e TODO src
     rg -C 2 TODO src
     rg TODO src -g '*.ts'
     git grep TODO src
     git grep -n TODO -- src
     git log -p src/x.ts
     git log --oneline -7
     git diff src/x.ts
     git push -u origin HEAD:main
     git fetch --depth 1 origin
     curl -s https://x.example/a
     jq .include src/x.ts
     uniq -cf 1 a.txt
     xxd -l 16 a.txt`,
  ],
  [
    "Read(./secrets/**)",
    "Bash(git *), Bash(hg *)",
    `git log -p src
     git diff -- src docs
     git show HEAD -- src
     git grep x HEAD -- src
     git grep x src
     git show HEAD:src/x.ts
     hg status`,
  ],
  ["Read(~/notes/**)", "Bash(git *)", "git diff\ngit show HEAD\ngit log -p\ngit grep x HEAD"],
  ["Read", "Bash(git *)", "git status\ngit log --oneline\ngit commit -m x"],
  ["Bash(curl *)", "Bash(npm *)", "npm run curl\nnpm test"],
  ["Edit(*.md)", "Bash(mytool *)", "mytool src\nmytool docs2"],
  ["Bash(rm *)", "Bash(cargo *), Bash(make *)", "cargo test rm\nmake rm"],
  [
    "Edit(./docs/**)",
    "Bash, Bash(npm *), Bash(cargo *)",
    `git add docs/readme.md
     git diff docs
     git log docs/readme.md
     git commit -m docs
     cat docs/readme.md
     cp docs/readme.md a.txt
     rg x docs/readme.md
     eslint docs/readme.md
     prettier --check docs/readme.md
     npm test src
     cargo test --release x
     mytool a.txt
     mytool src
     mytool ./src/x.ts
     uniq docs/readme.md`,
  ],
];

describe("deny rules beside wildcards that allow the call", () => {
  test.each(FOUND)("%s is found beside %s", (against, allow, commands) => {
    expect(otherThan("deny", verdicts([against, allow, commands], denying))).toEqual([]);
    expect(otherThan("ask", verdicts([against, allow, commands], asking))).toEqual([]);
  });

  test.each(SUSPECTED)("%s is suspected beside %s", (against, allow, commands) => {
    expect(otherThan("ask", verdicts([against, allow, commands], denying))).toEqual([]);
    expect(otherThan("ask", verdicts([against, allow, commands], asking))).toEqual([]);
  });

  test.each(UNSUSPECTED)("%s leaves the rest to %s", (against, allow, commands) => {
    expect(otherThan("allow", verdicts([against, allow, commands], denying))).toEqual([]);
  });

  test("exact words allow a call that is only suspected, and never one that is found", () => {
    const allow = "Bash(mywrap git push), Bash(mytool docs/readme.md), Bash(git push origin)";
    const rules = (match: string): Rules => ({ deny: [match, "Edit(./docs/**)"] });
    const commands = "mywrap git push\nmytool docs/readme.md\ngit push origin\nmywrap git push x";
    const given = verdicts(["Bash(git push)", allow, commands], rules).map(([, verdict]) => verdict);
    expect(given).toEqual(["allow", "allow", "deny", "ask"]);
  });

  test("an allow rule of exact words covers no further target", () => {
    const given = verdicts(["Bash(x)", "Bash(make test)", "make test\nmake test deploy\nmake -k test"], denying);
    expect(given.map(([, verdict]) => verdict)).toEqual(["allow", "ask", "ask"]);
  });
});
