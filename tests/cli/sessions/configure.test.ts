import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from "bun:test";
import { lstatSync, readdirSync, readFileSync } from "node:fs";
import { chmod, mkdir, symlink, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { McpConfig } from "../../../src/contract/approvals/approval.ts";
import { callTool } from "../../../src/mcp/client.ts";
import { until } from "../../support/until.ts";
import { pasted } from "../support/command.ts";
import { openPlace, type Place } from "../support/place.ts";

setDefaultTimeout(60_000);

let place: Place;
beforeAll(async () => {
  place = await openPlace();
});
afterAll(() => place[Symbol.asyncDispose]());

const ASKING = "--strict-mcp-config --permission-mode default --permission-prompt-tool mcp__plexus__loopback_permit";
const SEALED = "'--setting-sources=' --disable-slash-commands";
const modeOf = (path: string) => (lstatSync(path).mode & 0o777).toString(8);
const contentOf = (path: string) => JSON.parse(readFileSync(path, "utf8"));
const configIn = (path: string) => McpConfig.parse({ mcpServers: contentOf(path).mcpServers });

/** A new directory for each test. */
async function folder(): Promise<string> {
  const path = join(place.scratch, crypto.randomUUID());
  await mkdir(path);
  return path;
}

describe("plexus configure --out", () => {
  test("writes the config for its user alone, and prints the command alone", async () => {
    const cwd = await folder();
    const configured = await place.plexus(["configure", "--out", "it's child.json"], { cwd });
    const quoted = `'${cwd}/it'\\''s child.json'`;
    expect(configured).toEqual({
      exitCode: 0,
      stdout: `claude -p --mcp-config ${quoted} --settings ${quoted} ${ASKING} ${SEALED} 'your prompt'\n`,
      stderr: "",
    });
    expect(modeOf(join(cwd, "it's child.json"))).toBe("600");
    expect(configIn(join(cwd, "it's child.json")).mcpServers.plexus.url).toBe(`${place.server.url}/mcp`);
  });

  test("prints a command that a shell takes apart into what was meant", async () => {
    const out = join(await folder(), "a $(touch made) `b` \"c\" 'd'.json");
    const { stdout } = await place.plexus(["configure", "--out", out]);
    const words = await pasted(`claude() { for word in "$@"; do echo "$word"; done; }; ${stdout}`);
    expect(words.stdout.split("\n").slice(0, 5)).toEqual(["-p", "--mcp-config", out, "--settings", out]);
  });

  test("writes a config whose token asks for the session that it names", async () => {
    const out = join(await folder(), "child.json");
    const { stdout } = await place.plexus(["configure", "--out", out, "--name", "helper", "--json"]);
    expect(JSON.parse(stdout)).toMatchObject({ type: "ok", session_id: expect.any(String), file: out });
    const { url, headers } = configIn(out).mcpServers.plexus;
    const child = {
      fetch: (_: string, init: RequestInit) => fetch(url, { ...init, headers: { ...init.headers, ...headers } }),
    };
    const answer = callTool(child, "loopback_permit", { tool_name: "Bash", input: { command: "by hand" } });
    const line = await until("the ask to be listed", async () => {
      return (await place.plexus(["pending", "--session", "helper"])).stdout.split("\n")[1];
    });
    expect(line).toEndWith("Bash by hand");
    await place.plexus(["allow", line.split(" ")[0] ?? ""]);
    expect((await answer)?.value).toEqual({ behavior: "allow", updatedInput: { command: "by hand" } });
  });

  test("puts the seal into the same file, and none for a claude with settings of its own", async () => {
    const sealed = join(await folder(), "child.json");
    await place.plexus(["configure", "--out", sealed]);
    expect(contentOf(sealed)).toMatchObject({ disableAllHooks: true, permissions: { ask: ["*"] } });
    const free = join(await folder(), "child.json");
    const { stdout } = await place.plexus(["configure", "--out", free, "--supervision", "inherit"]);
    expect(Object.keys(contentOf(free))).toEqual(["mcpServers"]);
    expect(stdout).toBe(`claude -p --mcp-config ${free} ${ASKING} 'your prompt'\n`);
  });

  test("lets what only reads in its working directory be decided by built-in rules, where that is told", async () => {
    const cwd = await folder();
    await writeFile(join(cwd, "there.txt"), "there");
    const ask = async (out: string) => {
      const { url, headers } = configIn(out).mcpServers.plexus;
      const child = {
        fetch: (_: string, init: RequestInit) => fetch(url, { ...init, headers: { ...init.headers, ...headers } }),
      };
      const stop = AbortSignal.timeout(2_000);
      const input = { file_path: join(cwd, "there.txt") };
      const asked = { fetch: (path: string, init: RequestInit) => child.fetch(path, { ...init, signal: stop }) };
      return callTool(asked, "loopback_permit", { tool_name: "Read", input }).catch(() => undefined);
    };
    const [known, unknown] = [join(cwd, "known.json"), join(cwd, "unknown.json")];
    await place.plexus(["configure", "--out", known, "--working-dir", "."], { cwd });
    await place.plexus(["configure", "--out", unknown]);
    expect((await ask(known))?.value).toMatchObject({ behavior: "allow" });
    expect((await ask(unknown))?.value).toBeUndefined();
  });

  test("makes an existing file private as it replaces it, and leaves nothing beside it", async () => {
    const cwd = await folder();
    const out = join(cwd, "child.json");
    await writeFile(out, "something long ".repeat(1000));
    await chmod(out, 0o644);
    expect(await place.plexus(["configure", "--out", out, "--force"])).toMatchObject({ exitCode: 0 });
    expect(modeOf(out)).toBe("600");
    configIn(out);
    expect(readdirSync(cwd)).toEqual(["child.json"]);
  });

  test("replaces no file unless it is told to, and then makes no session", async () => {
    const out = join(await folder(), "child.json");
    await writeFile(out, "mine");
    const { exitCode, stderr } = await place.plexus(["configure", "--out", out, "--name", "not-replaced"]);
    expect(stderr).toBe(`plexus: ${out} is there already: choose another name, or add --force.\n`);
    expect({ exitCode, text: await Bun.file(out).text() }).toEqual({ exitCode: 1, text: "mine" });
    expect((await place.plexus(["configure", "--name", "not-replaced"])).exitCode).toBe(0);
    expect(await place.plexus(["configure", "--force"])).toMatchObject({ exitCode: 2 });
  });

  test("never writes through a link, into a device or over a directory", async () => {
    const cwd = await folder();
    const target = join(cwd, "target");
    const link = join(cwd, "link");
    await writeFile(target, "unchanged");
    await symlink(target, link);
    for (const out of [link, "/dev/null", cwd]) {
      const { exitCode, stdout, stderr } = await place.plexus(["configure", "--out", out]);
      expect(stderr).toBe(`plexus: ${out} is not a plain file: choose another name.\n`);
      expect({ exitCode, stdout }).toEqual({ exitCode: 1, stdout: "" });
    }
    expect(readFileSync(target, "utf8")).toBe("unchanged");
    expect(lstatSync(link).isSymbolicLink()).toBe(true);
    expect(lstatSync("/dev/null").isCharacterDevice()).toBe(true);
  });

  test("makes no session when the file can't be written", async () => {
    const out = join(await folder(), "missing", "child.json");
    const args = ["configure", "--out", out, "--name", "not-made"];
    const { exitCode, stderr } = await place.plexus(args);
    expect(stderr).toMatch(/^plexus: \S+ can't be written: no such file or directory \(\S+\)\.\n$/);
    expect(exitCode).toBe(1);
    expect(await place.plexus(["configure", "--name", "not-made"])).toMatchObject({ exitCode: 0 });
  });

  test("leaves no file when the server refuses", async () => {
    const cwd = await folder();
    await place.session("in-use");
    const { exitCode, stderr } = await place.plexus(["configure", "--out", "x.json", "--name", "in-use"], { cwd });
    expect(stderr).toMatch(/^plexus: You have a session named "in-use"[^\n]*\n$/);
    expect(exitCode).toBe(1);
    expect(readdirSync(cwd)).toEqual([]);
  });
});

describe("plexus configure", () => {
  test("prints the config on standard output, and how to use it on standard error", async () => {
    const { exitCode, stdout, stderr } = await place.plexus(["configure"]);
    const { Authorization } = McpConfig.parse(JSON.parse(stdout)).mcpServers.plexus.headers;
    expect(stderr).toContain(`claude -p --mcp-config FILE ${ASKING} ${SEALED} --settings '{"disableAllHooks":true,`);
    expect(stderr).not.toContain(Authorization);
    expect(exitCode).toBe(0);
  });

  test("gives an existing session one more token, by its id", async () => {
    const session = await place.session();
    const { stdout } = await place.plexus(["configure", "--session-id", session, "--json"]);
    expect(JSON.parse(stdout)).toMatchObject({
      type: "ok",
      session_id: session,
      args: expect.arrayContaining(ASKING.split(" ")),
    });
  });

  test.each([
    [["--session-id", "nobody"], 'There is no session "nobody"'],
    [["--name", "a", "--session-id", "b"], "not both"],
    [["--name", "\u001b[31m"], "name"],
  ])("refuses %j in one line, with exit code 1", async (args, says) => {
    const { exitCode, stdout, stderr } = await place.plexus(["configure", ...args]);
    expect(stderr).toMatch(/^plexus: [ -~]*\n$/);
    expect(stderr).toContain(says);
    expect({ exitCode, stdout }).toEqual({ exitCode: 1, stdout: "" });
  });
});
