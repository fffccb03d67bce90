import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from "bun:test";
import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { shortId } from "../../../src/client/words/short-id.ts";
import { Waited } from "../../../src/contract/tools/wait-answers.ts";
import { writeEcho } from "../../support/claude/stand-in.ts";
import { startKillableServer } from "../../support/server/killable-server.ts";
import { OPERATOR_TOKEN } from "../../support/server/plexus.ts";
import { temporaryDirectory } from "../../support/temporary.ts";
import { plexus, plexusOnScreen } from "../support/command.ts";
import { openPlace, type Place } from "../support/place.ts";

setDefaultTimeout(60_000);

let directory: Awaited<ReturnType<typeof temporaryDirectory>>;
let place: Place;
beforeAll(async () => {
  directory = await temporaryDirectory();
  mkdirSync(join(directory.path, "work"));
  place = await openPlace({ args: ["--claude", writeEcho(directory.path)] });
});
afterAll(async () => {
  await place[Symbol.asyncDispose]();
  await directory[Symbol.asyncDispose]();
});

/** Gives the child of this name this prompt. */
async function chat(name: string, prompt: string): Promise<void> {
  await place.managed(name, join(directory.path, "work"));
  await place.call("claudecode_chat_async", { name, prompt });
}

const NOTHING = { exitCode: 6, stdout: "" };

describe("plexus wait", () => {
  test("says at once that there is nothing to wait for, with exit code 6", async () => {
    const { stderr, ...ended } = await place.plexus(["wait"]);
    expect(ended).toEqual(NOTHING);
    expect(stderr).toBe("plexus: Nothing runs, is pending, or could ask: there is nothing to wait for.\n");
  });

  test("prints how a turn ended and what its child said last, once", async () => {
    await chat("worker", "All is done.");
    expect(await place.plexus(["wait", "--timeout", "20s"])).toEqual({
      exitCode: 0,
      stdout: "worker: done\nAll is done.\n",
      stderr: "",
    });
    expect(await place.plexus(["wait"])).toMatchObject(NOTHING);
    const again = await place.plexus(["wait", "--since", "0", "--session", "worker", "--json"]);
    const waited = Waited.parse(JSON.parse(again.stdout));
    expect(waited).toMatchObject({ type: "ok", finished: [{ name: "worker", text: "All is done." }] });
    const other = await place.plexus(["wait", "--consumer", "other"]);
    expect(other).toMatchObject({ exitCode: 0, stdout: "worker: done\nAll is done.\n" });
  });

  test("ends with exit code 6 when the time is up, and prints who runs with --json", async () => {
    await chat("silent", "hang");
    expect(await place.plexus(["wait", "--timeout", "1s", "--session", "silent"])).toEqual({
      ...NOTHING,
      stderr: "plexus: Nothing to do came up within 1s.\n",
    });
    const { exitCode, stdout } = await place.plexus(["wait", "--timeout", "0s", "--session", "silent", "--json"]);
    expect(exitCode).toBe(6);
    expect(Waited.parse(JSON.parse(stdout))).toMatchObject({ type: "timeout", running: [{ name: "silent" }] });
    await place.call("claudecode_cancel", { name: "silent" });
    expect((await place.plexus(["wait", "--session", "silent"])).stdout).toStartWith("silent: cancelled\n");
  });

  test("says that it waits for a claude that is started by hand, where nothing else could ask", async () => {
    await place.session("by hand");
    const { exitCode, stderr } = await place.plexus(["wait", "--timeout", "1s", "--session", "by hand"]);
    const [first, last, ...others] = stderr.trimEnd().split("\n");
    expect(exitCode).toBe(6);
    expect(first).toStartWith("Nothing runs. A claude that is started by hand may still ask");
    expect([last, ...others]).toEqual(["plexus: Nothing to do came up within 1s."]);
  });

  test("returns as soon as something needs approval, and lists it as pending does", async () => {
    const session = await place.session("asker");
    const waiting = place.plexus(["wait", "--session", "asker", "--timeout", "20s"]);
    const { id } = await place.ask(session, "Bash", { command: "rm -rf y" });
    const { exitCode, stdout, stderr } = await waiting;
    expect(exitCode).toBe(0);
    expect(stdout).toMatch(new RegExp(`^ID .*\n${id} +asker +\\d+s +\\S+ +Bash `));
    expect(stderr).toContain(`! ${id}: it removes files (rm)\n`);
  });

  test("waits on for a server that is restarted meanwhile", async () => {
    await using server = await startKillableServer();
    const { sessionId } = await server.child();
    const env = { PLEXUS_TOKEN: OPERATOR_TOKEN };
    await using waiting = plexusOnScreen(["wait", "--timeout", "20s", "--url", server.url], { env });
    await waiting.shows("A claude that is started by hand may still ask");
    await server.restart();
    const asked = server.call("loopback_permit", { session_id: sessionId, tool_name: "Bash", input: { command: "x" } });
    const { id } = await server.ask();
    const exitCode = await waiting.exited;
    expect({ exitCode, isListed: waiting.text().includes(shortId(id)) }).toEqual({ exitCode: 0, isListed: true });
    await server.call("loopback_respond", { approval_id: id, approve: false });
    await asked;
  });

  test("says so when there is no server, with exit code 3", async () => {
    await using empty = await temporaryDirectory();
    const { exitCode, stderr } = await plexus(["wait", "--data-dir", empty.path, "--url", "http://127.0.0.1:1"]);
    expect({ exitCode, says: stderr.includes("No Plexus is running") || stderr.includes("No answer") }).toEqual({
      exitCode: 3,
      says: true,
    });
  });

  test.each([
    ["--timeout", "soon"],
    ["--timeout", "-1s"],
    ["--since", "yesterday"],
  ])("refuses %s %s", async (flag, value) => {
    const { exitCode, stderr } = await place.plexus(["wait", `${flag}=${value}`]);
    expect({ exitCode, isSaid: stderr.includes("It must be") }).toEqual({ exitCode: 2, isSaid: true });
  });
});
