import { expect, setDefaultTimeout, test } from "bun:test";
import { chmodSync, existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { Approval } from "../../../src/contract/approvals/approval.ts";
import { listApprovals } from "../../../src/contract/routes/approvals.ts";
import { ROOT } from "../../readme/readme.ts";
import { CLAUDE } from "../../support/claude/claude.ts";
import { connectClient, type TestClient } from "../../support/mcp/mcp-client.ts";
import { script, startScriptedModel } from "../../support/model/scripted-model.ts";
import { plexusBinary } from "../../support/server/binary.ts";
import { type ServerProcess, startServerProcess } from "../../support/server/server-process.ts";
import { temporaryDirectory } from "../../support/temporary.ts";
import { until } from "../../support/until.ts";
import { pasted } from "../support/command.ts";

setDefaultTimeout(120_000);

const TOKEN = "a-token-for-this-test-alone";

test("the commands of docs/operating.md for backup and restore bring everything back, even after a crash", async () => {
  const [backUp = "", restore = ""] = commandsUnder("Back up and restore");
  await using directory = await temporaryDirectory();
  await using model = startScriptedModel();
  const home = join(directory.path, "home");
  const tools = join(directory.path, "bin");
  const working_dir = join(home, "work");
  for (const path of [home, tools, working_dir]) mkdirSync(path);
  const env = { HOME: home, PATH: `${join(await plexusBinary(), "..")}:${tools}:${process.env["PATH"]}` };
  const start = () =>
    startServerProcess({
      home,
      cwd: home,
      token: TOKEN,
      args: ["--claude", CLAUDE],
      env: { ANTHROPIC_BASE_URL: model.url, ANTHROPIC_API_KEY: "dummy", DISABLE_AUTOUPDATER: "1" },
    });

  let before: object;
  {
    await using server = await start();
    const parent = await connectClient(server.url, TOKEN);
    await parent.call("claudecode_create", { name: "worker", working_dir });
    const use = { name: "Bash", input: { command: "touch made", description: "test" } };
    await parent.call("claudecode_chat_async", { name: "worker", prompt: script([{ use: [use] }]) });
    await decideNext(parent);
    before = await recordOf(server, parent);
    expect(await pasted(backUp, { env })).toMatchObject({ exitCode: 0, stderr: "" });

    await parent.call("claudecode_create", { name: "later", working_dir });
    await parent[Symbol.asyncDispose]();
    await server.kill();
  }
  expect(existsSync(join(home, ".local/state/plexus/plexus.db-wal"))).toBe(true);

  // The test itself stops and starts the service.
  writeFileSync(join(tools, "systemctl"), "#!/bin/sh\n");
  chmodSync(join(tools, "systemctl"), 0o755);
  expect(restore.split("\n").at(0)).toBe("systemctl --user stop plexus");
  expect(restore.split("\n").at(-1)).toBe("systemctl --user start plexus");
  expect(await pasted(restore, { env })).toMatchObject({ exitCode: 0, stderr: "" });

  await using server = await start();
  await using parent = await connectClient(server.url, TOKEN);
  expect(await recordOf(server, parent)).toEqual(before);
});

async function decideNext(parent: TestClient): Promise<void> {
  const { value } = await parent.call("loopback_wait", { timeout_secs: 60 });
  const [approval] = Approval.array().parse(value["approvals"]);
  await parent.call("loopback_respond", { approval_id: approval?.id, approve: true });
  await until("the end of the turn", async () => {
    const poll = await parent.call("claudecode_poll", { name: "worker", from_seq: 0 });
    return poll.value["status"] === "complete";
  });
}

/** Everything that a client can see: sessions, events, conversations, requests. */
async function recordOf(server: ServerProcess, parent: TestClient): Promise<object> {
  const read = async (tool: string, args: object) => (await parent.call(tool, args)).value;
  const approvals = await fetch(`${server.url}${listApprovals.path}`, {
    headers: { Authorization: `Bearer ${TOKEN}` },
  });
  const events = await read("claudecode_poll", { name: "worker", from_seq: 0, limit: 1000 });
  expect(events["total_events"]).toBeGreaterThan(1);
  return {
    sessions: await read("claudecode_list", {}),
    events,
    tree: await read("claudecode_get_tree", { name: "worker" }),
    approvals: await approvals.json(),
  };
}

/** The commands under a heading of docs/operating.md, one text for each block. */
function commandsUnder(title: string): string[] {
  const page = readFileSync(join(ROOT, "docs/operating.md"), "utf8");
  const section = page.split(/^(?=## )/m).find((text) => text.startsWith(`## ${title}\n`)) ?? "";
  return [...section.matchAll(/^```sh\n(.*?)^```$/gms)].map(([, text = ""]) => text.trim());
}
