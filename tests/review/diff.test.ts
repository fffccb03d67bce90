import { describe, expect, test } from "bun:test";
import { diffOfEdits, diffOfWrite } from "../../src/review/diff.ts";

const file = (text: string) => ({ state: "text" as const, path: "/srv/project/f.txt", text });
const doubled = { before: "a", after: "aa", everywhere: true };

describe("a diff that would exceed any memory", () => {
  test("of edits that repeatedly double the file shows only the edits, and says so", () => {
    const edits = Array.from({ length: 200 }, () => doubled);
    const { note, hunks } = diffOfEdits(edits, file("a\n"));
    expect(note).toBe("the edited file is too long to compare; only the edits are shown");
    expect(hunks.flatMap(({ lines }) => lines).length).toBeLessThanOrEqual(400);
  });

  test("of an edit that turns every character into a line shows only the edit", () => {
    const lines = { before: "a", after: "\n\n\n\n\n", everywhere: true };
    expect(diffOfEdits([lines], file("a".repeat(1_000_000))).note).toContain("too long to compare");
  });

  test("of very many lines shows the first ones and the total", () => {
    const { note, hunks, added, removed } = diffOfWrite("a\n".repeat(300_000), file("\n".repeat(900_000)));
    expect([added, removed]).toEqual([300_001, 900_001]);
    expect(note).toBe("too long to compare; of 300001 lines the first 2000 are shown");
    expect(hunks[0]?.lines).toHaveLength(2_000);
  });

  test("is complete for a long text with few changes", () => {
    const text = Array.from({ length: 40_000 }, (_, at) => `line ${at}`).join("\n");
    const edit = { before: "line 20000\n", after: "line twenty thousand\n", everywhere: false };
    expect(diffOfEdits([edit], file(text))).toMatchObject({ added: 1, removed: 1, note: undefined });
  });
});

describe("a diff of edits", () => {
  const one = (before: string, after: string) => [{ before, after, everywhere: false }];

  test("handles other line ends and quotes as Claude Code does", () => {
    expect(diffOfEdits(one("a\nb", "X\nY"), file("a\r\nb\r\nc\r\n"))).toMatchObject({ added: 2, note: undefined });
    expect(diffOfEdits(one('"a"', '"b"'), file("“a”\n"))).toMatchObject({ added: 1, removed: 1, note: undefined });
    expect(diffOfEdits(one("two", ""), file("one\ntwo\n"))).toMatchObject({ added: 0, removed: 1, note: undefined });
  });

  test("never claims that an edit fails, and shows the edit if its result is unknown", () => {
    for (const text of ["none\n", "a\na\n"]) {
      const { note, removed } = diffOfEdits(one("a", "b"), file(text));
      expect([note, removed]).toEqual([
        "the file does not contain this text as it is given, or more than once; only the edit is shown",
        1,
      ]);
    }
  });
});
