import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { createLineSplitter, type OutputLine } from "../../../src/claude/output/line-splitter.ts";

const LIMITS = { lineBytes: 8, pieceBytes: 5 };

/** Short and long lines of characters of every length. */
const character = fc.constantFrom("\n", ..."abcdefgh", "ü", "€", "🙂");
const text = fc.array(character, { maxLength: 60, size: "max" }).map((characters) => characters.join(""));
const broken = fc.uint8Array({ maxLength: 3 });
const bytes = fc
  .array(
    fc.oneof(
      character.map((one) => Buffer.from(one)),
      broken,
    ),
    { maxLength: 60, size: "max" },
  )
  .map((parts) => Buffer.concat(parts));
const chunkSizes = fc.array(fc.integer({ min: 1, max: 9 }), { minLength: 1, maxLength: 20 });

describe("createLineSplitter", () => {
  test("yields the same lines wherever the bytes are cut", () => {
    fc.assert(
      fc.property(bytes, chunkSizes, (output, sizes) => {
        expect(rejoined(split(output, sizes))).toEqual(linesOf(output.toString("utf8")));
      }),
      { numRuns: 500 },
    );
  });

  test("continues after any yielded line or piece", () => {
    fc.assert(
      fc.property(text, chunkSizes, (written, sizes) => {
        const output = Buffer.from(written);
        const given = split(output, sizes);
        for (const [index, { offset }] of given.entries()) {
          const isInside = output[offset - 1] !== 10;
          const rest = split(output.subarray(offset), sizes, offset, isInside);
          const both = [...given.slice(0, index + 1), ...rest];
          expect(rejoined(both)).toEqual(linesOf(written));
        }
      }),
      { numRuns: 500 },
    );
  });

  test("buffers at most one line of the maximum length", () => {
    const splitter = createLineSplitter(0, false, LIMITS);
    for (let round = 0; round < 100; round++) {
      const pieces = [...splitter.push(Buffer.from("12345"))];
      if (round > 1) expect(pieces.map(textOf).join("")).toBe("12345");
    }
  });
});

function split(output: Buffer, sizes: number[], fromOffset = 0, isInside = false): OutputLine[] {
  const splitter = createLineSplitter(fromOffset, isInside, LIMITS);
  const lines: OutputLine[] = [];
  for (let start = 0, round = 0; start < output.length; round++) {
    const size = sizes[round % sizes.length] ?? 1;
    lines.push(...splitter.push(Buffer.from(output.subarray(start, start + size))));
    start += size;
  }
  return [...lines, ...splitter.end()];
}

/** The lines, with pieces joined. */
function rejoined(given: OutputLine[]): string[] {
  const lines: string[] = [];
  for (const read of given) {
    const isContinued = typeof read.line !== "string" && !read.line.isFirst;
    if (isContinued) lines.push((lines.pop() ?? "") + textOf(read));
    else lines.push(textOf(read));
  }
  return lines;
}

function textOf({ line }: OutputLine): string {
  return typeof line === "string" ? line : line.piece;
}

function linesOf(text: string): string[] {
  const lines = text.split("\n");
  return lines.at(-1) === "" ? lines.slice(0, -1) : lines;
}
