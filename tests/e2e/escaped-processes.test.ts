import { afterAll, describe, expect, setDefaultTimeout, test } from "bun:test";
import { chownSync, existsSync, mkdirSync, readdirSync, readFileSync, utimesSync } from "node:fs";
import { join } from "node:path";
import { z } from "zod";
import { processesIn } from "../../src/claude/process/cgroup.ts";
import type { LeftRunning } from "../../src/contract/sessions/left-running.ts";
import { writeStandIn } from "../support/claude/stand-in.ts";
import { connectClient } from "../support/mcp/mcp-client.ts";
import { answerOf } from "../support/mcp/tool-answers.ts";
import { planEscape } from "../support/processes/escapee.ts";
import { usableCgroup } from "../support/processes/usable-cgroup.ts";
import { startMortalFamily } from "../support/server/outage.ts";
import { PROGRAM } from "../support/server/program.ts";
import { startServerProcess } from "../support/server/server-process.ts";
import { bash, startFamily } from "../support/sessions/family.ts";
import { temporaryDirectory } from "../support/temporary.ts";
import { until } from "../support/until.ts";

setDefaultTimeout(120_000);

const IS_LINUX = process.platform === "linux";
const NOBODY = 65_534;
const CAN_BECOME_NOBODY = IS_LINUX && process.getuid?.() === 0 && Bun.which("setpriv") !== null;
const Traces = z.object({ limitKb: z.int(), cgroup: z.string().optional() });

describe.skipIf(!IS_LINUX)("what a child's Bash started outside of its tree, session and environment is gone", () => {
  test("when a cancel is answered, and when a delete is", async () => {
    await using family = await startFamily();
    for (const tool of ["claudecode_cancel", "claudecode_delete"] as const) {
      using escapee = planEscape();
      const id = await family.create(tool, { allowed_tools: ["Bash"] });
      await family.start(tool, [{ use: [bash(escapee.command)] }, { hang: true }]);
      await escapee.started();
      const answer = await family.call(tool, { session_id: id });
      expect(answer).toEqual(
        tool === "claudecode_cancel" ? { type: "cancelled", session_id: id } : { type: "deleted", id },
      );
      expect(escapee.isRunning()).toBe(false);
    }
  });

  test("though another server has started it", async () => {
    await using family = await startMortalFamily();
    using escapee = planEscape();
    await family.create("orphaned", { allowed_tools: ["Bash"] });
    await family.chat("orphaned", [{ use: [bash(escapee.command)] }, { hang: true }]);
    await escapee.started();
    await family.crash();
    expect(await family.call("claudecode_cancel", { name: "orphaned" })).toMatchObject({ type: "cancelled" });
    expect(escapee.isRunning()).toBe(false);
  });
});

test.skipIf(!usableCgroup())(
  "the control group of a turn that has ended by itself goes when a later one begins",
  async () => {
    await using family = await startFamily();
    const id = await family.create("tidy");
    await family.start("tidy", [{ use: [bash("touch made")] }]);
    const ask = await family.ask(id);
    const { cgroup = "" } = tracesIn(family.plexus.dataDir);
    expect(processesIn(cgroup)).not.toEqual([]);
    await family.respond(ask, { approve: true });
    expect((await family.ended("tidy")).status).toBe("complete");
    await until("the child's shell to end", () => processesIn(cgroup).length === 0);
    const earlier = new Date(Date.now() - 61_000);
    utimesSync(cgroup, earlier, earlier);
    await family.run("tidy", [{ say: "another" }]);
    expect(existsSync(cgroup)).toBe(false);
  },
);

describe.skipIf(!CAN_BECOME_NOBODY)("what the server may not end", () => {
  const strangers: Bun.Subprocess[] = [];
  afterAll(() => {
    for (const stranger of strangers) stranger.kill("SIGKILL");
  });

  test("is named in the answers of cancel and delete, and in the turn's error", async () => {
    await using directory = await temporaryDirectory();
    const at = (name: string) => join(directory.path, name);
    for (const name of ["data", "work", "home"]) mkdirSync(at(name), { mode: 0o700 });
    const claude = writeStandIn(at("work"), "exec sleep 600");
    for (const path of [directory.path, at("data"), at("work"), at("home"), claude]) chownSync(path, NOBODY, NOBODY);
    const asNobody = ["setpriv", `--reuid=${NOBODY}`, `--regid=${NOBODY}`, "--clear-groups"];
    const token = "a-token-for-this-test-alone";
    await using server = await startServerProcess({
      dataDir: at("data"),
      home: at("home"),
      token,
      args: ["--claude", claude],
      program: [...asNobody, ...PROGRAM],
    });
    await using parent = await connectClient(server.url, token);
    const call = async (tool: string, args: object) => (await parent.call(tool, args)).value;

    /** A process as if the child had started it with more rights than the server has. */
    const startStranger = (seconds: number): LeftRunning => {
      const command = `sleep ${seconds}`;
      const limited = `ulimit -m ${tracesIn(at("data")).limitKb}; exec ${command}`;
      const stranger = Bun.spawn(["/bin/sh", "-c", limited]);
      strangers.push(stranger);
      return { pid: stranger.pid, command };
    };
    const begin = async (name: string) => {
      await call("claudecode_create", { name, working_dir: at("work") });
      await call("claudecode_chat_async", { name, prompt: "go" });
    };

    await begin("cancelled");
    const first = startStranger(987_001);
    await until("it to sleep", () => readFileSync(`/proc/${first.pid}/cmdline`, "utf8").startsWith("sleep"));
    const cancelled = await call("claudecode_cancel", { name: "cancelled" });
    expect(cancelled).toMatchObject({ type: "cancelled", left_running: [first] });
    const { streams } = answerOf("claudecode_streams", await call("claudecode_streams", {}));
    expect(streams).toMatchObject([
      { status: "cancelled", error: expect.stringContaining(`${first.pid} (sleep 987001)`) },
    ]);

    await begin("deleted");
    const second = startStranger(987_002);
    await until("it to sleep", () => readFileSync(`/proc/${second.pid}/cmdline`, "utf8").startsWith("sleep"));
    const headers = { authorization: `Bearer ${token}` };
    const deleted = await fetch(`${server.url}/api/v1/sessions/deleted`, { method: "DELETE", headers });
    expect(await deleted.json()).toMatchObject({ type: "deleted", left_running: [second] });
  });
});

/** The traces by which the server recognizes processes of the only running turn. */
function tracesIn(dataDir: string): z.infer<typeof Traces> {
  const [turn = ""] = readdirSync(join(dataDir, "turns"));
  return Traces.parse(JSON.parse(readFileSync(join(dataDir, "turns", turn, "traces.json"), "utf8")));
}
