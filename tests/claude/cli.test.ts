import { describe, expect, test } from "bun:test";
import { readFileSync, renameSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { createClaudeCli } from "../../src/claude/cli.ts";
import { type TemporaryDirectory, temporaryDirectory } from "../support/temporary.ts";

/** A program that counts its runs, and prints that it is Claude Code of this version. */
function install(directory: TemporaryDirectory, version: string): string {
  const path = join(directory.path, "claude");
  const lines = ["#!/bin/sh", `echo >>"${directory.path}/runs"`, `echo "${version} (Claude Code)"`, ""];
  writeFileSync(`${path}.new`, lines.join("\n"), { mode: 0o755 });
  renameSync(`${path}.new`, path);
  return path;
}

const runs = (directory: TemporaryDirectory) => readFileSync(join(directory.path, "runs"), "utf8").length;
const nowhere = { path: "", home: "/nowhere" };

describe("the Claude Code CLI of this machine", () => {
  test("is asked for its version once, however often it is needed", async () => {
    await using directory = await temporaryDirectory();
    const claude = install(directory, "2.1.325");
    const cli = createClaudeCli({ ...nowhere, claude });
    const found = { path: claude, version: "2.1.325" };
    expect(await Promise.all([cli.require(), cli.require(), cli.look()])).toEqual([found, found, found]);
    await cli.require();
    expect(runs(directory)).toBe(1);
  });

  test("is asked for its version again after an update", async () => {
    await using directory = await temporaryDirectory();
    const cli = createClaudeCli({ ...nowhere, claude: install(directory, "2.1.325") });
    await cli.require();
    install(directory, "2.2.0");
    expect(await cli.look()).toMatchObject({ version: "2.2.0" });
    expect(runs(directory)).toBe(2);
  });

  test("is refused when it is too old, and accepted once it is updated", async () => {
    await using directory = await temporaryDirectory();
    const claude = install(directory, "2.0.0");
    const cli = createClaudeCli({ ...nowhere, claude });
    expect(cli.require()).rejects.toThrow("update it");
    await cli.require().catch(() => {});
    install(directory, "2.1.325");
    expect(await cli.require()).toEqual({ path: claude, version: "2.1.325" });
  });

  test.each([
    [undefined, "claude was not found on PATH or in the usual places"],
    ["/nowhere/claude", "/nowhere/claude is not an executable file"],
  ])("is reported as missing when it is missing (%s)", async (claude, message) => {
    const found = await createClaudeCli({ ...nowhere, claude }).look();
    expect(found).toMatchObject({ problem: `${message}: install Claude Code, or name it with --claude.` });
  });
});
