import { afterAll, describe, expect, setDefaultTimeout, test } from "bun:test";
import { existsSync, mkdirSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { bypassingSettings } from "../../../src/claude/settings/bypassing-settings.ts";
import { script, startScriptedModel } from "../../support/model/scripted-model.ts";
import { temporaryDirectory } from "../../support/temporary.ts";
import { withPlace } from "../child.ts";
import { startPermitStub } from "../mcp-stub.ts";

setDefaultTimeout(60_000);

const model = startScriptedModel();
afterAll(() => model[Symbol.asyncDispose]());

const ALLOW = JSON.stringify({ permissions: { allow: ["Bash"] } });
const DECISION = { hookSpecificOutput: { hookEventName: "PreToolUse", permissionDecision: "allow" } };
const HOOK = { matcher: "*", hooks: [{ type: "command", command: `echo '${JSON.stringify(DECISION)}'` }] };

/** Settings that keep the real CLI from asking Plexus, and the names under which they are reported. */
const SILENCING: [string, string | Uint8Array, string][] = [
  ["allow rules", ALLOW, "permissions.allow"],
  ["allow rules behind a byte order mark", `\ufeff${ALLOW}`, "permissions.allow"],
  ["allow rules in UTF-16", Buffer.from(`\ufeff${ALLOW}`, "utf16le"), "permissions.allow"],
  ["a hook that allows", JSON.stringify({ hooks: { PreToolUse: [HOOK] } }), "hooks.PreToolUse"],
];

describe("inherited settings that keep the CLI from asking Plexus", () => {
  test.each(SILENCING)("are found: %s", (_, text, setting) =>
    withPlace(async (place, start) => {
      const { home, workingDir } = place;
      const file = join(home, ".claude", "settings.json");
      writeFileSync(file, text);
      await using permit = startPermitStub("deny");
      const call = { name: "Bash", input: { command: "touch made", description: "makes it" } };
      const prompt = script([{ use: [call] }, { say: "done" }]);
      await start({ model, supervision: "inherit", loopback: permit.entry, prompt }).outcome();
      expect({ asked: permit.calls.length, ran: existsSync(join(workingDir, "made")) }).toEqual({
        asked: 0,
        ran: true,
      });
      expect(bypassingSettings({ home, env: {}, workingDir })).toMatchObject([{ file, origin: "user", setting }]);
    }),
  );
});

describe("bypassingSettings", () => {
  test.each<[string, object, string[]]>([
    [
      "a sandbox whose commands run without asking",
      { sandbox: { enabled: true } },
      ["sandbox.autoAllowBashIfSandboxed"],
    ],
    ["a sandbox whose commands are asked about", { sandbox: { enabled: true, autoAllowBashIfSandboxed: false } }, []],
    ["no sandbox", { sandbox: { enabled: false, autoAllowBashIfSandboxed: true } }, []],
    [
      "both hooks that decide",
      { hooks: { PermissionRequest: [HOOK], PreToolUse: [HOOK] } },
      ["hooks.PreToolUse", "hooks.PermissionRequest"],
    ],
    ["hooks that decide nothing", { hooks: { PostToolUse: [HOOK], PreToolUse: [] } }, []],
    ["what is no setting", { hooks: 7, sandbox: 7, permissions: { allow: "Bash", defaultMode: 5 } }, []],
  ])("finds what bypasses Plexus in %s", async (_, settings, expected) => {
    await using directory = await temporaryDirectory();
    mkdirSync(join(directory.path, ".claude"));
    writeFileSync(join(directory.path, ".claude", "settings.json"), JSON.stringify(settings));
    const found = bypassingSettings({ home: "/nonexistent", env: {}, workingDir: directory.path });
    expect(found.map(({ setting }) => setting)).toEqual(expected);
  });

  test.each<[string, (path: string) => void]>([
    ["a pipe", (path) => void Bun.spawnSync(["mkfifo", path])],
    ["a device without end", (path) => symlinkSync("/dev/zero", path)],
    ["a file of a process without end", (path) => symlinkSync("/proc/self/pagemap", path)],
    ["a link that leads elsewhere for Claude Code", (path) => symlinkSync("/proc/self/cwd/x.json", path)],
    ["a file that is too large", (path) => writeFileSync(path, `{"x":"${"y".repeat(2_000_000)}"}`)],
  ])("reports %s at once, since Claude Code may be able to read it", async (_, plant) => {
    await using directory = await temporaryDirectory();
    const file = join(directory.path, ".claude", "settings.json");
    mkdirSync(join(directory.path, ".claude"));
    plant(file);
    const found = bypassingSettings({ home: "/nonexistent", env: {}, workingDir: directory.path });
    expect(found).toMatchObject([{ file, origin: "project", setting: "something unreadable" }]);
  });
});
