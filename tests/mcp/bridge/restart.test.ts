import { describe, expect, setDefaultTimeout, test } from "bun:test";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { RESULT_LINE, writeStandIn } from "../../support/claude/stand-in.ts";
import { permitMessage } from "../../support/mcp/raw-mcp.ts";
import { endRun, RUN_MARKER } from "../../support/processes/processes.ts";
import { startBridge } from "../../support/server/bridge-process.ts";
import { type KillableServer, startKillableServer } from "../../support/server/killable-server.ts";
import { OPERATOR_TOKEN } from "../../support/server/plexus.ts";
import { temporaryDirectory } from "../../support/temporary.ts";
import { until } from "../../support/until.ts";

setDefaultTimeout(120_000);

const PENDING = "loopback://approvals/pending";
const clientInfo = { name: "test", version: "1" };
const INITIALIZE = {
  id: "init",
  method: "initialize",
  params: { protocolVersion: "2025-11-25", capabilities: {}, clientInfo },
};

describe("a permit over stdio, when the server is killed with kill -9", () => {
  test("waits through three kills, and gets the decision of the fourth server, with a single request", async () => {
    await using server = await startKillableServer();
    const child = await server.child();
    await using bridge = startBridge(bridgeTo(server, child.token));
    bridge.send(permitMessage({ command: "ls" }, { toolUseId: "patient" }));
    const approval = await server.ask();
    for (let kills = 1; kills <= 3; kills++) {
      await server.kill();
      await until("the bridge to notice", () => said(bridge.said, "waiting").length === kills);
      await server.restart();
      await until("the bridge to be back", () => said(bridge.said, "is back").length === kills);
    }
    await server.call("loopback_respond", { approval_id: approval.id, approve: true });
    expect(permitAnswer(await bridge.answer(1))).toEqual({ behavior: "allow", updatedInput: { command: "ls" } });
    expect(await server.approvals()).toMatchObject([{ id: approval.id, status: "allowed" }]);
  });

  test("gets a decision that was made while it was away", async () => {
    await using server = await startKillableServer();
    const child = await server.child();
    await using bridge = startBridge(bridgeTo(server, child.token));
    bridge.send(permitMessage({ command: "ls" }, { toolUseId: "away" }));
    const approval = await server.ask();
    bridge.kill("SIGSTOP");
    await server.restart();
    await server.call("loopback_respond", { approval_id: approval.id, approve: false, message: "decided meanwhile" });
    bridge.kill("SIGCONT");
    expect(permitAnswer(await bridge.answer(1))).toEqual({ behavior: "deny", message: "decided meanwhile" });
    expect(await server.approvals()).toHaveLength(1);
  });

  test("gets a decision whose answer was on its way", async () => {
    await using server = await startKillableServer();
    const child = await server.child();
    await using bridge = startBridge(bridgeTo(server, child.token));
    bridge.send(permitMessage({ command: "ls" }, { toolUseId: "on its way" }));
    const approval = await server.ask();
    await server.call("loopback_respond", { approval_id: approval.id, approve: true });
    await server.restart();
    expect(permitAnswer(await bridge.answer(1))).toMatchObject({ behavior: "allow" });
    expect(await server.approvals()).toMatchObject([{ status: "allowed" }]);
  });

  test("waits while its siblings use up their share, and comes back for the same request", async () => {
    await using server = await startKillableServer();
    const child = await server.child();
    let refusals = 2;
    // A proxy that is as busy as the server would be.
    await using busy = Bun.serve({
      port: 0,
      idleTimeout: 0,
      fetch({ method, url, headers, body, signal }) {
        if (refusals-- > 0) return Response.json({ error: { message: "too much at once" } }, { status: 429 });
        // While the server is away, the proxy says so.
        const away = () => new Response(null, { status: 503 });
        return fetch(`${server.url}${new URL(url).pathname}`, { method, headers, body, signal }).catch(away);
      },
    });
    await using bridge = startBridge(bridgeTo({ url: `http://127.0.0.1:${busy.port}` }, child.token));
    bridge.send(permitMessage({ command: "ls" }, { toolUseId: "patient" }));
    const approval = await server.ask();
    refusals = 2;
    await server.restart();
    await until("the bridge to be refused again", () => refusals <= 0);
    await server.call("loopback_respond", { approval_id: approval.id, approve: true });
    expect(permitAnswer(await bridge.answer(1))).toMatchObject({ behavior: "allow" });
    expect(await server.approvals()).toMatchObject([{ id: approval.id, status: "allowed" }]);
  });

  test("is sent when the server comes for the first time", async () => {
    await using server = await startKillableServer();
    const child = await server.child();
    await server.kill();
    await using bridge = startBridge(bridgeTo(server, child.token));
    bridge.send(permitMessage({ command: "ls" }, { toolUseId: "early" }));
    await bridge.says("waiting for it");
    await server.restart();
    expect(await server.ask()).toMatchObject({ tool_use_id: "early" });
  });
});

