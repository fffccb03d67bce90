import { describe, expect, test } from "bun:test";
import { readdirSync } from "node:fs";
import fc from "fast-check";
import { literalCommands } from "../../../src/core/rules/literal-command.ts";
import { temporaryDirectory } from "../../support/temporary.ts";

const BASH = Bun.which("bash") ?? "bash";
const wordsIn = (source: string) => literalCommands(source)?.map(({ words }) => [...words]);

/** Bash passes every unknown command, which here is every command, to a function that records its words. */
function runByBash(source: string): string[][] {
  const recorder = `command_not_found_handle() { printf '%s\\0' "$#" "$@" >&3; return 0; }\n`;
  const { stdout } = Bun.spawnSync([BASH, "-c", `${recorder}exec 3>&1 >/dev/null 2>&1\neval "$0"`, source], {
    env: { PATH: "/nonexistent" },
    cwd: "/",
  });
  const fields = stdout.toString().split("\0").slice(0, -1);
  const commands: string[][] = [];
  while (fields.length > 0) commands.push(fields.splice(0, Number(fields.shift())));
  return commands;
}

describe("literalCommands", () => {
  test.each<[string, string[][]]>([
    ["cmda b", [["cmda", "b"]]],
    ['cmda  \'b c\' "d\\"e" f\\ g', [["cmda", "b c", 'd"e', "f g"]]],
    ["cmda '' \"\" x''y", [["cmda", "", "", "xy"]]],
    ["cmda \"a\\.b\" 'a\\.b' a\\.b", [["cmda", "a\\.b", "a\\.b", "a.b"]]],
    ["cmda 2>&1;cmdb >/dev/null", [["cmda"], ["cmdb"]]],
    ["cmda\n\ncmdb ;\n", [["cmda"], ["cmdb"]]],
  ])("reads %j as bash does", (source, words) => {
    expect(wordsIn(source)).toEqual(words);
    expect(runByBash(source)).toEqual(words);
  });

  test.each(["time ls", "coproc ls", "if ls", "ls; then", "function ls", "select ls", "! ls", "[[ ls ]]"])(
    "does not read the keyword in %j as a program",
    (source) => {
      expect(wordsIn(source)).toBeUndefined();
    },
  );

  test("reads whatever it accepts exactly as bash does", () => {
    const pieces =
      "a b7 - -- = . .. / : , + @ % ^ ~ # ! * ? [ ] { } ( ) < > & $ ` \\ ' '' \" \"\" $' 'x' \"y\" \\\\ \\' \\\" \\$ \\n 2> 2>&1 >/dev/null 2>/dev/null ; && cmdz if then [[ =x x=y ~x {a,b} $x [a] !x #x".split(
        " ",
      );
    const piece = fc.oneof(
      { weight: 3, arbitrary: fc.constantFrom(" ", " ", "a", "b", "'", '"', "\\", "\n", "; cmdy ", " && cmdw ", "\t") },
      { weight: 4, arbitrary: fc.constantFrom(...pieces) },
      { weight: 1, arbitrary: fc.string({ maxLength: 3 }) },
    );
    let accepted = 0;
    fc.assert(
      fc.property(fc.array(piece, { maxLength: 9 }), (parts) => {
        const source = `cmdx ${parts.join("")}`;
        const words = wordsIn(source);
        // Bash does not pass its builtins to the function.
        if (!words?.every(([name = ""]) => /^cmd\w*$/.test(name))) return;
        accepted++;
        // The commands of a pipe run in parallel, so their order varies.
        const order = (ran: string[][]) => (source.includes("|") ? ran.map((one) => one.join("\0")).toSorted() : ran);
        expect(order(runByBash(source))).toEqual(order(words));
      }),
      { numRuns: 5_000 },
    );
    expect(accepted).toBeGreaterThan(100);
  });

  test.each<[string, string[]]>([
    ["cmda > x", ["x"]],
    ["cmda >x b", ["x"]],
    ["cmda b >> x", ["x"]],
    ["cmda 1> x 2>> 'y z'", ["x", "y z"]],
    ['cmda > "x" 2>&1', ["x"]],
    ["cmda > x; cmdb > y", ["x", "y"]],
    ["cmda | cmdb 2> x", ["x"]],
    ["cmda > x\\ y", ["x y"]],
    ["cmda 2 > x", ["x"]],
    ["cmda > /dev/null > x", ["x"]],
  ])("reads the files that %j writes as bash does, where it may write", async (source, files) => {
    expect(literalCommands(source)).toBeUndefined();
    expect(literalCommands(source, { mayWrite: true })?.flatMap(({ writes }) => [...writes])).toEqual(files);
    await using directory = await temporaryDirectory();
    Bun.spawnSync([BASH, "-c", source], { cwd: directory.path, env: { PATH: "/nonexistent" } });
    expect(readdirSync(directory.path).sort()).toEqual(files.toSorted());
  });

  test.each(
    "> x|cmda >| x|cmda &> x|cmda >& x|cmda 3> x|cmda > $X|cmda > *|cmda > ~/x|cmda > `x`|cmda >|cmda > ''|cmda > {a,b}|cmda > [|cmda >(x)|cmda < x|cmda <> x|cmda>x|cmda b>x|cmda > =x|cmda > x&|cmda > #x|cmda {fd}> x".split(
      /(?<!>)\|/,
    ),
  )("does not read the redirect of %j", (source) => {
    expect(literalCommands(source, { mayWrite: true })).toBeUndefined();
  });
});
