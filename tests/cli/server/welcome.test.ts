import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from "bun:test";
import { readFileSync } from "node:fs";
import { mkdir } from "node:fs/promises";
import { delimiter, dirname, join } from "node:path";
import { z } from "zod";
import { signIn as redeemCode } from "../../../src/contract/routes/sign-in.ts";
import { ROOT } from "../../readme/readme.ts";
import { CLAUDE } from "../../support/claude/claude.ts";
import { plexusBinary } from "../../support/server/binary.ts";
import { type TemporaryDirectory, temporaryDirectory } from "../../support/temporary.ts";
import { type CommandOptions, pasted, plexus, plexusOnScreen, type Screen } from "../support/command.ts";

setDefaultTimeout(60_000);

const TOKEN = "a-token-that-is-in-the-environment";
const ClaudeSettings = z.object({
  mcpServers: z.object({
    plexus: z.looseObject({ type: z.string(), url: z.string() }),
  }),
});

let directory: TemporaryDirectory;
let home: string;
beforeAll(async () => {
  directory = await temporaryDirectory();
  home = join(directory.path, "home");
  await mkdir(home);
});
afterAll(() => directory[Symbol.asyncDispose]());

/** A path that needs quoting in a shell. */
const awkward = () => join(directory.path, crypto.randomUUID(), "it's a $(data) dir");

async function served(args: string[], options: CommandOptions & { columns?: number } = {}) {
  const screen = plexusOnScreen(["serve", "--port", "0", ...args], options);
  await screen.shows("Stop with Ctrl-C.");
  return screen;
}

/** The only line of the screen with this word in it. */
function lineWith(word: string, screen: Screen): string {
  const lines = screen.text().split(/\r?\n/);
  const [line, ...others] = lines.filter((candidate) => candidate.includes(word));
  expect(others).toEqual([]);
  return line?.trim() ?? "";
}

function urlOn(screen: Screen): string {
  return /http:\/\/127\.0\.0\.1:\d+/.exec(screen.text())?.[0] ?? "";
}

/** Pastes the line that adds Plexus, with --yes, and reads the settings that Claude Code wrote. */
async function addToClaude(screen: Screen, env: Record<string, string> = {}) {
  const config = join(directory.path, crypto.randomUUID());
  const line = `${lineWith(" connect", screen)} --yes`;
  const { exitCode, stderr } = await pasted(line, { ...claudeEnvironment(config, env), cwd: ROOT });
  expect({ exitCode, stderr }).toEqual({ exitCode: 0, stderr: "" });
  const { mcpServers } = ClaudeSettings.parse(await Bun.file(join(config, ".claude.json")).json());
  return { config, plexus: mcpServers.plexus };
}

/** Claude Code's list of MCP servers after it has tried to connect to them. */
async function connectedServers(config: string, env: Record<string, string> = {}): Promise<string> {
  return (await pasted("claude mcp list", claudeEnvironment(config, env))).stdout;
}

function claudeEnvironment(config: string, env: Record<string, string>): { cwd: string; env: Record<string, string> } {
  const path = [dirname(CLAUDE), process.env["PATH"]].join(delimiter);
  return { cwd: home, env: { PATH: path, HOME: home, CLAUDE_CONFIG_DIR: config, ...env } };
}

