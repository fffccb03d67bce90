import { describe, expect, setDefaultTimeout, test } from "bun:test";
import { chmodSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { claudeVersion } from "../../src/claude/cli-version.ts";
import { CLAUDE } from "../support/claude/claude.ts";
import { temporaryDirectory } from "../support/temporary.ts";

setDefaultTimeout(30_000);

describe("claudeVersion", () => {
  test("returns the version of the real CLI", async () => {
    expect(await claudeVersion(CLAUDE)).toEqual({ version: "2.1.325" });
  });

  test.each([
    ["a CLI that is too old", 'echo "2.1.196 (Claude Code)"', 0o755, "needs 2.1.197 or newer: update it"],
    ["another program", "echo hello", 0o755, "is not the Claude Code CLI"],
    ["a file that can't be run", "true", 0o644, "make it executable"],
    ["a program that never answers", "exec tail -f /dev/null", 0o755, "did not print its version"],
  ])("says what to do about %s", async (_, body, mode, message) => {
    await using directory = await temporaryDirectory();
    const path = join(directory.path, "claude");
    writeFileSync(path, `#!/bin/sh\n${body}\n`);
    chmodSync(path, mode);
    expect(await claudeVersion(path, { timeoutMs: 500 })).toEqual({ problem: expect.stringContaining(message) });
  });

  test("says what to do about a path that does not exist", async () => {
    expect(await claudeVersion("/nowhere/claude")).toEqual({ problem: expect.stringContaining("can't be run") });
  });

  test("accepts the oldest supported version and newer ones", async () => {
    await using directory = await temporaryDirectory();
    for (const version of ["2.1.197", "2.10.0", "3.0.0"]) {
      const path = join(directory.path, version);
      writeFileSync(path, `#!/bin/sh\necho "${version} (Claude Code)"\n`, { mode: 0o755 });
      expect(await claudeVersion(path)).toEqual({ version });
    }
  });
});
