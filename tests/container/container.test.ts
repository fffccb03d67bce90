import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from "bun:test";
import { chmod } from "node:fs/promises";
import manifest from "../../package.json" with { type: "json" };
import { Approval } from "../../src/contract/approvals/approval.ts";
import { blocksUnder } from "../readme/readme.ts";
import { connectClient, type TestClient } from "../support/mcp/mcp-client.ts";
import { type ScriptedModel, script, startScriptedModel, type Turn } from "../support/model/scripted-model.ts";
import { temporaryDirectory } from "../support/temporary.ts";
import { until } from "../support/until.ts";
import { type Container, type Containers, LOCKED_UP, useContainers } from "./containers.ts";
import { findEngine } from "./engine.ts";

const BUILT_WITHIN_MS = 900_000;
const HOST = "plexus.example.com";
setDefaultTimeout(180_000);

const engine = findEngine();
const missing = "missing" in engine ? engine.missing : undefined;
if (missing !== undefined) console.error(`The container is not tested: ${missing}.`);

describe.skipIf("missing" in engine)(`the container${missing === undefined ? "" : ` (skipped: ${missing})`}`, () => {
  let model: ScriptedModel;
  let containers: Containers;
  let full: string;
  let runtime: string;

  beforeAll(async () => {
    if ("missing" in engine) return;
    model = startScriptedModel("0.0.0.0");
    containers = useContainers(engine);
    runtime = await containers.build("runtime");
    full = await containers.build("full");
  }, BUILT_WITHIN_MS);
  afterAll(async () => {
    if ("missing" in engine) return;
    await containers[Symbol.asyncDispose]();
    await model[Symbol.asyncDispose]();
    engine[Symbol.dispose]();
  }, 60_000);

  const start = (volume: string, ...flags: string[]) => {
    const modelPort = new URL(model.url).port;
    const outside = ["--add-host", "model:host-gateway", "--env", `ANTHROPIC_BASE_URL=http://model:${modelPort}`];
    const child = ["--env", "ANTHROPIC_API_KEY=dummy", "--env", "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC=1"];
    return containers.start(full, ...LOCKED_UP, "--volume", `${volume}:/data`, ...outside, ...child, ...flags);
  };

  test("runs a child's call once it is allowed, stops with its children, and goes on in the next container", async () => {
    const volume = containers.volume();
    const work = containers.volume();
    const first = await start(volume, "--volume", `${work}:/workspace`);
    let parent = await connect(first);
    await call(parent, "claudecode_create", { name: "worker" });

    const command = "(sleep 0.3 &); echo hello >made.txt";
    await prompt(parent, [{ use: [bash(command)] }]);
    const ask = await nextAsk(parent);
    expect(ask).toMatchObject({ session_name: "worker", tool_name: "Bash", input: { command } });
    expect((await first.exec("cat", "made.txt")).exitCode).not.toBe(0);
    await call(parent, "loopback_respond", { approval_id: ask.id, approve: true });
    await turnEnd(parent);
    expect((await first.exec("cat", "/workspace/made.txt")).stdout).toBe("hello\n");
    await until("no zombie to be left", async () => (await zombies(first)).length === 0);

    await prompt(parent, [{ use: [bash("touch never.txt")] }]);
    const waiting = await nextAsk(parent);
    await parent[Symbol.asyncDispose]();
    await containers.output("stop", "--time", "60", first.name);
    // It stopped by itself: Docker reports 137 for a killed container.
    expect(await first.inspect("{{.State.ExitCode}}")).toBe("0");
    await containers.output("rm", "--volumes", first.name);

    const second = await start(volume, "--volume", `${work}:/workspace`);
    parent = await connect(second);
    const decided = await call(parent, "loopback_get", { approval_id: ask.id });
    expect(decided["approval"]).toMatchObject({ status: "allowed", session_name: "worker" });
    const undecided = await call(parent, "loopback_get", { approval_id: waiting.id });
    expect(undecided["approval"]).toMatchObject({ status: "abandoned" });
    await prompt(parent, [{ say: "Going on." }]);
    await turnEnd(parent);
    expect(JSON.stringify(model.requests.at(-1)?.conversation)).toContain(command);
    await parent[Symbol.asyncDispose]();
  });

  test("is locked up: no root, no capability, nothing to write but its volumes", async () => {
    const container = await start(containers.volume());
    expect((await container.exec("id", "--user")).stdout).toBe("1000\n");
    expect((await container.exec("grep", "CapEff", "/proc/1/status")).stdout).toBe("CapEff:\t0000000000000000\n");
    expect((await container.exec("touch", "/usr/local/bin/x")).stderr).toContain("Read-only file system");
    expect((await container.exec("touch", "/tmp/x", "/workspace/x", "/data/x")).exitCode).toBe(0);
    expect((await container.exec("cat", "/proc/1/comm")).stdout).toBe("tini\n");
  });

  test("has the pinned Claude Code, and the other target has none", async () => {
    const says = await containers.output("run", "--rm", "--entrypoint", "claude", full, "--version");
    expect(says).toStartWith(manifest.devDependencies["@anthropic-ai/claude-code"]);
    const without = await containers.docker("run", "--rm", "--entrypoint", "sh", runtime, "-c", "command -v claude");
    expect(without.exitCode).not.toBe(0);
    expect(await containers.output("run", "--rm", ...LOCKED_UP, runtime, "version")).toStartWith(
      `plexus ${manifest.version}`,
    );
  });

  test("answers to the names that it was given, and to no other, with its page", async () => {
    const { url } = await start(containers.volume(), "--env", `PLEXUS_ALLOWED_HOSTS=${HOST}`);
    const statusFor = async (host: string) => (await fetch(`${url}/healthz`, { headers: { Host: host } })).status;
    expect(await statusFor(HOST)).toBe(200);
    expect(await statusFor("evil.example.com")).toBe(403);
    expect(await (await fetch(url)).text()).toStartWith("<!doctype html>");
  });

  test("starts by the README's lines, and prints the token that opens it", async () => {
    const [lines = ""] = blocksUnder("In a container");
    const name = containers.container();
    const paste = (line = "", ...replaced: [string | RegExp, string][]) => {
      const [docker, ...words] = replaced.reduce((text, [from, to]) => text.replace(from, to), line).split(" ");
      expect(docker).toBe("docker");
      return containers.output(...words);
    };
    const [build, run, show] = lines.split("\n");
    // With other names and another port, because the README's may be in use here.
    await paste(build, ["--tag plexus ", `--tag ${containers.image("readme")} `]);
    await paste(
      run,
      ["--name plexus ", `--name ${name} `],
      [":4445:4445 ", "::4445 "],
      ["--volume plexus:", `--volume ${containers.volume()}:`],
      [/ plexus$/, ` ${containers.image("readme")}`],
    );
    const url = `http://${await containers.output("port", name, "4445")}`;
    await until("the server to listen", async () => (await fetch(`${url}/healthz`).catch(() => undefined))?.ok);
    const token = await paste(show, ["exec plexus ", `exec ${name} `]);
    const ready = await fetch(`${url}/readyz`, { headers: { Authorization: `Bearer ${token}` } });
    expect(await ready.json()).toMatchObject({ status: "ready", claude: "/usr/local/bin/claude", warnings: [] });
  });

  test("says in one line that a directory of the host is not writable for it", async () => {
    await using directory = await temporaryDirectory();
    await chmod(directory.path, 0o555);
    const mount = ["--volume", `${directory.path}:/data`];
    const { exitCode, stderr } = await containers.docker("run", "--rm", ...LOCKED_UP, ...mount, runtime);
    expect({ exitCode, lines: stderr.trim().split("\n").length }).toEqual({ exitCode: 1, lines: 1 });
    expect(stderr).toMatch(/The data dir \/data\/plexus can't be used .*Give it to the user that runs Plexus/);
  });
});

async function connect(container: Container): Promise<TestClient> {
  const { stdout } = await container.exec("plexus", "token", "show");
  return connectClient(container.url, stdout.trim());
}

async function call(parent: TestClient, tool: string, args: object) {
  const { isError, value } = await parent.call(tool, args);
  expect({ tool, isError, value }).toMatchObject({ isError: false });
  return value;
}

const bash = (command: string) => ({ name: "Bash", input: { command, description: "test" } });

function prompt(parent: TestClient, turns: Turn[]) {
  return call(parent, "claudecode_chat_async", { name: "worker", prompt: script(turns) });
}

/** The next request. Ends of turns, which a wait also returns, are skipped. */
async function nextAsk(parent: TestClient): Promise<Approval> {
  return await until("a request", async () => {
    const { approvals } = await call(parent, "loopback_wait", { timeout_secs: 60 });
    return Approval.array().parse(approvals)[0];
  });
}

function turnEnd(parent: TestClient): Promise<true> {
  return until(
    "the end of the turn",
    async () => {
      const { status } = await call(parent, "claudecode_poll", { name: "worker", wait_secs: 10 });
      if (status === "failed")
        throw new Error(JSON.stringify(await call(parent, "claudecode_poll", { name: "worker", from_seq: 0 })));
      return status === "complete";
    },
    60_000,
  );
}

async function zombies(container: Container): Promise<string[]> {
  const { stdout } = await container.exec("sh", "-c", "grep -l '^State:.Z' /proc/[0-9]*/status || true");
  return stdout.split("\n").filter(Boolean);
}
