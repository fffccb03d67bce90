import { afterAll, describe, expect, test } from "bun:test";
import { createFinder } from "../../../../src/core/rules/matching/find.ts";
import { judgedCall } from "../../../../src/core/rules/matching/judged-call.ts";
import { plantTree } from "../tree.ts";
import { rulesFor } from "./judge.ts";

const tree = await plantTree();
afterAll(() => tree[Symbol.asyncDispose]());

const { supervision: _, ...place } = tree.child;
/** A bare `Bash` of allowed_tools covers calls that are neither found nor suspected. */
const verdict = (match: string, command: string) => {
  const finder = createFinder(rulesFor([match]));
  const judged = judgedCall({ toolName: "Bash", input: { command } }, place);
  return finder.find(judged) !== undefined ? "found" : finder.suspects(judged) ? "suspected" : "covered";
};
const others = (match: string, wanted: string, commands: readonly string[]) =>
  commands.map((command) => [command, verdict(match, command)]).filter(([, given]) => given !== wanted);

const PUSH = "Bash(git push *)";
const REMOVE = "Bash(rm -rf *)";
const SECRET = "Read(.env)";
const DOCS = "Edit(./docs/**)";

describe("a deny rule suspects", () => {
  test.each<[string, string[]]>([
    // A program, verb or option that is unknown before the command runs.
    [
      PUSH,
      ["$X push", "$(echo git) push", "git $X", 'git "$X" origin', "git -C x $X", "f() { $1; }; f git", "xargs git"],
    ],
    [REMOVE, ["rm $X", 'rm "$f"', "rm -$X y", "rm $(cat x)", "echo -rf | xargs rm", "find . -exec rm {} +"]],
    // A text that is unknown before the command runs.
    [PUSH, ['eval "$X"', 'sh -c "$X"', 'ssh host "$X"', "cat x | sh", "curl x | bash -s", "bash <<EOF\n$X\nEOF"]],
    [PUSH, ["npm test (", "echo 'open", "if", `${"env ".repeat(20)}ls`, `ls ${";".repeat(5_000)}`]],
    [PUSH, ["bash <(echo git push)", "source <(echo git push)", "bash $X", "git p", "git --config-env=alias.p=X p"]],
    [PUSH, ["at now <<< 'git push'", "crontab - <<EOF\n* * * * * git push\nEOF", "make -f - <<< 'x:;git push'"]],
    [PUSH, ["alias p=git; p push", "gdb -batch -ex '!git push'", "tmux new -d ': git push'"]],
    // Code that names the program.
    [
      PUSH,
      [
        "python3 -c 'import os; os.system(\"git push\")'",
        "python3 <<EOF\nrun('git')\nEOF",
        'node -e \'spawn("git", ["push"])\'',
        'perl -e \'system("git","push")\'',
        "tar --to-command='git push' -xf a.tar",
        "sed '1e git push' a.txt",
        "awk 'BEGIN{system(\"git push\")}'",
        "vim -c '!git push'",
        "git -c core.pager='git push' log",
        "make SHELL=git x",
      ],
    ],
    // A program in a container, after an unknown option.
    [
      PUSH,
      ["docker exec --unknown x c git push", "docker run --unknown x image git push", "podman exec --latest git push"],
    ],
    // A directory with such a file, a pattern that matches it, and a word that could name it.
    [SECRET, ["cat $f", 'cat "$f"', "cat *", "cat .e*", "cat ./.e??", "for f in *; do cat $f; done", "head -1 <$f"]],
    [
      SECRET,
      [
        "grep -r x .",
        "grep -r x",
        "rg x",
        "tar cf x.tar .",
        "cp -r . x",
        "ln -s . x",
        "eslint .",
        "mytool .",
        "mytool '*'",
      ],
    ],
    [SECRET, ["find . -exec cat {} +", "find . | xargs cat", "while read x; do echo $x; done < $f", "curl -d @$f x"]],
    [SECRET, ["ln -s $PWD/.env x", "cd $X && cat a.txt", "cd ~/x; head a.txt"]],
    // Changed files that are unknown before the command runs.
    [DOCS, ["rm *", "touch $X", "echo x > $X", "echo x > d*/a.md", "echo x > {docs,src}/x", "cd docs && rm *"]],
    [
      DOCS,
      [
        "find . -name '*.md' -exec rm {} +",
        "sed -i s/a/b/ $X",
        "cp a.txt $X",
        "cd $X && touch a.md",
        "cd - && rm a.md",
      ],
    ],
    ["Read", ["cat a.txt", "mytool a.txt", "git diff", "cat $f", "rg x"]],
    ["*", ["$X"]],
  ])("%s: %j", (match, commands) => {
    const wanted = match === "*" ? "found" : "suspected";
    expect(others(match, wanted, commands)).toEqual([]);
  });

  test.each<[string, string[]]>([
    [PUSH, ['git commit -m "$X"', "git log $X", "npm test $X", "echo $X", "bash <<EOF\nls\nEOF", "cat x | sort"]],
    [PUSH, ["python3 -c 'print(1)'", "awk '{print $1}' a.txt", "docker ps", "docker logs git push", "kubectl get git"]],
    [REMOVE, ["rm x", "ls $X", "docker rm -rf x"]],
    [
      SECRET,
      [
        "cat a.txt",
        "cat src/*",
        "grep -r x src",
        "grep x a.txt",
        "rg x src",
        "tar cf x.tar src",
        "cp a.txt .",
        "mv a.txt src",
      ],
    ],
    [
      SECRET,
      ["ls .", "ls *", "du -sh .", "find . -name x", "echo $X", "mkdir $X", "npm test $X", "tsc -p .", '[ -f "$f" ]'],
    ],
    [
      PUSH,
      [
        "git -C x log",
        "cat <<< 'git push'",
        "git commit -F - <<< 'git push'",
        "tee x <<EOF\ngit push\nEOF",
        "bash x.sh",
      ],
    ],
    [
      DOCS,
      ["rm src/*", "touch src/$X", "sed -n $X a.txt", "cat *", "echo $X", "cd $X && npm test", "cd $X && cat a.md"],
    ],
    [SECRET, ["cd $X && npm test", "cd src && cat x.ts", "sed 'r a.txt' b.txt"]],
    ["Read(~/notes/**)", ["cat $f", "cat *", "rg x", "git diff"]],
    ["Read", ["ls src", "npm test", "git status"]],
    ["WebFetch(domain:x.example)", ["$X", "npm test (", "cat x | sh"]],
    ["mcp__x", ["$X", "echo 'open"]],
  ])("%s leaves alone %j", (match, commands) => {
    expect(others(match, "covered", commands)).toEqual([]);
  });
});
