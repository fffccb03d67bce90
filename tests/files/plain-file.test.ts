import { describe, expect, test } from "bun:test";
import { lstatSync, mkdirSync, renameSync, rmSync, symlinkSync, truncateSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { readPlainFile } from "../../src/files/plain-file.ts";
import { type Found, follow } from "../../src/files/real-path.ts";
import { temporaryDirectory } from "../support/temporary.ts";

const MAX_BYTES = 1_000;

async function inDirectory(body: (at: (name: string) => string) => void) {
  await using directory = await temporaryDirectory();
  body((name) => join(directory.path, name));
}

describe("readPlainFile", () => {
  test("reads a regular file up to the size limit", () =>
    inDirectory((at) => {
      writeFileSync(at("full"), "x".repeat(MAX_BYTES));
      symlinkSync("full", at("link"));
      writeFileSync(at("more"), "x".repeat(MAX_BYTES + 1));
      truncateSync(at("more"), 2 ** 33);
      for (const name of ["full", "link"]) {
        const file = readPlainFile(follow(at(name)), MAX_BYTES);
        expect(file.state === "read" && file.bytes.toString()).toBe("x".repeat(MAX_BYTES));
      }
      expect(readPlainFile(follow(at("more")), MAX_BYTES)).toEqual({
        state: "refused",
        reason: `has ${2 ** 33} bytes, more than 1000`,
      });
      expect(readPlainFile(follow(at("none")), MAX_BYTES)).toEqual({ state: "absent" });
    }));

  test("refuses a pipe, a directory and a path that can't be followed, without waiting", () =>
    inDirectory((at) => {
      Bun.spawnSync(["mkfifo", at("pipe")]);
      mkdirSync(at("folder"));
      symlinkSync("/dev/zero", at("device"));
      const reason = (name: string) => {
        const file = readPlainFile(follow(at(name)), MAX_BYTES);
        return file.state === "refused" && file.reason;
      };
      for (const name of ["pipe", "folder"]) expect(reason(name)).toBe("is not a regular file");
      expect(reason("device")).toStartWith("leads through a link");
    }));

  test("stops at the limit for a file that reports no size and has no end", () => {
    const { dev, ino, size } = lstatSync(`/proc/${process.pid}/maps`, { bigint: true });
    expect(size).toBe(0n);
    const found: Found = { real: `/proc/${process.pid}/maps`, kind: "file", ids: [`${dev}:${ino}`], links: [] };
    expect(readPlainFile(found, MAX_BYTES)).toEqual({ state: "refused", reason: "has more than 1000 bytes" });
  });

  test("refuses a file that has replaced the found one", () =>
    inDirectory((at) => {
      mkdirSync(at("folder"));
      mkdirSync(at("other"));
      for (const name of ["folder/a", "other/a", "b"]) writeFileSync(at(name), "words");
      const swaps: [string, () => void][] = [
        ["another file", () => renameSync(at("b"), at("folder/a"))],
        ["a link", () => symlinkSync(at("other/a"), at("folder/a"))],
        ["a pipe", () => Bun.spawnSync(["mkfifo", at("folder/a")])],
        [
          "a link above it",
          () => {
            rmSync(at("folder"), { recursive: true });
            symlinkSync("other", at("folder"));
          },
        ],
      ];
      for (const [name, swap] of swaps) {
        rmSync(at("folder/a"), { force: true });
        writeFileSync(at("folder/a"), "words");
        const found = follow(at("folder/a"));
        // Kept, so that its inode number is not reused.
        renameSync(at("folder/a"), at("kept"));
        swap();
        expect({ name, ...readPlainFile(found, MAX_BYTES) }).toMatchObject({ name, state: "refused" });
      }
    }));
});