describe("plexus serve on a terminal", () => {
  test("shows a line that adds it to the real Claude Code, from an awkward data dir", async () => {
    const dataDir = awkward();
    await using screen = await served(["--data-dir", dataDir]);
    const token = readFileSync(join(dataDir, "operator-token"), "utf8").trim();
    const { config, plexus } = await addToClaude(screen);
    expect(plexus).toMatchObject({ type: "http", url: `${urlOn(screen)}/mcp`, alwaysLoad: true });
    expect(JSON.stringify(plexus)).not.toContain(token);
    expect(screen.text()).not.toContain(token);
    expect(await connectedServers(config)).toMatch(/plexus: .*Connected/);
  });

  test("shows commands that work as they are in another terminal", async () => {
    await using screen = await served(["--data-dir", awkward()]);
    const opened = await pasted(lineWith(" open", screen), { cwd: ROOT });
    expect(opened).toMatchObject({ exitCode: 0, stdout: expect.stringContaining(`${urlOn(screen)}/#code=`) });
    const watched = await pasted(lineWith(" watch", screen), { cwd: ROOT });
    expect(watched).toMatchObject({ exitCode: 1, stderr: expect.stringContaining("watch needs a terminal") });
    const configured = await pasted(lineWith(" configure", screen).replace("child.json", join(home, "child.json")), {
      cwd: ROOT,
    });
    expect(configured.stdout).toStartWith("claude -p --mcp-config ");
    expect(screen.text()).not.toContain(process.execPath);
    expect(screen.text()).not.toContain("main.ts");
  });

  test("shows an address that signs one page in, once", async () => {
    await using screen = await served(["--data-dir", awkward()]);
    const [url, code] = lineWith("/#code=", screen).split("/#code=");
    const headers = { "Content-Type": "application/json" };
    const signIn = () => fetch(`${url}${redeemCode.path}`, { method: "POST", headers, body: JSON.stringify({ code }) });
    expect([(await signIn()).status, (await signIn()).status]).toEqual([200, 401]);
  });

  test("leaves the data dir out where it is the usual one", async () => {
    await using screen = await served([], { env: { HOME: home } });
    expect(screen.text()).not.toContain("--data-dir");
    expect(await pasted(lineWith(" open", screen), { env: { HOME: home }, cwd: ROOT })).toMatchObject({ exitCode: 0 });
  });

  test("uses $PLEXUS_TOKEN where that is the operator's token, and never shows it", async () => {
    await using screen = await served(["--data-dir", awkward()], { env: { PLEXUS_TOKEN: TOKEN } });
    const { config } = await addToClaude(screen, { PLEXUS_TOKEN: TOKEN });
    expect(await connectedServers(config, { PLEXUS_TOKEN: TOKEN })).toMatch(/plexus: .*Connected/);
    expect(screen.text()).toContain("needs the PLEXUS_TOKEN");
    expect(screen.text()).not.toContain(TOKEN);
  });

  test("warns when it asks for no tokens, and shows a line without one", async () => {
    await using screen = await served(["--data-dir", awkward(), "--auth", "none"]);
    expect(screen.text()).toContain("Warning: --auth none");
    const { config } = await addToClaude(screen);
    expect(await connectedServers(config)).toMatch(/plexus: .*Connected/);
    expect(await pasted(lineWith(" open", screen), { cwd: ROOT })).toMatchObject({ exitCode: 0 });
  });

  test("says that Claude Code was not found where there is none", async () => {
    await using screen = await served(["--data-dir", awkward(), "--claude", "/nonexistent/claude"]);
    expect(screen.text()).toContain("install Claude Code, or name it with --claude");
  });

  test("shows no log lines, and says that it stops on Ctrl-C", async () => {
    await using screen = await served(["--data-dir", awkward()]);
    screen.type("\u0003");
    expect(await screen.exited).toBe(0);
    await screen.shows("Stopping.");
    expect(screen.text()).not.toContain('"level"');
  });

  test("has colour, unless NO_COLOR is set or the terminal is dumb", async () => {
    await using coloured = await served(["--data-dir", awkward()]);
    expect(coloured.text()).toContain("\u001b[1m");
    for (const env of [{ NO_COLOR: "1" }, { TERM: "dumb" }]) {
      await using plain = await served(["--data-dir", awkward()], { env });
      expect(plain.text()).not.toContain("\u001b");
    }
  });

  test("names the executable as a person would: plexus where it is on the path, else with its own path", async () => {
    const program = [await plexusBinary()];
    await using screen = await served(["--data-dir", awkward()], { program });
    expect(lineWith(" open", screen)).toStartWith(`${program[0]} open --data-dir `);
    expect(await pasted(lineWith(" open", screen))).toMatchObject({ exitCode: 0 });
    const PATH = `${dirname(program[0] ?? "")}:${process.env["PATH"]}`;
    await using onPath = await served([], { program, env: { HOME: join(home, "with-path"), PATH } });
    expect(lineWith(" open", onPath)).toBe("plexus open");
  });

  test("shows a line for each request and each decision, which no child can leave", async () => {
    const dataDir = awkward();
    await using screen = await served(["--data-dir", dataDir], { columns: 80, env: { NO_COLOR: "1" } });
    const place = (args: string[]) => plexus([...args, "--data-dir", dataDir]);
    const { session_id } = JSON.parse((await place(["configure", "--name", "worker", "--json"])).stdout);
    const input = { command: `touch it\u001b[2J\n${"x".repeat(200)}` };
    const args = JSON.stringify({ session_id, tool_name: "Bash", input, tool_use_id: "1" });
    const call = place(["call", "loopback_permit", args]);
    await screen.shows("worker: Bash touch it\\u{1b}[2J\\nxxx");
    const [, asked = ""] = /^(\d\d:\d\d:\d\d \? [0-9a-f]{4} worker: Bash touch it.*)$/m.exec(screen.text()) ?? [];
    expect(Bun.stringWidth(asked.trimEnd())).toBeLessThanOrEqual(80);
    const [, id = ""] = /\? ([0-9a-f]{4}) /.exec(asked) ?? [];
    await place(["deny", id, "-m", "not now"]);
    await screen.shows(`✗ ${id} worker: Bash was denied by operator: not now`);
    await call;
  });

  test("stops with one Ctrl-C where nothing is pending, and else names what would be ended and takes a second", async () => {
    const dataDir = awkward();
    await using screen = await served(["--data-dir", dataDir]);
    const place = (args: string[]) => plexus([...args, "--data-dir", dataDir]);
    const { session_id } = JSON.parse((await place(["configure", "--json"])).stdout);
    const call = place(["call", "loopback_permit", JSON.stringify({ session_id, tool_name: "Bash", input: { n: 1 } })]);
    await screen.shows(": Bash ");
    screen.type("\u0003");
    await screen.shows("1 request would stay undecided. Press Ctrl-C again to stop all the same.");
    expect((await place(["pending", "--json"])).stdout).toContain('"n":1');
    screen.type("\u0003");
    expect(await screen.exited).toBe(0);
    await screen.shows("Stopping.");
    await call;
  });

  test("stops at once with SIGTERM, whatever waits", async () => {
    const dataDir = awkward();
    await using screen = await served(["--data-dir", dataDir]);
    const place = (args: string[]) => plexus([...args, "--data-dir", dataDir]);
    const { session_id } = JSON.parse((await place(["configure", "--json"])).stdout);
    const call = place(["call", "loopback_permit", JSON.stringify({ session_id, tool_name: "Bash", input: { n: 1 } })]);
    await screen.shows(": Bash ");
    process.kill(screen.pid, "SIGTERM");
    expect(await screen.exited).toBe(0);
    await call;
  });

  test("names the file of rules, and what is wrong with it", async () => {
    const file = join(directory.path, "rules.toml");
    await Bun.write(file, '[[rule]]\ndecision = "allow"\nmatch = "Bash("\n');
    await using screen = await served(["--data-dir", awkward(), "--rules", file], { columns: 200 });
    expect(screen.text()).toContain(`Rules: ${file} (1), read again when it changes.`);
    expect(screen.text()).toContain("rule 1 (allow Bash(): match has no closing bracket");
    screen.type("\u0003");
    await screen.exited;
  });
});