describe("a client on stdio, when the server is killed with kill -9", () => {
  test("keeps its session and its subscriptions", async () => {
    await using server = await startKillableServer();
    await using bridge = startBridge(bridgeTo(server));
    await setUp(bridge);
    await server.restart();
    await bridge.says("is back");
    await toldOfAnAsk(server, bridge);
  });

  test("is set up again on a server that does not know it", async () => {
    await using server = await startKillableServer();
    await using other = await temporaryDirectory();
    await using bridge = startBridge(bridgeTo(server));
    await setUp(bridge);
    await server.restart(other.path);
    bridge.send({ id: 3, method: "tools/list" });
    expect(await bridge.answer(3)).toHaveProperty("result.tools");
    expect(bridge.messages.filter(({ id }) => id === INITIALIZE.id)).toHaveLength(1);
    await toldOfAnAsk(server, bridge);
  });

  test("goes on waiting in loopback_wait without an error", async () => {
    await using server = await startKillableServer();
    await using bridge = startBridge(bridgeTo(server));
    await setUp(bridge);
    bridge.send({ id: 3, method: "tools/list" });
    await bridge.answer(3);
    const { sessionId } = await server.child();
    bridge.send(call(4, "loopback.wait", { timeout_secs: 110 }));
    await server.restart();
    const ask = server.call("loopback_permit", { session_id: sessionId, tool_name: "Bash", input: { command: "ls" } });
    expect(JSON.stringify(await bridge.answer(4))).toContain(sessionId);
    await server.call("loopback_respond", { approval_id: (await server.ask()).id, approve: false });
    await ask;
  });

  test("goes on waiting in claudecode_chat, for the turn that it has started", async () => {
    await using directory = await temporaryDirectory();
    const runId = crypto.randomUUID();
    const gate = join(directory.path, "gate");
    const claude = writeStandIn(directory.path, `until [ -e ${gate} ]; do sleep 0.05; done; echo '${RESULT_LINE}'`);
    try {
      await using server = await startKillableServer({ args: ["--claude", claude], env: { [RUN_MARKER]: runId } });
      await using bridge = startBridge(bridgeTo(server));
      await setUp(bridge);
      await server.call("claudecode_create", { name: "busy", working_dir: directory.path });
      bridge.send(progressing(call(4, "claudecode_chat", { name: "busy", prompt: "work", wait_secs: 110 })));
      await until("the call to wait", () => bridge.messages.some(({ method }) => method === "notifications/progress"));
      await server.restart();
      await writeFile(gate, "");
      const { result } = await bridge.answer(4);
      expect(result).toMatchObject({ structuredContent: { type: "ok", status: "complete" } });
      expect((await server.call("claudecode_streams", {}))["streams"]).toHaveLength(1);
    } finally {
      await endRun(runId);
    }
  });

  test("learns immediately that the outcome of a call is unknown, and how to find out", async () => {
    await using server = await startKillableServer();
    // A proxy that loses the answer to this call.
    await using lossy = Bun.serve({
      port: 0,
      idleTimeout: 0,
      async fetch({ method, url, headers, body, signal }) {
        const text = await new Response(body).text();
        const sent = method === "POST" ? { body: text } : {};
        const response = await fetch(`${server.url}${new URL(url).pathname}`, { method, headers, signal, ...sent });
        if (!text.includes("claudecode_create")) return response;
        await response.text();
        return new Response(": nothing more\n\n", { headers: { "content-type": "text/event-stream" } });
      },
    });
    await using bridge = startBridge(bridgeTo({ url: `http://127.0.0.1:${lossy.port}` }));
    await setUp(bridge);
    bridge.send(call(4, "claudecode_create", { name: "made", working_dir: "/tmp" }));
    const { result } = await bridge.answer(4);
    expect(result).toMatchObject({ isError: true, structuredContent: { type: "error", code: "outcome_unknown" } });
    expect(JSON.stringify(result)).toContain("claudecode_get");
  });
});

