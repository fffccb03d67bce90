import { describe, expect, setDefaultTimeout, test } from "bun:test";
import { existsSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { CLIENTS, clientFile } from "../../../src/claude/launch/client-files.ts";
import { privatePaths, tokenPaths } from "../../../src/claude/launch/private-paths.ts";
import { clientOf } from "../../../src/cli/connect/clients.ts";
import { readConfig } from "../../../src/config.ts";
import type { Supervision } from "../../../src/contract/sessions/supervision.ts";
import { script, startScriptedModel } from "../../support/model/scripted-model.ts";
import { temporaryDirectory } from "../../support/temporary.ts";
import { withPlace } from "../child.ts";
import { startPermitStub } from "../mcp-stub.ts";

setDefaultTimeout(120_000);

const home = "/srv/somebody";
const dataDir = "/srv/plexus";
const CLAUDES_OWN = ["/srv/somebody/.claude/settings.json", "/srv/somebody/.claude/.credentials.json"];

describe("private paths", () => {
  test.each(CLIENTS)("include the settings in which `plexus connect %s` writes a token", (client) => {
    const variables = {
      CLAUDE_CONFIG_DIR: "/conf",
      CODEX_HOME: "/codex",
      GEMINI_CLI_HOME: "/g",
      XDG_CONFIG_HOME: "/xdg",
    };
    for (const env of [{}, variables]) {
      const { file } = clientOf(client, readConfig({ dataDir }, { HOME: home, ...env }));
      expect(tokenPaths({ dataDir, home, env })).toContain(file);
      expect(privatePaths({ dataDir, home, env })).toContain(file);
    }
    const usual = clientFile(client, { home, env: {} });
    expect(tokenPaths({ dataDir, home, env: variables })).toContain(usual);
  });

  test("include the data dir, and the default one of the user's other server", () => {
    expect(tokenPaths({ dataDir, home, env: {} })).toEqual(
      expect.arrayContaining([dataDir, "/srv/somebody/.local/state/plexus"]),
    );
    expect(tokenPaths({ dataDir, home, env: { XDG_STATE_HOME: "/state" } })).toContain("/state/plexus");
  });

  test("include Claude Code's settings and login, which token paths do not", () => {
    expect(privatePaths({ dataDir, home, env: {} })).toEqual(expect.arrayContaining(CLAUDES_OWN));
    expect(privatePaths({ dataDir, home, env: { CLAUDE_CONFIG_DIR: "/conf" } })).toEqual(
      expect.arrayContaining([
        ...CLAUDES_OWN,
        "/conf/settings.json",
        "/conf/settings.local.json",
        "/conf/.credentials.json",
      ]),
    );
    for (const path of CLAUDES_OWN) expect(tokenPaths({ dataDir, home, env: {} })).not.toContain(path);
  });

  test("include both a link and its target, even if that does not exist yet", async () => {
    await using directory = await temporaryDirectory();
    const at = (path: string) => join(directory.path, path);
    mkdirSync(at("dotfiles"));
    symlinkSync(at("dotfiles"), at(".cursor"));
    expect(tokenPaths({ dataDir, home: directory.path, env: {} })).toEqual(
      expect.arrayContaining([at(".cursor/mcp.json"), at("dotfiles/mcp.json")]),
    );
  });
});

const SECRET = "the secret words";

describe("a child that is allowed everything", () => {
  const KEPT = [
    "home/.claude.json",
    "home/.claude.json.20260101T000000000Z.backup",
    "home/.codex/config.toml",
    "dotfiles/mcp.json",
    "home/.local/state/plexus/operator-token",
  ];

  test.each(["strict", "default", "inherit"] as const)(
    "can neither read nor change a file that contains a token (%s)",
    async (supervision) => {
      expect(await tryAll(supervision, KEPT)).toEqual([]);
    },
  );

  test("can read Claude Code's settings and login only if it inherits them", async () => {
    const own = ["home/.claude/settings.json", "home/.claude/.credentials.json"];
    expect(await tryAll("default", own)).toEqual([]);
    expect(await tryAll("inherit", own)).toEqual(own);
  });
});

/** Lets a child read and overwrite each file; returns which ones it could read or has changed. */
async function tryAll(supervision: Supervision, paths: string[]): Promise<string[]> {
  await using model = startScriptedModel();
  await using permit = startPermitStub("allow");
  return await withPlace(async (place, start) => {
    const at = (path: string) => join(place.root, path);
    mkdirSync(at("dotfiles"));
    symlinkSync(at("dotfiles"), at("home/.cursor"));
    const content = (path: string) => JSON.stringify({ note: `${SECRET} of ${path}` });
    for (const path of paths) {
      mkdirSync(dirname(at(path)), { recursive: true });
      writeFileSync(at(path), content(path));
    }
    const turns = paths.flatMap((path) => [
      { use: [{ name: "Read", input: { file_path: at(path) } }] },
      { use: [{ name: "Write", input: { file_path: at(path), content: "{}" } }] },
      { use: [{ name: "Write", input: { file_path: `${at(path)}.new`, content: "{}" } }] },
    ]);
    const options = { addDirs: [place.root], allowedTools: ["Read", "Edit", "Write"], loopback: permit.entry };
    const run = start({ model, supervision, prompt: script(turns), ...options });
    expect(await run.outcome()).toEqual({ outcome: "complete" });
    expect(run.events.filter(({ type }) => type === "tool_result")).toHaveLength(turns.length);
    const told = JSON.stringify(run.events);
    const isOpen = (path: string) =>
      told.includes(`${SECRET} of ${path}`) ||
      readFileSync(at(path), "utf8") !== content(path) ||
      existsSync(`${at(path)}.new`);
    return paths.filter(isOpen);
  });
}
