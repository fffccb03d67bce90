import { heapStats } from "bun:jsc";
import { describe, expect, setDefaultTimeout, test } from "bun:test";
import { appendFileSync, closeSync, openSync, renameSync, writeFileSync, writeSync } from "node:fs";
import { filesIn } from "../../../src/claude/launch/launch.ts";
import type { OutputLine } from "../../../src/claude/output/line-splitter.ts";
import { readOutput } from "../../../src/claude/output/output.ts";
import { createParser } from "../../../src/claude/output/parser.ts";
import { temporaryDirectory } from "../../support/temporary.ts";
import { until } from "../../support/until.ts";

setDefaultTimeout(60_000);

describe("readOutput", () => {
  test("yields each line with the offset after it, and continues from any of these offsets", () =>
    withOutput(async ({ dir, write, end }) => {
      write("one\nzwö🙂\n\nlast");
      end();
      const lines = await all(readOutput(dir, 0));
      expect(lines).toEqual([
        { line: "one", offset: 4 },
        { line: "zwö🙂", offset: 13 },
        { line: "", offset: 14 },
        { line: "last", offset: 18 },
      ]);
      for (const [at, { offset }] of lines.entries()) {
        expect(await all(readOutput(dir, offset))).toEqual(lines.slice(at + 1));
      }
    }));

  test("follows a file that grows by parts of lines and characters, until the exit code is written", () =>
    withOutput(async ({ dir, write, end }) => {
      const read: OutputLine[] = [];
      const reading = collect(readOutput(dir, 0), read);
      const smile = Buffer.from("🙂");
      write("a");
      write(smile.subarray(0, 2));
      write(smile.subarray(2));
      write("\nb\n");
      await until("two lines", () => read.length === 2);
      write("c\n");
      end();
      await reading;
      expect(read.map(({ line }) => line)).toEqual(["a🙂", "b", "c"]);
    }));

  test("returns when a child has ended without an exit code, after all is read", () =>
    withOutput(async ({ dir, write }) => {
      write("x\n".repeat(3_000_000));
      expect((await all(readOutput(dir, 0, { isOver: () => true }))).length).toBe(3_000_000);
    }));

  test("returns when it is aborted", () =>
    withOutput(async ({ dir }) => {
      const aborting = new AbortController();
      const reading = all(readOutput(dir, 0, { signal: aborting.signal }));
      aborting.abort();
      expect(await reading).toEqual([]);
    }));

  test("yields nothing when there is no output", async () => {
    await using directory = await temporaryDirectory();
    expect(await all(readOutput(directory.path, 0))).toEqual([]);
  });

  test("replaces broken UTF-8", () =>
    withOutput(async ({ dir, write, end }) => {
      write(Buffer.from([0x61, 0xff, 0xfe, 0x62, 10]));
      end();
      expect(await all(readOutput(dir, 0))).toEqual([{ line: "a\ufffd\ufffdb", offset: 5 }]);
    }));

  test("yields an oversized line in pieces of whole characters, and continues after it", () =>
    withOutput(async ({ dir, write, end }) => {
      const long = "a€🙂".repeat(3_000_000);
      write(`before\n${long}\nbehind\n`);
      end();
      const lines = await all(readOutput(dir, 0));
      expect([lines.at(0), lines.at(-1)].map((read) => read?.line)).toEqual(["before", "behind"]);
      const pieces = lines.slice(1, -1);
      expect(pieces.map(isFirst)).toEqual([true, ...pieces.slice(1).map(() => false)]);
      expect(Bun.hash(textOf(pieces))).toBe(Bun.hash(long));
      for (const at of [1, 7, pieces.length]) {
        const rest = await all(readOutput(dir, lines[at]?.offset ?? 0));
        expect(rest.some(isFirst)).toBe(false);
        expect(Bun.hash(textOf(rest))).toBe(Bun.hash(textOf(lines.slice(at + 1))));
      }
    }));

  test("yields two oversized lines in a row, the last without a newline", () =>
    withOutput(async ({ dir, write, end }) => {
      write(`${"x".repeat(20_000_000)}\n${"y".repeat(20_000_000)}`);
      end();
      const pieces = await all(readOutput(dir, 0));
      expect(pieces.filter(isFirst)).toHaveLength(2);
      expect(Bun.hash(textOf(pieces))).toBe(Bun.hash("x".repeat(20_000_000) + "y".repeat(20_000_000)));
      expect(pieces.at(-1)?.offset).toBe(40_000_001);
    }));

  test("yields tiny lines in small batches, so that others are not blocked", () =>
    withOutput(async ({ dir, write, end }) => {
      write("{}\n".repeat(100_000));
      end();
      const sizes: number[] = [];
      for await (const batch of readOutput(dir, 0)) sizes.push(batch.length);
      expect(sizes.reduce((sum, size) => sum + size)).toBe(100_000);
      expect(Math.max(...sizes)).toBeLessThanOrEqual(5_000);
    }));

  test("reads and parses 200 MB of endless lines, garbage and deltas with flat memory", async () => {
    await using directory = await temporaryDirectory();
    const { stdout, exit } = filesIn(directory.path);
    const delta = {
      type: "stream_event",
      event: { type: "content_block_delta", index: 0, delta: { type: "text_delta", text: "word " } },
    };
    const deltas = Buffer.from(`${JSON.stringify(delta)}\n`.repeat(8_000));
    const fd = openSync(stdout, "w", 0o600);
    for (let round = 0; round < 2; round++) {
      for (let count = 0; count < 50; count++) writeSync(fd, Buffer.alloc(1_000_000, 0xff));
      writeSync(fd, "\n");
      for (let count = 0; count < 45; count++) writeSync(fd, deltas);
    }
    closeSync(fd);
    writeFileSync(exit, "0\n");
    const parser = createParser();
    const before = liveBytes();
    let peak = before;
    const look = () => {
      peak = Math.max(peak, liveBytes());
    };
    // An endless line is buffered between two batches, so measure there as well.
    const looking = setInterval(look, 10);
    let words = 0;
    let replaced = 0;
    for await (const batch of readOutput(directory.path, 0)) {
      const events = [...batch.flatMap(({ line }) => parser.push(line).events), ...parser.flush()];
      for (const event of events) {
        if (event.type === "content") words += event.text.length / 5;
        else replaced += /\ufffd+/.exec(JSON.stringify(event))?.[0].length ?? 0;
      }
    }
    clearInterval(looking);
    look();
    expect({ words, replaced }).toEqual({ words: 720_000, replaced: 100_000_000 });
    expect((peak - before) / 1e6).toBeLessThan(60);
  });
});

