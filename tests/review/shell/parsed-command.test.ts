import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { dangersIn, parseCommand, partsOf, stepsOf } from "../../../src/review/shell/index.ts";

/** The words of each program, in order. */
const wordsIn = (source: string) => parseCommand(source).commands.map(({ words }) => words.map(({ value }) => value));

describe("parseCommand", () => {
  test.each<[string, string[][]]>([
    ["ls -la", [["ls", "-la"]]],
    ["a | b |& c", [["a"], ["b"], ["c"]]],
    ["a && b || c; d & e", [["a"], ["b"], ["c"], ["d"], ["e"]]],
    ["echo 'it''s' \"a b\" c\\ d $'\\x41'", [["echo", "its", "a b", "c d", "A"]]],
    ["if a; then b; else c; fi", [["a"], ["b"], ["c"]]],
    ["for x in 1 2; do echo $x; done", [["echo", "$x"]]],
    ["( cd /tmp && ls )", [["cd", "/tmp"], ["ls"]]],
    ["f() { rm x; }; f", [["rm", "x"], ["f"]]],
    ["X=1 make all", [["make", "all"]]],
  ])("parses %s like a shell", (source, words) => {
    expect(wordsIn(source)).toEqual(words);
  });

  test.each([
    ["echo $(rm -rf x)", "$()"],
    ["echo `rm -rf x`", "backquotes"],
    ['echo "a $(rm -rf x) b"', "double quotes"],
    ["diff <(rm -rf x) y", "a process substitution"],
    ["cat <<EOF\n$(rm -rf x)\nEOF", "a here-document"],
    [`echo \${X:-$(rm -rf x)}`, "a default"],
    ["X=$(rm -rf x)", "an assignment"],
    ["echo $(( $(rm -rf x) + 1 ))", "arithmetic"],
    ["[[ -n $(rm -rf x) ]]", "a test"],
    ["case a in $(rm -rf x)) ;; esac", "a pattern"],
    ["a[$(rm -rf x)]=1", "an index"],
    ["echo `echo \\`rm -rf x\\``", "backquotes in backquotes"],
  ])("finds the command that runs inside %s", (source) => {
    expect(wordsIn(source)).toContainEqual(["rm", "-rf", "x"]);
  });

  test.each(["cat <<'EOF'\n$(rm -rf x)\nEOF", "echo '$(rm -rf x)'", "echo \\$(true) # $(rm -rf x)"])(
    "finds no command in %s, which only quotes one",
    (source) => {
      expect(wordsIn(source)).not.toContainEqual(["rm", "-rf", "x"]);
    },
  );

  test.each([
    ["npm test 2>&1", ["npm test 2>&1"]],
    ["npm test 2>&1 | tail -5 >> out.log 2> /dev/null", ["npm test 2>&1", "tail -5 >> out.log 2> /dev/null"]],
    ["make >& all {fd}>x 3<&0 4>&-", ["make >& all {fd}> x 3<&0 4>&-"]],
    ["LANG=C X='a b' sort < in", ["LANG=C X='a b' sort < in"]],
    ["cat <<EOF <<< 'x y'\nEOF", ["cat << <<< 'x y'"]],
    ["echo $(date -u)", ["echo $(date -u)", "date -u"]],
    ["X=1", []],
  ])("lists the steps of %j with all that stands beside their words", (source, steps) => {
    expect(stepsOf(parseCommand(source)).map(({ before, program, rest }) => `${before}${program}${rest}`)).toEqual(
      steps,
    );
  });

  test("knows which commands have input, and which files are written", () => {
    const { commands } = parseCommand("a 2>&1 < in | b >> out.log 2> /dev/null");
    expect(commands.map(({ hasInput }) => hasInput)).toEqual([false, true]);
    const redirects = commands.map((command) => command.redirects.map(({ writes, target }) => [writes, target?.value]));
    expect(redirects).toEqual([
      [
        [false, undefined],
        [false, "in"],
      ],
      [
        [true, "out.log"],
        [true, "/dev/null"],
      ],
    ]);
  });

  test("knows that a command inside a substitution does not get the input of the outer one", () => {
    const { commands } = parseCommand("a $(b | c) | d <(e)");
    const facts = commands.map(({ words, hasInput, isSubstituted }) => [words[0]?.value, hasInput, isSubstituted]);
    expect(facts.sort()).toEqual([
      ["a", false, false],
      ["b", false, true],
      ["c", true, true],
      ["d", true, false],
      ["e", false, true],
    ]);
  });

  test("reports what it could not parse", () => {
    expect(parseCommand("echo 'open").problems).not.toEqual([]);
    expect(parseCommand("if true; then").problems).not.toEqual([]);
    expect(parseCommand("echo closed").problems).toEqual([]);
  });
});

