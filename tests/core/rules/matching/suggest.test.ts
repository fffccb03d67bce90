import { afterAll, describe, expect, test } from "bun:test";
import fc from "fast-check";
import type { JsonObject } from "../../../../src/contract/values.ts";
import { judgedCall, type Place } from "../../../../src/core/rules/matching/judged-call.ts";
import { createProver } from "../../../../src/core/rules/matching/prove.ts";
import { suggestedMatch } from "../../../../src/core/rules/matching/suggest.ts";
import { plantTree } from "../tree.ts";
import { CHAINING } from "./corpus/chaining.ts";
import { EVERYDAY } from "./corpus/everyday.ts";
import { OPTIONS } from "./corpus/options.ts";
import { SPELLING } from "./corpus/spelling.ts";
import { WRAPPING } from "./corpus/wrapping.ts";
import { dangersIn, rulesFor } from "./judge.ts";

const tree = await plantTree();
afterAll(() => tree[Symbol.asyncDispose]());

const { supervision: _, ...place } = tree.child;
const planted = (text: string) => text.replaceAll("@/", `${tree.root}/`);
const judged = (toolName: string, input: JsonObject, at: Place = place) =>
  judgedCall({ toolName, input: JSON.parse(planted(JSON.stringify(input))) }, at);
const suggests = (toolName: string, input: JsonObject, at?: Place) =>
  suggestedMatch(judged(toolName, input, at), dangersIn(at ?? place));
const EDIT = { old_string: "a", new_string: "b" };

