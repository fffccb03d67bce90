import { describe, expect, test } from "bun:test";
import { dangersIn, parseCommand, partsOf } from "../../../src/review/shell/index.ts";

const rulesIn = (source: string, workingDir: string | null = "/work-dir") => [
  ...new Set(dangersIn(parseCommand(source), workingDir).map(({ rule }) => rule)),
];

describe("dangersIn", () => {
  test("treats a path as inside when the working directory is unknown, unless it leads out", () => {
    expect(rulesIn("touch a", null)).toEqual([]);
    expect(rulesIn("touch ../a", null)).toEqual(["outside"]);
    expect(rulesIn("touch /etc/a", null)).toEqual(["outside"]);
  });

  test("reports each danger once, however often it occurs", () => {
    expect(dangersIn(parseCommand("rm -rf a; rm -rf b"), "/work-dir")).toEqual([
      { rule: "delete", message: "removes files (rm)" },
    ]);
  });

  test("stops after too many commands, and says so", () => {
    const rules = (count: number) => rulesIn("ls;".repeat(count));
    expect(rules(900)).toEqual([]);
    expect(rules(1_100)).toEqual(["unreadable"]);
    expect(rulesIn(`eval '${"ls;".repeat(1_100)}'`)).toEqual(["unreadable"]);
  });

  test.each([
    "rm x;",
    "cd a;",
    "eval 'a';",
    "sed s/a/b/ x;",
    "{a,b} ",
    "$(a) ",
    "env -S 'a' ",
    "awk '{print | \"a\"}' x;",
  ])("checks 32 kB of %p in a tenth of a second", (piece) => {
    const parsed = parseCommand(piece.repeat(Math.floor(32_000 / piece.length)));
    const times = [1, 2, 3].map(() => {
      const { user } = process.cpuUsage();
      dangersIn(parsed, "/work-dir");
      return (process.cpuUsage().user - user) / 1000;
    });
    expect(Math.min(...times)).toBeLessThan(100);
  });
});

describe("partsOf", () => {
  const marked = (source: string) =>
    partsOf(parseCommand(source), "/work-dir")
      .filter(({ isOutside }) => isOutside)
      .map(({ text }) => text)
      .join(" ");

  test("marks the paths outside the working directory", () => {
    expect(marked("cat /etc/passwd src/a /work-dir/b ../c ~/d https://x.example/e --file=/f")).toBe(
      "/etc/passwd ../c ~/d --file=/f",
    );
  });

  test("marks the words that lead outside through links", () => {
    const links = new Map([
      ["/work-dir/pw", "/etc/passwd"],
      ["/work-dir/here", "/work-dir/src"],
    ]);
    const parts = partsOf(parseCommand("cat pw here && touch pw src/pw"), "/work-dir", links);
    expect(parts.filter(({ isOutside }) => isOutside).map(({ text }) => text)).toEqual(["pw", "pw"]);
  });

  test("distinguishes programs, operators, options, texts, redirects and substitutions", () => {
    const parts = partsOf(parseCommand('a -x "t $V" $(b) | c > f && d # note'), "/work-dir");
    const role = (text: string) => parts.find((part) => part.text.trim() === text)?.role;
    expect(["a", "-x", "$V", "b", "|", "c", "&&", "d", "# note"].map(role)).toEqual([
      "program",
      "option",
      "variable",
      "program",
      "operator",
      "program",
      "operator",
      "program",
      "comment",
    ]);
  });
});