describe("a client on stdio, when the server stops", () => {
  test("gets an answer immediately, and from the next server when it calls again", async () => {
    await using server = await startKillableServer();
    await using bridge = startBridge(bridgeTo(server));
    await setUp(bridge);
    const { sessionId } = await server.child();
    bridge.send(progressing(call(4, "loopback_wait", { session_id: sessionId, timeout_secs: 110 })));
    await until("the call to wait", () => bridge.messages.some(({ method }) => method === "notifications/progress"));
    await server.stop("SIGTERM");
    expect(await bridge.answer(4)).toMatchObject({ result: { structuredContent: { type: "timeout" } } });
    bridge.send(call(5, "loopback_wait", { session_id: sessionId, timeout_secs: 0 }));
    await bridge.says("waiting for it");
    await server.restart();
    expect(await bridge.answer(5)).toMatchObject({ result: { structuredContent: { type: "timeout" } } });
  });
});

const bridgeTo = ({ url }: Pick<KillableServer, "url">, token = OPERATOR_TOKEN) => ({
  args: ["--url", url],
  env: { PLEXUS_TOKEN: token },
});
const said = (lines: string[], what: string) => lines.filter((line) => line.includes(what));
const call = (id: number, name: string, args: object) => ({
  id,
  method: "tools/call",
  params: { name, arguments: args },
});

const progressing = ({ params, ...request }: ReturnType<typeof call>) => ({
  ...request,
  params: { ...params, _meta: { progressToken: "told" } },
});

async function setUp(bridge: ReturnType<typeof startBridge>): Promise<void> {
  bridge.send(INITIALIZE);
  await bridge.answer(INITIALIZE.id);
  bridge.send({ method: "notifications/initialized" });
  bridge.send({ id: "subscribe", method: "resources/subscribe", params: { uri: PENDING } });
  expect(await bridge.answer("subscribe")).toMatchObject({ result: {} });
}

/** A new request reaches the client as a message and as an update of its subscribed resource. */
async function toldOfAnAsk(server: KillableServer, bridge: ReturnType<typeof startBridge>): Promise<void> {
  const { sessionId } = await server.child();
  const heard = (method: string) => bridge.messages.some((message) => message["method"] === method);
  const asks: Promise<unknown>[] = [];
  // A request before the bridge listens again is not notified, but the client can read it.
  await until("both notifications", async () => {
    const input = { command: `ls ${asks.length}` };
    asks.push(server.call("loopback_permit", { session_id: sessionId, tool_name: "Bash", input }));
    const approval = await server.ask();
    await server.call("loopback_respond", { approval_id: approval.id, approve: false });
    return heard("notifications/message") && heard("notifications/resources/updated");
  });
  await Promise.all(asks);
}

function permitAnswer({ result }: Record<string, unknown>): unknown {
  const { content } = result as { content: { text: string }[] };
  return JSON.parse(content[0]?.text ?? "");
}
