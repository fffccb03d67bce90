import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { jsonLine, jsonText, printable, printableText } from "../../src/cli/terminal/printable.ts";
import { shellLine } from "../../src/cli/terminal/shell.ts";
import type { Terminal } from "../../src/cli/terminal/terminal.ts";

const anyText = fc.string({ unit: "binary" });
const terminal = (isInteractive: boolean): Terminal => ({
  out: () => {},
  err: () => {},
  input: async () => "",
  isInteractive,
  showsErrors: isInteractive,
  hasColour: false,
  columns: 80,
});

describe("printable", () => {
  test("leaves what a person can read as it is", () => {
    const text = "naïve café, 日本語, עברית, ελληνικά, «quotes» — 5 €";
    expect(printable(text)).toBe(text);
  });

  test.each([
    ["\u001b[31m", "\\u{1b}[31m"],
    ["a\nb\r", "a\\nb\\u{d}"],
    ["\u009b", "\\u{9b}"],
    ["\u202eevil", "\\u{202e}evil"],
    ["\u2066\u2069", "\\u{2066}\\u{2069}"],
    ["\u200b\ufeff\u00ad", "\\u{200b}\\u{feff}\\u{ad}"],
    ["\u2028\u2029", "\\u{2028}\\u{2029}"],
    ["\u{e0041}", "\\u{e0041}"],
    ["\u3164\ufe0f", "\\u{3164}\\u{fe0f}"],
    ["\ud800", "\\u{d800}"],
  ])("makes %j visible", (text, shown) => {
    expect(printable(text)).toBe(shown);
  });

  test("is one line of visible characters, whatever it is given", () => {
    fc.assert(fc.property(anyText, (text) => !/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Cs}]/u.test(printable(text))));
  });
});

describe("printableText", () => {
  test("keeps lines, tabs and emoji as they are written", () => {
    const text = "a\tb\n\n⚠\ufe0f done 👩\u200d💻 ✅\n";
    expect(printableText(text)).toBe(text);
  });

  test("makes visible what would move the cursor, turn the text or hide in it", () => {
    expect(printableText("a\r\u001b[2J\n\u202eb\u200dc\ufe0f")).toBe(
      "a\\u{d}\\u{1b}[2J\n\\u{202e}b\\u{200d}c\\u{fe0f}",
    );
  });
});

describe("jsonLine", () => {
  test("is one line that means the same as the value", () => {
    const value = { text: "a\n\u001b\u2028\u{e0041}b" };
    expect(jsonLine(value)).toMatch(/^[ -~]+\n$/);
    expect(JSON.parse(jsonLine(value))).toEqual(value);
  });
});

describe("jsonText", () => {
  test("means the same as the value, and holds nothing that a screen would obey", () => {
    fc.assert(
      fc.property(fc.jsonValue({ stringUnit: "binary" }), fc.boolean(), (value, isInteractive) => {
        const text = jsonText(value, terminal(isInteractive));
        expect(JSON.stringify(JSON.parse(text))).toBe(JSON.stringify(value));
        expect(text.replaceAll("\n", "")).not.toMatch(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Cs}]/u);
        if (!isInteractive) expect(text.indexOf("\n")).toBe(text.length - 1);
      }),
    );
  });
});

describe("shellLine", () => {
  test("is taken apart by a shell into exactly the words that it was made of", () => {
    const word = anyText.filter((text) => !/[\0\p{Cs}]/u.test(text));
    fc.assert(
      fc.property(fc.array(word, { minLength: 1, maxLength: 8 }), (words) => {
        const { stdout } = Bun.spawnSync(["sh", "-c", `printf '%s\\0' ${shellLine(words)}`]);
        expect(stdout.toString().split("\0").slice(0, -1)).toEqual(words);
      }),
      { numRuns: 50 },
    );
  });

  test("leaves plain words as they are", () => {
    expect(shellLine(["claude", "-p", "/a/b.json", "--x", ""])).toBe("claude -p /a/b.json --x ''");
  });
});