/** The heap size after a collection. The process's size would depend on earlier tests. */
function liveBytes(): number {
  Bun.gc(true);
  const { heapSize, extraMemorySize } = heapStats();
  return heapSize + extraMemorySize;
}

const isFirst = ({ line }: OutputLine) => typeof line !== "string" && line.isFirst;

function textOf(lines: OutputLine[]): string {
  return lines.map(({ line }) => (typeof line === "string" ? line : line.piece)).join("");
}

async function withOutput(
  body: (output: { dir: string; write(bytes: string | Buffer): void; end(): void }) => Promise<void>,
): Promise<void> {
  await using directory = await temporaryDirectory();
  const { stdout, exit } = filesIn(directory.path);
  writeFileSync(stdout, "", { mode: 0o600 });
  await body({
    dir: directory.path,
    write: (bytes) => appendFileSync(stdout, bytes),
    end() {
      writeFileSync(`${exit}.tmp`, "0\n");
      renameSync(`${exit}.tmp`, exit);
    },
  });
}

async function all(batches: AsyncIterable<OutputLine[]>): Promise<OutputLine[]> {
  const lines: OutputLine[] = [];
  await collect(batches, lines);
  return lines;
}

async function collect(batches: AsyncIterable<OutputLine[]>, into: OutputLine[]): Promise<void> {
  for await (const batch of batches) for (const line of batch) into.push(line);
}
