import { describe, expect, setDefaultTimeout, test } from "bun:test";
import { chmodSync, existsSync, mkdirSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { z } from "zod";
import { readServerFile } from "../../../src/cli/server/server-file.ts";
import { listApprovals } from "../../../src/contract/routes/approvals.ts";
import { listSessions } from "../../../src/contract/routes/sessions.ts";
import { CLAUDE } from "../../support/claude/claude.ts";
import { endRun, isRunning, RUN_MARKER, survivors } from "../../support/processes/processes.ts";
import { plexusBinary } from "../../support/server/binary.ts";
import { PROGRAM } from "../../support/server/program.ts";
import { temporaryDirectory } from "../../support/temporary.ts";
import { until } from "../../support/until.ts";
import { type CommandOptions, plexus, plexusOnScreen } from "../support/command.ts";
import { openPlace } from "../support/place.ts";

setDefaultTimeout(120_000);

const STEPS = ["ask", "allow", "deny", "edit"];
const Report = z.strictObject({
  type: z.literal("ok"),
  healthy: z.boolean(),
  findings: z.array(
    z.strictObject({
      step: z.string(),
      state: z.enum(["ok", "warning", "failed", "skipped"]),
      says: z.string(),
      remedy: z.string().optional(),
    }),
  ),
});

/** The state of each step. */
async function examined(args: string[], options: CommandOptions = {}) {
  const { exitCode, stdout } = await plexus(["doctor", "--json", ...args], options);
  const { healthy, findings } = Report.parse(JSON.parse(stdout));
  const states = Object.fromEntries(findings.map(({ step, state }) => [step, state]));
  return { exitCode, healthy, states, findings };
}

/** A folder for temporary files of one test, and a look at what the doctor left there. */
function ownScratch(place: { scratch: string }) {
  const TMPDIR = join(place.scratch, "tmp");
  mkdirSync(TMPDIR);
  return { TMPDIR, left: () => readdirSync(TMPDIR).filter((name) => name.startsWith("plexus-doctor-")) };
}
const nobody = ["--url", "http://127.0.0.1:1"];

describe("plexus doctor", () => {
  test("proves with the user's claude that decisions count, and leaves nothing on the running server", async () => {
    await using place = await openPlace();
    const figures = async () =>
      (await (await place.api.fetch("/metrics", {})).text()).match(/^plexus_(approval|session|turn).*$/gm);
    const before = await figures();
    const home = join(place.scratch, "home");
    mkdirSync(home);
    const { TMPDIR, left } = ownScratch(place);
    const env = { HOME: home, TMPDIR };
    const { exitCode, stdout, stderr } = await place.plexus(["doctor", "--claude", CLAUDE], { env });
    const marks = stdout
      .trimEnd()
      .split("\n")
      .map((line) => line.split(/ {2,}/)[0]);
    const passed = (...steps: string[]) => steps.map((step) => `✓ ${step}`);
    const looked = [...passed("data dir", "server", "token"), "- push", ...passed("claude", "settings", ...STEPS)];
    expect({ exitCode, marks, stderr }).toEqual({ exitCode: 0, marks: [...looked, "Everything works."], stderr: "" });
    expect(await place.api.call(listSessions)).toMatchObject({ sessions: [] });
    expect(await place.api.call(listApprovals)).toMatchObject({ approvals: [] });
    expect(before).not.toEqual([]);
    expect(await figures()).toEqual(before);
    // From source, Bun stores compiled files there.
    expect({ home: readdirSync(home).filter((name) => name !== ".bun"), left: left() }).toEqual({
      home: [],
      left: [],
    });
  });

  test("starts a server for itself where none runs: the binary, in an empty home", async () => {
    await using directory = await temporaryDirectory();
    const program = [await plexusBinary()];
    const env = { HOME: directory.path, PLEXUS_PORT: "0" };
    const { exitCode, healthy, states } = await examined(["--claude", CLAUDE], { program, env });
    const all = ["data dir", "port", "server", "token", "claude", "settings", ...STEPS];
    expect(states).toEqual(Object.fromEntries(all.map((step) => [step, "ok"])));
    expect({ exitCode, healthy, home: readdirSync(directory.path) }).toEqual({ exitCode: 0, healthy: true, home: [] });
  });

  test.each<[string, object]>([
    ["permissions.denyInsteadOfPrompting", { permissions: { denyInsteadOfPrompting: true } }],
    ["hooks.PreToolUse", { hooks: { PreToolUse: [{ hooks: [{ type: "command", command: "true" }] }] } }],
    ["hooks.PermissionRequest", { hooks: { PermissionRequest: [{ hooks: [{ type: "command", command: "true" }] }] } }],
    ['permissions.defaultMode "auto"', { permissions: { defaultMode: "auto" } }],
  ])("warns of %s in the user's settings, and fails where an administrator set it", async (setting, settings) => {
    await using place = await openPlace();
    const file = join(place.scratch, ".claude", "settings.json");
    mkdirSync(join(place.scratch, ".claude"));
    writeFileSync(file, JSON.stringify(settings));
    const lookAt = async (env: Record<string, string>) => {
      const { findings } = await examined([...nobody, "--claude", join(place.scratch, "none")], { env });
      return findings.find(({ step }) => step === "settings");
    };
    const says = expect.stringContaining(`${setting} in ${file}: `);
    const ofUser = await lookAt({ HOME: place.scratch });
    expect(ofUser).toMatchObject({ state: "warning", says, remedy: expect.stringContaining("plexus configure") });
    const managed = await lookAt({ HOME: place.dataDir, CLAUDE_CODE_MANAGED_SETTINGS_PATH: file });
    expect(managed).toMatchObject({ state: "failed", says, remedy: expect.stringContaining("administers") });
  });

  test("warns of allow rules, which count where the user's settings do", async () => {
    await using place = await openPlace();
    mkdirSync(join(place.scratch, ".claude"));
    const settings = { permissions: { allow: ["Bash(touch *)"] } };
    writeFileSync(join(place.scratch, ".claude", "settings.json"), JSON.stringify(settings));
    const args = [...nobody, "--claude", join(place.scratch, "none")];
    const { findings } = await examined(args, { env: { HOME: place.scratch } });
    const says = expect.stringContaining("permissions.allow in ");
    expect(findings.find(({ step }) => step === "settings")).toMatchObject({ state: "warning", says });
  });

  test("warns where Claude Code knows Plexus, and would hide its tools until its model searches for them", async () => {
    await using directory = await temporaryDirectory();
    const file = join(directory.path, ".claude.json");
    const lookAt = async (entry: object | undefined) => {
      writeFileSync(file, JSON.stringify({ mcpServers: { plexus: entry } }));
      const { findings } = await examined([...nobody, "--claude", "/nonexistent"], { env: { HOME: directory.path } });
      return findings.find(({ step }) => step === "parent");
    };
    const server = { type: "http", url: "http://127.0.0.1:4445/mcp" };
    const remedy = expect.stringContaining("plexus connect claude");
    expect(await lookAt(server)).toMatchObject({ state: "warning", says: expect.stringContaining(file), remedy });
    for (const entry of [{ ...server, alwaysLoad: true }, { ...server, alwaysLoad: false }, undefined])
      expect(await lookAt(entry)).toBeUndefined();
  });

  test("warns of settings that it can't read, and neither waits for them nor reads them without end", async () => {
    await using directory = await temporaryDirectory();
    const file = join(directory.path, ".claude", "settings.json");
    mkdirSync(join(directory.path, ".claude"));
    Bun.spawnSync(["mkfifo", file]);
    symlinkSync("/dev/zero", join(directory.path, ".claude", "settings.local.json"));
    const says = expect.stringContaining(`something unreadable in ${file}: it is not a regular file`);
    for (const options of [{ cwd: directory.path }, { env: { CLAUDE_CODE_MANAGED_SETTINGS_PATH: file } }]) {
      const { findings } = await examined([...nobody, "--claude", "/nonexistent"], options);
      expect(findings.find(({ step }) => step === "settings")).toMatchObject({ state: "warning", says });
    }
  });

  test("says what to do when there is no claude, and does not try what needs it", async () => {
    await using place = await openPlace();
    const args = ["--data-dir", place.dataDir, "--claude", join(place.scratch, "none")];
    const { exitCode, healthy, states, findings } = await examined(args);
    expect({ exitCode, healthy }).toEqual({ exitCode: 1, healthy: false });
    expect(states).toMatchObject({ server: "ok", token: "ok", claude: "failed", ask: "skipped", edit: "skipped" });
    expect(findings.find(({ step }) => step === "claude")?.remedy).toContain("nstall Claude Code");
  });

  test("tells what a claude said that ended without asking", async () => {
    await using place = await openPlace();
    const claude = standIn(place.scratch, 'echo "the moon is in the wrong house" >&2; exit 1');
    const { exitCode, stdout } = await place.plexus(["doctor", "--claude", claude]);
    expect(stdout).toContain("✗ ask       The child ended before it asked: the moon is in the wrong house\n");
    expect(stdout).toContain(`→ See whether \`${claude} -p hello\` works`);
    expect(exitCode).toBe(1);
  });

  test("finds a port that another program has", async () => {
    await using directory = await temporaryDirectory();
    const other = Bun.serve({ hostname: "127.0.0.1", port: 0, fetch: () => new Response("hello") });
    const env = { PLEXUS_PORT: String(other.port), PLEXUS_DATA_DIR: join(directory.path, "data") };
    const { states, findings } = await examined(["--claude", "/nonexistent"], { env });
    await other.stop(true);
    expect(states).toMatchObject({ "data dir": "ok", port: "failed", server: "ok", token: "ok" });
    expect(findings.find(({ step }) => step === "port")?.remedy).toContain("PLEXUS_PORT");
  });

  test("finds a data dir that is none, a token that others can read, and one that the server does not take", async () => {
    await using place = await openPlace();
    const file = join(place.scratch, "file");
    writeFileSync(file, "");
    expect((await examined(["--data-dir", file, "--claude", file])).states).toMatchObject({ "data dir": "failed" });
    const token = "some-token-of-another-server";
    const refused = await examined(["--data-dir", place.dataDir, "--claude", file], { env: { PLEXUS_TOKEN: token } });
    expect(refused.states).toMatchObject({ "data dir": "ok", server: "ok", token: "failed", ask: "skipped" });
    chmodSync(join(place.dataDir, "operator-token"), 0o644);
    const readable = await examined(["--data-dir", place.dataDir, "--claude", file]);
    expect(readable.findings[0]).toMatchObject({ step: "data dir", state: "failed" });
    expect(readable.findings[0]?.remedy).toContain("chmod 600");
  });

  test("starts no server in place of one that it was told of", async () => {
    const { exitCode, states } = await examined([...nobody, "--claude", "/nonexistent"]);
    expect(states).toMatchObject({ server: "failed", token: "skipped", ask: "skipped" });
    expect(exitCode).toBe(1);
  });

  test("takes its child along when it is stopped", async () => {
    await using place = await openPlace();
    const note = join(place.scratch, "pid");
    const claude = standIn(place.scratch, `echo $$ >${note}.new; mv ${note}.new ${note}; exec sleep 1000`);
    const { TMPDIR, left } = ownScratch(place);
    const args = ["doctor", "--claude", claude, "--data-dir", place.dataDir];
    await using screen = plexusOnScreen(args, { env: { TMPDIR } });
    await until("the child to run", () => existsSync(note));
    expect(left()).toHaveLength(1);
    screen.type("\u0003");
    expect(await screen.exited).toBe(1);
    expect(screen.text()).toContain("plexus: Stopped before the end.");
    expect(existsSync(`/proc/${readFileSync(note, "utf8").trim()}`)).toBe(false);
    expect(await place.api.call(listSessions)).toMatchObject({ sessions: [] });
    expect(left()).toEqual([]);
  });
});

describe("plexus doctor with a server of its own, when it is stopped", () => {
  const SILENT = "exec sleep 1000";
  const moments: [string, string][] = [
    ["a claude does not tell its version", `NOTE; ${SILENT}`],
    ["a claude does not end after its calls", `${CLAUDE} "$@"; [ "$1" = --version ] || { NOTE; ${SILENT}; }`],
  ];

  /** Runs until the claude has written its note. */
  async function startDoctor(script: string) {
    await using stack = new AsyncDisposableStack();
    const scratch = stack.use(await temporaryDirectory()).path;
    const [runId, note, claude] = [crypto.randomUUID(), join(scratch, "note"), join(scratch, "claude")];
    writeFileSync(claude, `#!/bin/sh\n${script.replace("NOTE", `touch ${note}`)}\n`, { mode: 0o755 });
    const env = { PATH: process.env["PATH"], HOME: scratch, TMPDIR: scratch, PLEXUS_PORT: "0", [RUN_MARKER]: runId };
    const command = [...PROGRAM, "doctor", "--claude", claude];
    stack.defer(() => endRun(runId));
    const doctor = Bun.spawn(command, { cwd: "/", env, stdio: ["ignore", "ignore", "ignore"] });
    await until("claude to leave its note", () => existsSync(note));
    const made = () => readdirSync(scratch).filter((name) => name.startsWith("plexus-doctor-"));
    const server = readServerFile(join(scratch, made()[0] ?? "", "data"));
    if (!server) throw new Error("doctor has started no server");
    const owned = stack.move();
    return { doctor, runId, server, made, [Symbol.asyncDispose]: () => owned.disposeAsync() };
  }

  describe.each(moments)("while %s", (_, script) => {
    test.each(["SIGTERM", "SIGINT"] as const)("ends at once with %s, and leaves nothing", async (name) => {
      await using run = await startDoctor(script);
      run.doctor.kill(name);
      await until("doctor to end", () => run.doctor.exitCode !== null, 8_000);
      expect({ exitCode: run.doctor.exitCode, left: survivors(run.runId), made: run.made() }).toEqual({
        exitCode: 1,
        left: [],
        made: [],
      });
    });
  });

  test("takes its server along with kill -9", async () => {
    await using run = await startDoctor(`NOTE; ${SILENT}`);
    run.doctor.kill("SIGKILL");
    await until("its server to end", () => !isRunning(run.server.pid));
  });
});

/** An executable that reports the version of a good Claude Code, then runs the script. */
function standIn(directory: string, script: string): string {
  const path = join(directory, "claude");
  const version = 'if [ "$1" = --version ]; then echo "2.1.325 (Claude Code)"; exit; fi';
  writeFileSync(path, `#!/bin/sh\n${version}\n${script}\n`, { mode: 0o755 });
  return path;
}