describe("the parsed words", () => {
  const bash = Bun.which("bash");
  const word = fc.oneof(
    fc.stringMatching(/^[a-z0-9./_-]{1,8}$/),
    fc.stringMatching(/^[ a-z0-9$`"|&;<>(){}#*\\-]{0,10}$/).map((text) => `'${text}'`),
    fc.stringMatching(/^[ a-z0-9'|&;<>(){}#*-]{0,10}$/).map((text) => `"${text}"`),
    fc.stringMatching(/^[ |&;<>(){}#*'"$]{1,3}$/).map((text) => text.replace(/./g, "\\$&")),
    fc.stringMatching(/^[a-z \\]{0,6}$/).map((text) => `$'${text.replaceAll("\\", "\\t")}'`),
  );
  const simple = fc
    .tuple(fc.stringMatching(/^cmd[a-z]{1,4}$/), fc.array(word, { maxLength: 4 }))
    .map(([name, words]) => [name, ...words].join(" "));
  const program = fc
    .tuple(simple, fc.array(fc.tuple(fc.constantFrom("; ", " && ", "\n", " ; # note | x\n"), simple), { maxLength: 4 }))
    .map(([first, rest]) => first + rest.map(([operator, command]) => operator + command).join(""));

  test.skipIf(bash === null)("are those that bash runs, for any words, quotes and operators", () => {
    fc.assert(
      fc.property(program, (source) => {
        expect(wordsIn(source)).toEqual(runByBash(source));
      }),
      { numRuns: 60 },
    );
  });

  /** Bash finds none of these commands, and passes each to a function that records its words. */
  function runByBash(source: string): string[][] {
    const recorder = 'command_not_found_handle() { printf \'%s\\0\' "$#" "$@"; return 0; }\n';
    const { stdout, exitCode, stderr } = Bun.spawnSync([bash ?? "bash", "-c", recorder + source], {
      env: { PATH: "/nonexistent" },
    });
    if (exitCode !== 0) throw new Error(`bash refused ${JSON.stringify(source)}: ${stderr}`);
    const fields = stdout.toString().split("\0").slice(0, -1);
    const commands: string[][] = [];
    while (fields.length > 0) commands.push(fields.splice(0, Number(fields.shift())));
    return commands;
  }
});

describe("garbage", () => {
  const pieces = [
    "$(",
    "`",
    "((",
    "(",
    "{ ",
    "<<a\n",
    "'",
    '"',
    "\\",
    "${",
    "$((",
    "[[ ",
    "if ",
    "case a in ",
    "a|",
    "x=$(",
    '"$(',
    "${a:-",
  ];
  const more = [
    "$'",
    "<(",
    "@(",
    "{a,",
    "{1..",
    "f() { ",
    "\u0000",
    "\ud800",
    "a[$(",
    "$[",
    "\\\n",
    "#",
    ">a ",
    "<<<a ",
    "$((1+",
    "}",
    ")",
    "]",
    " ",
  ];
  const garbage = fc.oneof(
    fc.string({ maxLength: 2_000, unit: "binary" }),
    fc.array(fc.constantFrom(...pieces, ...more, "a", " b", ";"), { maxLength: 400 }).map((parts) => parts.join("")),
  );

  test("of any kind never throws, and its parts add up to the whole text", () => {
    fc.assert(
      fc.property(garbage, (source) => {
        const parsed = parseCommand(source);
        expect(Array.isArray(dangersIn(parsed, "/here"))).toBe(true);
        expect(
          partsOf(parsed, "/here")
            .map(({ text }) => text)
            .join(""),
        ).toBe(source);
      }),
      { numRuns: 300 },
    );
  });

  test.each([...pieces, ...more])("of a megabyte of %p, or of as much as is parsed, is checked fast", (piece) => {
    for (const size of [1024 * 1024, 32_000, 2_000]) {
      const source = piece.repeat(Math.ceil(size / piece.length)).slice(0, size);
      const before = process.cpuUsage();
      const parsed = parseCommand(source);
      dangersIn(parsed, "/here");
      partsOf(parsed, "/here");
      const { user, system } = process.cpuUsage(before);
      expect((user + system) / 1000).toBeLessThan(3_000);
    }
  });
});
