import { afterAll, afterEach, beforeAll, describe, expect, setDefaultTimeout, test } from "bun:test";
import {
  existsSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { dirname, join } from "node:path";
import { StdioClientTransport } from "@modelcontextprotocol/sdk/client/stdio.js";
import { parse } from "smol-toml";
import { z } from "zod";
import { whoAmI } from "../../../src/contract/routes/sign-in.ts";
import { listTokens, revokeToken } from "../../../src/contract/routes/tokens.ts";
import { CLAUDE, withClaude } from "../../support/claude/claude.ts";
import { connectOver } from "../../support/mcp/mcp-client.ts";
import { script, startScriptedModel } from "../../support/model/scripted-model.ts";
import { PROGRAM } from "../../support/server/program.ts";
import { type TemporaryDirectory, temporaryDirectory } from "../../support/temporary.ts";
import { MAIN, type Output, plexusOnScreen } from "../support/command.ts";
import { openPlace, type Place } from "../support/place.ts";

setDefaultTimeout(60_000);

let place: Place;
beforeAll(async () => {
  place = await openPlace();
});
afterAll(() => place[Symbol.asyncDispose]());
afterEach(async () => {
  for (const name of await tokenNames()) await place.api.call(revokeToken, { params: { name } });
});

const SECRET = /plx_[\w-]{20,}/;
/** All clients except Claude Code, which has a test of its own. */
const OTHERS = ["claude-desktop", "cursor", "vscode", "codex", "gemini"];

/** A home directory with any settings that a test needs. */
async function openHome(files: Record<string, string> = {}) {
  const directory: TemporaryDirectory = await temporaryDirectory();
  const path = (name: string) => join(directory.path, name);
  for (const [name, text] of Object.entries(files)) {
    mkdirSync(dirname(path(name)), { recursive: true });
    writeFileSync(path(name), text);
  }
  return {
    path,
    text: (name: string) => readFileSync(path(name), "utf8"),
    json: (name: string): unknown => JSON.parse(readFileSync(path(name), "utf8")),
    backups: (folder: string) => readdirSync(path(folder)).filter((name) => name.endsWith(".backup")),
    connect: (...args: string[]): Promise<Output> =>
      place.plexus(["connect", ...args], { env: { HOME: directory.path } }),
    onScreen: (...args: string[]) =>
      plexusOnScreen(["connect", ...args, "--data-dir", place.dataDir], {
        env: { HOME: directory.path, NO_COLOR: "1" },
      }),
    [Symbol.asyncDispose]: () => directory[Symbol.asyncDispose](),
  };
}

async function tokenNames(): Promise<string[]> {
  return (await place.api.call(listTokens)).tokens.map(({ name }) => name);
}

async function nameOf(token: string | undefined): Promise<unknown> {
  const headers = { Authorization: `Bearer ${token}` };
  return (await fetch(`${place.server.url}${whoAmI.path}`, { headers })).json();
}

const mcp = () => `${place.server.url}/mcp`;
const bearer = { Authorization: expect.stringMatching(/^Bearer plx_[\w-]+$/) };

describe("plexus connect", () => {
  test("makes a server of Claude Code's that the real CLI connects to", async () => {
    await using home = await openHome({ ".claude.json": '{ "numStartups": 3 }\n' });
    const { exitCode, stdout, stderr } = await home.connect("claude", "--yes");
    expect({ exitCode, stderr }).toEqual({ exitCode: 0, stderr: "" });
    expect(stdout).not.toMatch(SECRET);
    const list = Bun.spawn([CLAUDE, "mcp", "list"], {
      cwd: home.path("."),
      env: { PATH: process.env["PATH"], HOME: home.path("."), CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: "1" },
      stdio: ["ignore", "pipe", "ignore"],
    });
    expect(await list.stdout.text()).toContain(`plexus: ${mcp()} (HTTP) - ✔ Connected`);
    expect(home.json(".claude.json")).toMatchObject({ numStartups: 3 });
    const token = SECRET.exec(home.text(".claude.json"))?.[0];
    expect(await nameOf(token)).toMatchObject({ name: "token:claude" });
  });

  test("gives Claude Code's model the tools from the start, also where an earlier version had connected it", async () => {
    await using home = await openHome();
    const config = home.path(".claude");
    const env = { HOME: home.path("."), CLAUDE_CONFIG_DIR: config };
    await place.plexus(["connect", "claude", "--yes"], { env });
    const file = join(config, ".claude.json");
    const { alwaysLoad, ...earlier } = Object(home.json(".claude/.claude.json")).mcpServers.plexus;
    expect(alwaysLoad).toBe(true);
    writeFileSync(file, JSON.stringify({ mcpServers: { plexus: earlier } }));
    expect((await place.plexus(["connect", "claude", "--yes"], { env })).stdout).toContain('+      "alwaysLoad": true');
    expect(home.json(".claude/.claude.json")).toEqual({ mcpServers: { plexus: { ...earlier, alwaysLoad } } });
    await using model = startScriptedModel();
    await withClaude({ model, prompt: script([{ say: "hi" }]), home: home.path(".") }, (run) => run.result());
    const [first] = model.requests.filter(({ conversation }) => conversation.tools.length > 0);
    expect(JSON.stringify(first?.conversation.tools)).toContain('"mcp__plexus__loopback_wait"');
  });

  test("leaves a switch as its user has set it", async () => {
    await using home = await openHome({ ".claude.json": '{"mcpServers":{"plexus":{"alwaysLoad":false}}}' });
    await home.connect("claude", "--yes");
    expect(home.json(".claude.json")).toMatchObject({ mcpServers: { plexus: { url: mcp(), alwaysLoad: false } } });
  });

  test("knows where each client has its settings, and how they name a server", async () => {
    await using home = await openHome();
    for (const client of OTHERS) {
      expect((await home.connect(client, "--yes")).exitCode).toBe(0);
    }
    expect(home.json(".cursor/mcp.json")).toEqual({ mcpServers: { plexus: { url: mcp(), headers: bearer } } });
    expect(home.json(join(applications(), "Code/User/mcp.json"))).toEqual({
      servers: { plexus: { type: "http", url: mcp(), headers: bearer } },
    });
    const desktop = join(applications(), "Claude/claude_desktop_config.json");
    expect(home.json(desktop)).toEqual({
      mcpServers: {
        plexus: {
          command: PROGRAM[0],
          args: PROGRAM.length === 1 ? ["mcp"] : ["--no-env-file", "--config=/dev/null", MAIN, "mcp"],
          env: { PLEXUS_URL: place.server.url, PLEXUS_TOKEN: expect.stringMatching(SECRET) },
        },
      },
    });
    expect(parse(home.text(".codex/config.toml"))).toEqual({
      mcp_servers: { plexus: { url: mcp(), tool_timeout_sec: 120, http_headers: bearer } },
    });
    expect(home.json(".gemini/settings.json")).toEqual({
      mcpServers: { plexus: { type: "http", url: mcp(), headers: bearer } },
    });
    for (const file of [".cursor/mcp.json", ".codex/config.toml", ".gemini/settings.json", desktop]) {
      expect((statSync(home.path(file)).mode & 0o777).toString(8)).toBe("600");
    }
    for (const client of OTHERS) await home.connect(client, "--remove", "-y");
    expect(await tokenNames()).toEqual([]);
  });

  test("starts the bridge of Claude Desktop with that entry, which speaks MCP", async () => {
    await using home = await openHome();
    await home.connect("claude-desktop", "--yes");
    const entry = z
      .object({ command: z.string(), args: z.array(z.string()), env: z.record(z.string(), z.string()) })
      .parse(Object(home.json(join(applications(), "Claude/claude_desktop_config.json"))).mcpServers.plexus);
    await using bridge = await connectOver(new StdioClientTransport({ ...entry, stderr: "ignore" }));
    expect((await bridge.client.listTools()).tools.map(({ name }) => name)).toContain("loopback_wait");
  });

  test("leaves everything else as it is, comments too, and puts it back when it is removed", async () => {
    const before = `// mine\n{\n\t"servers": {\n\t\t// a comment\n\t\t"other": { "command": "x" }, // behind\n\t},\n\t"inputs": [ ],\n}\n`;
    const file = join(applications(), "Code/User/mcp.json");
    await using home = await openHome({ [file]: before });
    await home.connect("vscode", "--yes");
    const after = home.text(file);
    for (const line of before.split("\n").filter((line) => !line.includes('"other"'))) expect(after).toContain(line);
    expect(after).toContain(`\t\t"other": { "command": "x" },\n\t\t"plexus": {\n\t\t\t"type": "http",`);
    const folder = dirname(file);
    expect(home.backups(folder).map((name) => home.text(join(folder, name)))).toEqual([before]);
    await home.connect("vscode", "--remove", "--yes");
    expect(home.text(file)).toBe(before);
  });

  test("replaces a table of Codex's settings and no other line of them", async () => {
    const rest = `# mine\nmodel = "m"\n\n[mcp_servers.other]\ncommand = "x" # why\n`;
    const next = `# about the next one\n[projects."/a.b"]\ntrust_level = "trusted"\n`;
    const ours = `[mcp_servers.plexus]\nurl = "http://old/mcp"\nenabled = false\n[mcp_servers.plexus.http_headers]\nX = "y"\n`;
    await using home = await openHome({ ".codex/config.toml": `${rest}\n${ours}\n${next}` });
    await home.connect("codex", "--yes");
    const text = home.text(".codex/config.toml");
    expect(text).toStartWith(rest);
    expect(text).toEndWith(next);
    expect(parse(text)["mcp_servers"]).toEqual({
      other: { command: "x" },
      plexus: { url: mcp(), tool_timeout_sec: 120, http_headers: bearer, enabled: false },
    });
    await home.connect("codex", "--remove", "--yes");
    expect(home.text(".codex/config.toml")).toBe(`${rest}\n${next}`);
  });

  test("changes nothing the second time, and keeps the token when the address has changed", async () => {
    await using home = await openHome();
    await home.connect("cursor", "--yes");
    const first = home.text(".cursor/mcp.json");
    const again = await home.connect("cursor", "--yes");
    expect(again.stdout).toContain("has it already, with a token that works");
    writeFileSync(home.path(".cursor/mcp.json"), first.replace(mcp(), "http://127.0.0.1:1/mcp"));
    const moved = await home.connect("cursor", "--yes");
    expect(moved.stdout).toContain(`+      "url": "${mcp()}"`);
    expect(home.text(".cursor/mcp.json")).toBe(first);
    expect((await tokenNames()).filter((name) => name === "cursor")).toHaveLength(1);
  });

  test("replaces a token that the server does not know", async () => {
    const headers = { Authorization: "Bearer plx_gone_aaaaaaaaaaaaaaaaaaaaaaaaaa" };
    const entry = { url: mcp(), headers, disabled: true };
    await using home = await openHome({ ".cursor/mcp.json": JSON.stringify({ mcpServers: { plexus: entry } }) });
    await home.connect("cursor", "--yes", "--name", "my-editor");
    expect(home.json(".cursor/mcp.json")).toEqual({
      mcpServers: { plexus: { url: mcp(), headers: bearer, disabled: true } },
    });
    expect(await nameOf(SECRET.exec(home.text(".cursor/mcp.json"))?.[0])).toMatchObject({ name: "token:my-editor" });
  });

  test("says what to do about a token of that name that is somewhere else, and writes nothing", async () => {
    await place.plexus(["token", "create", "codex"]);
    await using home = await openHome();
    const { exitCode, stderr } = await home.connect("codex", "--yes");
    expect(stderr).toContain('A token named "codex" exists');
    expect(stderr).toContain("plexus token revoke codex");
    expect({ exitCode, written: existsSync(home.path(".codex/config.toml")) }).toEqual({ exitCode: 1, written: false });
  });

  test("prints what belongs in the settings without making a token, so that connecting works afterwards", async () => {
    await using home = await openHome();
    const { stdout, stderr } = await home.connect("cursor", "--print");
    const headers = { Authorization: "Bearer TOKEN" };
    expect(JSON.parse(stdout)).toEqual({ mcpServers: { plexus: { url: mcp(), headers } } });
    expect(stderr).toBe("Put a token in place of TOKEN: `plexus token create cursor` prints one.\n");
    expect({ written: existsSync(home.path(".cursor")), tokens: await tokenNames() }).toEqual({
      written: false,
      tokens: [],
    });
    expect((await home.connect("cursor", "--yes")).exitCode).toBe(0);
    const again = await home.connect("cursor", "--print");
    expect(again.stderr).toBe("");
    expect(await nameOf(SECRET.exec(again.stdout)?.[0])).toMatchObject({ name: "token:cursor" });
  });

  test("prints what works once the token that it names is put in", async () => {
    await using home = await openHome();
    const { stdout, stderr } = await home.connect("cursor", "--print");
    const [, command = ""] = /`plexus ([^`]+)`/.exec(stderr) ?? [];
    const token = (await place.plexus(command.split(" "))).stdout.trim();
    mkdirSync(home.path(".cursor"));
    writeFileSync(home.path(".cursor/mcp.json"), stdout.replace("TOKEN", token));
    expect((await home.connect("cursor", "--yes")).stdout).toContain("has it already, with a token that works");
  });

  test("asks on a terminal: another key than y writes nothing and makes no token", async () => {
    await using home = await openHome();
    await using screen = home.onScreen("cursor");
    await screen.shows("Write this? [y/N] ");
    expect(screen.text()).toContain('+        "Authorization": "Bearer (a new token: cursor)"');
    screen.type("n");
    expect(await screen.exited).toBe(1);
    expect(existsSync(home.path(".cursor"))).toBe(false);
    expect(await tokenNames()).toEqual([]);
    await using second = home.onScreen("cursor");
    await second.shows("Write this? [y/N] ");
    // As typed by a person who presses Enter after each answer.
    second.type("y\r");
    expect(await second.exited).toBe(0);
    expect(second.text()).toContain("Cursor knows Plexus now.");
    expect(second.text()).not.toMatch(SECRET);
  });

  test("away from a terminal, writes only with --yes", async () => {
    await using home = await openHome();
    const { exitCode, stdout, stderr } = await home.connect("cursor");
    expect(stdout).toContain("+{");
    expect(stderr).toBe("plexus: Nothing was done: there is nobody to ask. --yes writes it.\n");
    expect(exitCode).toBe(1);
    const json = await home.connect("cursor", "--yes", "--json");
    expect(JSON.parse(json.stdout)).toEqual({
      type: "ok",
      changed: true,
      file: home.path(".cursor/mcp.json"),
      token: "cursor",
    });
  });

  test.each([
    ["cursor", ".cursor/mcp.json", "{ bad", "is not valid JSON"],
    ["cursor", ".cursor/mcp.json", '{ "mcpServers": [] }', 'has no object for "mcpServers"'],
    ["codex", ".codex/config.toml", "a = [", "is not valid TOML"],
    [
      "codex",
      ".codex/config.toml",
      'mcp_servers.plexus.url = "x"\n',
      "is written in a way that can't be changed safely",
    ],
  ])("refuses settings of %s that it can't change safely, and leaves them: %s", async (client, file, text, says) => {
    await using home = await openHome({ [file]: text });
    const { exitCode, stderr } = await home.connect(client, "--yes");
    expect(stderr).toContain(says);
    expect(stderr).toMatch(/^[^\n]*\n$/);
    expect(home.text(file)).toBe(text);
    expect({ exitCode, tokens: await tokenNames() }).toEqual({ exitCode: 1, tokens: [] });
  });

  test("follows a link to settings that are kept elsewhere, and leaves it a link", async () => {
    await using home = await openHome({ "dotfiles/mcp.json": "{}\n" });
    mkdirSync(home.path(".cursor"));
    symlinkSync(home.path("dotfiles/mcp.json"), home.path(".cursor/mcp.json"));
    await home.connect("cursor", "--yes");
    expect(lstatSync(home.path(".cursor/mcp.json")).isSymbolicLink()).toBe(true);
    expect(home.json("dotfiles/mcp.json")).toMatchObject({ mcpServers: { plexus: { url: mcp() } } });
    await home.connect("cursor", "--remove", "--yes");
    expect(home.text("dotfiles/mcp.json")).toBe('{\n  "mcpServers": {}\n}\n');
  });

  test("takes a client out also when the server is gone, and says that its token stays", async () => {
    await using home = await openHome();
    await home.connect("cursor", "--yes", "--name", "stays");
    const { exitCode, stderr } = await home.connect("cursor", "--remove", "--yes", "--url", "http://127.0.0.1:1");
    expect({ exitCode, settings: home.json(".cursor/mcp.json") }).toEqual({
      exitCode: 0,
      settings: { mcpServers: {} },
    });
    expect(stderr).toContain("Its token was not revoked: No Plexus is running");
  });
});

function applications(): string {
  return process.platform === "darwin" ? "Library/Application Support" : ".config";
}