describe("suggestedMatch", () => {
  test.each<[string, string | undefined]>([
    ["git commit -m 'a b'", "Bash(git commit *)"],
    ["git status", "Bash(git status)"],
    ["git push origin main", "Bash(git push origin main)"],
    ["git add src/x.ts && git add a.txt", undefined],
    ["npm test", "Bash(npm test)"],
    ["npm test 2>&1 | tail -20", "Bash(npm test)"],
    ["cd @/project && npm test", "Bash(npm test)"],
    ["npm test && npm test", "Bash(npm test)"],
    ["npm run lint", "Bash(npm run lint)"],
    ["npm run lint -- --fix", "Bash(npm run lint *)"],
    ["cargo test", "Bash(cargo test)"],
    ["cargo test parser", "Bash(cargo test *)"],
    ["go test ./...", "Bash(go test *)"],
    ["make test", "Bash(make test)"],
    ["mkdir -p build/out", "Bash(mkdir *)"],
    ["touch src/new.ts", "Bash(touch *)"],
    ["pytest -q src/deep", "Bash(pytest *)"],
    ["./scripts/check.sh --all", "Bash(./scripts/check.sh --all)"],
    ["npm install left-pad", "Bash(npm install left-pad)"],
    ["cp a.txt b.txt", "Bash(cp a.txt b.txt)"],
    ["tool 'a b' \"it's\"", "Bash(tool 'a b' \"it's\")"],
    ["ls -la", "Bash(ls -la)"],
    ["npm test && make x", undefined],
    ["npm test > src/x", undefined],
    ["echo x >> pw", "Edit(./pw)"],
    ["ls src && echo x > src/list.txt", "Edit(./src/list.txt)"],
    ["echo x > link-in/new.ts", "Edit(./src/new.ts)"],
    ["echo x > a.txt && echo y > b.txt", undefined],
    ["cd ./src && echo x > y", undefined],
    ["echo x > .env", undefined],
    ["echo x > link-out/x", undefined],
    ["npm test $X", undefined],
    ["X=1 npm test", undefined],
    ["rm x", undefined],
    ["rm -rf build", undefined],
    ["git", undefined],
    ["git push --force", undefined],
    ["npm", undefined],
    ["npm publish", undefined],
    ["bash x.sh", undefined],
    ["sh -c id", undefined],
    ["python3 x.py", undefined],
    ["node x.js", undefined],
    ["sudo ls", undefined],
    ["env ls", undefined],
    ["xargs ls", undefined],
    ["timeout 5 npm test", undefined],
    ["npx x", undefined],
    ["find src -exec id {} +", undefined],
    ["curl https://x.example", undefined],
    ["ssh host", undefined],
    ["docker ps", undefined],
    ["cat @/data/operator-token", undefined],
    ["cd ./src && npm test", undefined],
    [`tool ${"x".repeat(300)}`, undefined],
    ["", undefined],
  ])("for the command %j: %p", (command, match) => {
    expect(suggests("Bash", { command })).toBe(match);
  });

  test.each<[string, JsonObject, string | undefined]>([
    ["Edit", { file_path: "src/deep/z.ts", ...EDIT }, "Edit(./src/deep/**)"],
    ["Write", { file_path: "@/project/src/new.ts", content: "x" }, "Edit(./src/**)"],
    ["Write", { file_path: "link-in/new.ts", content: "x" }, "Edit(./src/**)"],
    ["Edit", { file_path: "a.txt", ...EDIT }, "Edit(./a.txt)"],
    ["Write", { file_path: "with space.txt", content: "x" }, "Edit(./with space.txt)"],
    ["Write", { file_path: ".github/workflows/ci.yml", content: "x" }, undefined],
    ["Write", { file_path: ".env", content: "x" }, undefined],
    ["Write", { file_path: "/opt/x", content: "x" }, undefined],
    ["Write", { file_path: "not-yet", content: "x" }, undefined],
    ["Write", { file_path: "src/[a]/x", content: "x" }, undefined],
    ["Write", { file_path: "a.txt", content: "x", mode: 1 }, undefined],
    ["Read", { file_path: "@/person/notes/n.md" }, "Read(~/notes/**)"],
    ["Read", { file_path: "@/data/operator-token" }, undefined],
    ["WebFetch", { url: "https://docs.rs/x", prompt: "y" }, "WebFetch(domain:docs.rs)"],
    ["WebFetch", { url: "http://127.0.0.1/x", prompt: "y" }, undefined],
    ["WebFetch", { url: "https://me@docs.rs/x", prompt: "y" }, undefined],
    ["WebSearch", { query: "x" }, "WebSearch"],
    ["mcp__github__get_issue", {}, "mcp__github__get_issue"],
    ["mcp__github__add_comment", {}, "mcp__github__add_comment"],
    ["mcp__db__query", { sql: "drop table x" }, undefined],
    ["Skill", { skill: "x" }, undefined],
    ["AskUserQuestion", { questions: [] }, undefined],
    ["ExitPlanMode", {}, undefined],
    ["SomethingNew", {}, undefined],
    ["Monitor", { command: "ls" }, undefined],
  ])("for %s %j: %p", (tool, input, match) => {
    expect(suggests(tool, input)).toBe(match);
  });

  test("suggests nothing about commands and files without a known working directory", () => {
    const elsewhere = { ...place, workingDir: undefined };
    expect(suggests("Bash", { command: "npm test" }, elsewhere)).toBeUndefined();
    expect(suggests("Edit", { file_path: "/x/a.txt", ...EDIT }, elsewhere)).toBeUndefined();
  });

  test("suggests only a rule that proves this call on its own", () => {
    const commands = [EVERYDAY, CHAINING, WRAPPING, OPTIONS, SPELLING].flatMap(({ allow, deny, ask }) => [
      ...allow,
      ...deny,
      ...ask,
    ]);
    let count = 0;
    fc.assert(
      fc.property(fc.constantFrom(...commands), (command) => {
        const match = suggests("Bash", { command });
        if (match === undefined) return;
        count++;
        expect(match.length).toBeLessThanOrEqual(200);
        const prover = createProver(rulesFor([match]), dangersIn(place));
        expect(prover.prove(judged("Bash", { command }), undefined)).toEqual([match]);
      }),
      { numRuns: 500 },
    );
    expect(count).toBeGreaterThan(10);
  });
});
