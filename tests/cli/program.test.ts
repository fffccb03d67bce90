import { describe, expect, setDefaultTimeout, test } from "bun:test";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import manifest from "../../package.json" with { type: "json" };
import { temporaryDirectory } from "../support/temporary.ts";
import { pasted, plexus } from "./support/command.ts";

setDefaultTimeout(60_000);

const COMMANDS = [
  "serve",
  "mcp",
  "run",
  "sessions",
  "logs",
  "watch",
  "pending",
  "allow",
  "deny",
  "history",
  "rules",
  "configure",
  "connect",
  "token",
  "call",
  "backup",
  "doctor",
  "completion",
  "healthcheck",
  "version",
];
const ID = crypto.randomUUID();
/** One call of each command that talks to the server. */
const CLIENTS = [
  ["run", "x", "y"],
  ["sessions"],
  ["logs", "x"],
  ["pending"],
  ["allow", ID],
  ["deny", ID, "-m", "no"],
  ["history"],
  ["rules", "list"],
  ["configure"],
  ["connect", "cursor"],
  ["token", "list"],
  ["token", "create", "x"],
  ["token", "revoke", "x"],
  ["call", "loopback_pending"],
];

describe("plexus", () => {
  test("lists all its commands and exit codes in --help", async () => {
    const { exitCode, stdout, stderr } = await plexus(["--help"]);
    for (const command of COMMANDS) expect(stdout).toMatch(new RegExp(`^  ${command}\\b`, "m"));
    expect(stdout).toContain("Exit codes");
    expect({ exitCode, stderr }).toEqual({ exitCode: 0, stderr: "" });
  });

  test.each([...COMMANDS.map((command) => [command]), ["token", "show"], ["token", "create"]])(
    "has --help for %s %s",
    async (...words) => {
      const { exitCode, stdout, stderr } = await plexus([...words.filter(Boolean), "--help"]);
      expect(stdout).toStartWith(`Usage: plexus ${words.filter(Boolean).join(" ")} `);
      expect({ exitCode, stderr }).toEqual({ exitCode: 0, stderr: "" });
    },
  );

  test.each([
    [["pendign"], 'There is no command "pendign". Did you mean pending?'],
    [["token", "shwo"], 'There is no command "shwo". Did you mean show?'],
    [["pending", "--jsn"], "There is no option --jsn. Did you mean --json?"],
    [["nosuch"], 'There is no command "nosuch": --help lists what there is.'],
    [["pending", "extra"], "pending takes no argument, not 1."],
    [["--data-dir", "/nowhere", "pending"], "Another command stands first: `plexus COMMAND --data-dir DIR`."],
    [["allow"], "Which request? Give its ID"],
    [["allow", "../tokens"], '"../tokens" is not an id'],
    [["deny", ID], "-m, --message <WHY> is missing: --help says what it is."],
    [["deny", ID, "-m", " "], "--message must not be empty"],
    [["allow", ID, "--input", "{bad"], "--input is not valid JSON"],
    [["allow", ID, "--input", "[1]"], "--input: must be a JSON object"],
    [["connect", "emacs"], 'CLIENT can\'t be "emacs": choose claude, claude-desktop, cursor, vscode, codex, gemini.'],
    [["completion", "csh"], "choose bash, zsh, fish."],
    [["call"], "TOOL is missing: --help says what it is."],
    [["call", "loopback_pending", "{bad"], "JSON is not valid JSON"],
    [["call", "loopback_pending", '"text"'], "JSON: must be a JSON object"],
    [["token", "create", "../x"], "NAME must begin with a letter or digit"],
    [["token", "revoke", ".."], 'got ".."'],
    [["pending", "--url", "not a url"], "--url"],
    [["pending", "--url", "ftp://example.org"], "--url"],
  ])("refuses %j in one line, with exit code 2", async (args, says) => {
    const { exitCode, stdout, stderr } = await plexus(args);
    expect(stderr).toMatch(/^plexus: [^\n]*\n$/);
    expect(stderr).toContain(says);
    expect({ exitCode, stdout }).toEqual({ exitCode: 2, stdout: "" });
  });

  test("shows the sub-commands of token, with exit code 2, when none is given", async () => {
    const { exitCode, stderr } = await plexus(["token"]);
    expect(stderr).toContain("revoke");
    expect(exitCode).toBe(2);
  });

  test.each(CLIENTS)("says that no server runs, with exit code 3: %s %s %s %s", async (...args) => {
    await using directory = await temporaryDirectory();
    const url = await refusingUrl();
    const { exitCode, stdout, stderr } = await plexus([...args, "--data-dir", directory.path, "--url", url]);
    expect(stderr).toBe(`plexus: No Plexus is running at ${url}: start it with \`plexus serve\`.\n`);
    expect({ exitCode, stdout }).toEqual({ exitCode: 3, stdout: "" });
  });

  test("says plainly that a data dir can't be read", async () => {
    await using directory = await temporaryDirectory();
    const dataDir = join(directory.path, "file");
    await writeFile(dataDir, "");
    for (const args of [["pending"], ["token", "show"]]) {
      const { exitCode, stderr } = await plexus([...args, "--data-dir", dataDir]);
      expect(stderr).toStartWith(
        `plexus: The data dir ${dataDir} can't be read: a part of the path is not a directory (`,
      );
      expect(stderr).toMatch(/^[^\n]*\n$/);
      expect(exitCode).toBe(1);
    }
  });

  test("says so when its output can't be written", async () => {
    const { exitCode, stderr } = await pasted(
      `${process.execPath} ${join(import.meta.dir, "../../src/main.ts")} version > /dev/full`,
    );
    expect(stderr).toMatch(/^plexus: Standard output can't be written [^\n]*\n$/);
    expect(exitCode).toBe(1);
  });
});

describe("plexus version", () => {
  test("prints the version, as JSON too", async () => {
    const { commit, ...named } = JSON.parse((await plexus(["version", "--json"])).stdout);
    expect(named).toEqual({ name: "plexus", version: manifest.version });
    // Only an executable that was built in a checkout knows the commit.
    if (commit !== null) expect(commit).toMatch(/^[0-9a-f]{12}(-dirty)?$/);
    const told = commit === null ? "" : ` (${commit})`;
    expect((await plexus(["version"])).stdout).toBe(`plexus ${manifest.version}${told}\n`);
    expect((await plexus(["--version"])).stdout).toBe(`${manifest.version}\n`);
  });
});

/** A port that was free a moment ago. */
async function refusingUrl(): Promise<string> {
  const server = Bun.serve({ hostname: "127.0.0.1", port: 0, fetch: () => new Response() });
  const { origin } = server.url;
  await server.stop(true);
  return origin;
}
