import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from "bun:test";
import { withRun } from "../../support/processes/run.ts";
import { PROGRAM } from "../../support/server/program.ts";
import { until } from "../../support/until.ts";
import { plexusOnScreen } from "../support/command.ts";
import { openPlace, type Place } from "../support/place.ts";

setDefaultTimeout(60_000);

let place: Place;
beforeAll(async () => {
  place = await openPlace();
});
afterAll(() => place[Symbol.asyncDispose]());

describe("plexus call", () => {
  test("prints the result as one line of JSON in a pipe, and indented on a terminal", async () => {
    const piped = await place.plexus(["call", "loopback_pending", '{"session_id":null}']);
    expect(piped.stdout).toMatch(/^[^\n]*\n$/);
    expect(JSON.parse(piped.stdout)).toMatchObject({ type: "ok", approvals: [] });
    expect(piped).toMatchObject({ exitCode: 0, stderr: "" });
    await using screen = plexusOnScreen(["call", "loopback_pending", "--data-dir", place.dataDir]);
    expect(await screen.exited).toBe(0);
    expect(screen.text()).toStartWith('{\r\n  "type": "ok",\r\n');
  });

  test("takes the dotted spelling of a tool, and its arguments from standard input", async () => {
    const stdin = JSON.stringify({ name: "from stdin" });
    const { exitCode, stdout } = await place.plexus(["call", "loopback.configure", "-"], { stdin });
    expect(JSON.parse(stdout)).toMatchObject({ type: "ok", session_id: expect.any(String) });
    expect(exitCode).toBe(0);
  });

  test("takes key=value words, by the tool's schema: text as it is typed, anything else as JSON", async () => {
    const made = await place.plexus(["call", "loopback.configure", "name=007"]);
    const { session_id } = JSON.parse(made.stdout);
    expect(made.exitCode).toBe(0);
    const rule = ["decision=allow", "match=Bash(npm test)", `session_id=${session_id}`, "uses=3", "reason=a=b c"];
    const added = await place.plexus(["call", "loopback_rule_add", ...rule]);
    expect(JSON.parse(added.stdout)).toMatchObject({
      rule: { match: "Bash(npm test)", session_id, uses_left: 3, reason: "a=b c" },
    });
    const waited = await place.plexus(["call", "loopback_wait", "timeout_secs=0", "skip=a", "skip=b"]);
    expect(waited).toMatchObject({ exitCode: 0 });
    const tried = ["tool_name=Bash", 'input={"command":"npm test"}', `session_id=${session_id}`];
    const { stdout } = await place.plexus(["call", "loopback_rule_test", ...tried]);
    expect(JSON.parse(stdout)).toMatchObject({ would_be: "ask" });
  });

  test.each([
    ["a word without a key", ["loopback_wait", "timeout_secs=0", "now"], '"now" is neither key=value'],
    ["JSON beside others", ["loopback_wait", "{}", "timeout_secs=0"], '"{}" is neither key=value'],
    ["an argument twice", ["loopback_wait", "timeout_secs=0", "timeout_secs=1"], "timeout_secs is given twice."],
    ["a single word", ["loopback_wait", "now"], "JSON is not valid JSON"],
  ])("refuses %s, with exit code 2", async (_, args, says) => {
    const { exitCode, stdout, stderr } = await place.plexus(["call", ...args]);
    expect({ exitCode, stdout }).toEqual({ exitCode: 2, stdout: "" });
    expect(stderr).toContain(says);
  });

  test.each([
    ["an unknown tool", ["loopback_nothing"], "not_found"],
    ["bad arguments", ["loopback_pending", '{"nonsense":1}'], "invalid_arguments"],
    ["bad words", ["loopback_pending", "nonsense=1"], "invalid_arguments"],
    ["an unknown tool with words", ["loopback_nothing", "a=1"], "not_found"],
    ["an unknown id", ["loopback_get", '{"approval_id":"x"}'], "not_found"],
  ])("prints the refusal of %s on standard output, with exit code 1", async (_, args, code) => {
    const { exitCode, stdout, stderr } = await place.plexus(["call", ...args]);
    expect(JSON.parse(stdout)).toMatchObject({ type: "error", code });
    expect(stderr).toBe(`plexus: ${args[0]} was refused (${code}).\n`);
    expect(exitCode).toBe(1);
  });

  test("refuses standard input that is no JSON, with exit code 2", async () => {
    const { exitCode, stderr } = await place.plexus(["call", "loopback_pending", "-"], { stdin: "\u001b[31m{" });
    expect(stderr).toMatch(/^plexus: JSON is not valid JSON: [ -~]*\n$/);
    expect(exitCode).toBe(2);
  });

  test("waits for as long as the tool does", async () => {
    const waiting = place.plexus(["call", "loopback_wait", '{"timeout_secs":30}']);
    const { id } = await place.ask(await place.session(), "Bash", { command: "woken" });
    const { stdout } = await waiting;
    expect(JSON.parse(stdout)).toMatchObject({ type: "ok", approvals: [{ id }] });
  });

  test.each(["SIGTERM", "SIGKILL"] as const)("says so when the server goes (%s) before it answers", async (signal) => {
    await using other = await openPlace();
    const ask = { session_id: await other.session(), tool_name: "Bash", input: { command: "unanswered" } };
    await withRun(async (mark) => {
      const args = ["call", "loopback_permit", JSON.stringify(ask), "--data-dir", other.dataDir];
      const caller = Bun.spawn([...PROGRAM, ...args], {
        env: { PATH: process.env["PATH"], HOME: "/nonexistent", ...mark },
        stdout: "pipe",
        stderr: "pipe",
      });
      await until("the call to wait", async () => (await other.plexus(["pending"])).stdout.includes("unanswered"));
      await other.server.stop(signal);
      expect(await caller.stderr.text()).toBe(
        `plexus: The connection to ${other.server.url} ended before an answer came.\n`,
      );
      expect(await caller.stdout.text()).toBe("");
      expect(await caller.exited).toBe(3);
    });
  });
});
