import { describe, expect, test } from "bun:test";
import { type CommandSpec, commandLine, mcpConfig } from "../../../src/claude/launch/command-line.ts";
import { AppError } from "../../../src/contract/refusals/errors.ts";

const loopback = { type: "http", url: "http://127.0.0.1:4445/mcp" };
const spec: CommandSpec = {
  supervision: "default",
  workingDir: "/work",
  privatePaths: ["/data"],
  mcpConfigFile: "/turn/mcp.json",
  loopback,
};
const settingsIn = (args: string[]) => JSON.parse(args[args.indexOf("--settings") + 1] ?? "");

describe("commandLine", () => {
  test("always streams, never inherits a mode, and asks Plexus", () => {
    expect(commandLine(spec).join(" ")).toStartWith(
      "-p --output-format stream-json --verbose --include-partial-messages --permission-mode default " +
        "--strict-mcp-config --mcp-config /turn/mcp.json --permission-prompt-tool mcp__plexus__loopback_permit",
    );
  });

  test("names no permission tool without a connection to Plexus", () => {
    expect(commandLine({ ...spec, loopback: undefined })).not.toContain("--permission-prompt-tool");
  });

  test("puts each value in one item with its flag", () => {
    const args = commandLine({
      ...spec,
      supervision: "inherit",
      model: "opus",
      systemPromptFile: "/turn/system-prompt",
      allowedTools: ["Bash(git log:*)", "--evil"],
      disallowedTools: ["WebFetch"],
      addDirs: ["/more"],
      maxTurns: 3,
      maxBudgetUsd: 0.000001,
      resume: "an-id",
      forkSession: true,
    });
    expect(args.slice(args.indexOf("--settings") + 2)).toEqual([
      "--model=opus",
      "--append-system-prompt-file=/turn/system-prompt",
      "--allowedTools=Bash(git log:*)",
      "--allowedTools=--evil",
      "--disallowedTools=WebFetch",
      "--add-dir=/more",
      "--max-turns=3",
      "--max-budget-usd=0.000001",
      "--resume=an-id",
      "--fork-session",
    ]);
  });

  test.each(["strict", "default"] as const)(
    "seals a child of %s: every call asks, and no settings are read",
    (supervision) => {
      const args = commandLine({ ...spec, supervision, allowedTools: ["Bash"], addDirs: ["/more"] });
      expect(args).toContain("--setting-sources=");
      expect(settingsIn(args)).toMatchObject({ disableAllHooks: true, permissions: { ask: ["*"] } });
      // The ask rule outranks allowed tools, so Plexus matches them instead.
      expect(args.join(" ")).not.toContain("--allowedTools");
      expect(args.filter((arg) => arg.startsWith("--add-dir"))).toEqual(["--add-dir=/more"]);
      expect(args).toContain("--disable-slash-commands");
    },
  );

  test("gives a child that can't ask no ask rule, and leaves its allowed tools to the CLI", () => {
    const args = commandLine({ ...spec, loopback: undefined, allowedTools: ["Read"] });
    expect(settingsIn(args).permissions.ask).toBeUndefined();
    expect(args).toContain("--allowedTools=Read");
    expect(args).toContain("--setting-sources=");
  });

  test.each(["strict", "default", "inherit"] as const)(
    "denies private paths, their copies and tools that reach other sessions (%s)",
    (supervision) => {
      expect(settingsIn(commandLine({ ...spec, supervision })).permissions.deny).toEqual(
        expect.arrayContaining([
          ...["Read(//data)", "Edit(//data)", "Read(//data/**)", "Edit(//data/**)"],
          ...["Read(//data.*)", "Edit(//data.*)", "Send*", "ListAgents"],
        ]),
      );
    },
  );

  test("tells a CLI that keeps the first system prompt to use the current one in each turn", () => {
    const kept = "--system-prompt-snapshot=off";
    for (const claudeVersion of ["2.1.257", "2.1.325", "3.0.0"]) {
      expect(commandLine({ ...spec, claudeVersion })).toContain(kept);
    }
    for (const claudeVersion of [undefined, "2.1.197", "2.1.252"]) {
      expect(commandLine({ ...spec, claudeVersion })).not.toContain(kept);
    }
  });

  test("refuses arguments that no process can be started with", () => {
    expect(() => commandLine({ ...spec, disallowedTools: ["x".repeat(130_000)] })).toThrow(
      /--disallowedTools .* 120000 fit/,
    );
    expect(() => commandLine({ ...spec, model: "a\0b" })).toThrow("--model for Claude Code must not contain a NUL");
  });
});

describe("mcpConfig", () => {
  test("adds the session's servers to Plexus", () => {
    const other = { command: "other" };
    expect(mcpConfig({ loopback, mcpServers: { other } })).toEqual({ mcpServers: { other, plexus: loopback } });
  });

  test("has no entry for Plexus without a connection to it", () => {
    expect(mcpConfig({})).toEqual({ mcpServers: {} });
  });

  test("refuses a server called plexus", () => {
    for (const name of ["plexus", "Plexus"]) {
      expect(() => mcpConfig({ loopback, mcpServers: { [name]: {} } })).toThrow(AppError);
    }
  });
});
