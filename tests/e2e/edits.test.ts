import { expect, setDefaultTimeout, test } from "bun:test";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { editedText } from "../../src/review/edited-text.ts";
import { startFamily } from "../support/sessions/family.ts";
import { until } from "../support/until.ts";

setDefaultTimeout(180_000);

type Edited = { text: string; before: string; after: string; everywhere?: true };
const CRLF = "a\r\nb\r\nc\r\n";

/** Edits for which Claude Code finds, replaces and writes text in special ways. */
const CASES: Record<string, Edited> = {
  "one line": { text: "a\nb\nc\n", before: "b", after: "$& $1 $$" },
  "line ends of Windows, and none in the ask": { text: CRLF, before: "a\nb", after: "X\nY" },
  "line ends of Windows, and one line": { text: CRLF, before: "b", after: "X\nY" },
  "line ends of Windows in the new text too": { text: CRLF, before: "b", after: "X\r\nY" },
  "few line ends of Windows": { text: "a\r\nb\nc\nd\n", before: "c", after: "X" },
  "few line ends of Unix": { text: "a\r\nb\r\nc\nd\r\n", before: "c", after: "X" },
  "as many of both": { text: "a\r\nb\n", before: "b", after: "X" },
  "line ends that change after the beginning": {
    text: `${`${"a".repeat(100)}\r\n`.repeat(50)}${"b\n".repeat(60)}q\n`,
    before: "q",
    after: "X",
  },
  "a carriage return of its own": { text: "a\r\r\nb\rc\r\nq\r\n", before: "q", after: "X" },
  "curly quotes": { text: "say “hi” now\n", before: 'say "hi" now', after: 'say "bye" now' },
  "curly quotes of one kind": { text: "it’s “the” ‘x’\n", before: "it's", after: "it's \"a\" don't" },
  "curly quotes of both kinds": {
    text: "it’s “the” ‘x’\n",
    before: "it's \"the\" 'x'",
    after: '\'b\' (\'c\') d\'e 5\'6 —\'q\' "z" --"z" <"f"> ["d"]\n"w"',
  },
  "curly quotes in the ask alone": { text: 'say "hi" now\n', before: "say “hi” now", after: "say “bye” now" },
  "curly quotes beside straight ones": { text: 'a “b” "c"\n', before: 'a "b" "c"', after: 'x "b" "c"' },
  "curly quotes everywhere": { text: "“a” “a”\n", before: '"a"', after: '"b"', everywhere: true },
  "straight quotes, where there are both": { text: '“a” "a"\n', before: '"a"', after: '"b"', everywhere: true },
  "a line that is deleted": { text: "one\ntwo\nthree\n", before: "two", after: "" },
  "a line that is deleted with its end": { text: "one\ntwo\nthree\n", before: "two\n", after: "" },
  "a word that is deleted": { text: "one two three\n", before: "two", after: "" },
  "the end of a line that is deleted": { text: "xtwo\r\nthree\r\n", before: "two", after: "" },
  "the last line, deleted": { text: "one\ntwo", before: "two", after: "" },
  "what is deleted everywhere": { text: "a\nb\na\nc a\n", before: "a", after: "", everywhere: true },
  "a quoted line that is deleted": { text: "x\n“a”\ny\n", before: '"a"', after: "" },
  "a file of blanks": { text: "  \n\n", before: "", after: "b" },
  "a byte order mark": { text: "\ufeffa\nb\n", before: "a", after: "X" },
};

test("an edit is shown as the real CLI makes it", async () => {
  await using family = await startFamily();
  const id = await family.create("worker");
  const cases = Object.entries(CASES).map(([what, one], at) => ({
    what,
    ...one,
    path: join(family.place, `${at}.txt`),
  }));
  for (const { path, text } of cases) writeFileSync(path, text);
  await family.start("worker", [
    { use: cases.map(({ path }) => ({ name: "Read", input: { file_path: path } })) },
    {
      use: cases.map(({ path, before, after, everywhere = false }) => ({
        name: "Edit",
        input: { file_path: path, old_string: before, new_string: after, replace_all: everywhere },
      })),
    },
  ]);
  const decided = new Set<string>();
  await until("every edit to be asked about", async () => {
    const { approvals } = await family.plexus.app.approvals.pending({ kind: "operator" }, id, 100);
    for (const approval of approvals) {
      await family.respond(approval, { approve: true });
      decided.add(approval.id);
    }
    return decided.size === cases.length;
  });
  await family.ended("worker");
  const made = cases.map(({ what, path }) => [what, readFileSync(path, "utf8")]);
  const shown = cases.map(({ what, text, before, after, everywhere = false }) => {
    const edited = editedText(text, [{ before, after, everywhere }]);
    return [what, edited.state === "text" ? edited.text : edited.state];
  });
  expect(shown).toEqual(made);
});
