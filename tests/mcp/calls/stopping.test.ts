import { describe, expect, setDefaultTimeout, test } from "bun:test";
import { existsSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { head, sendRaw } from "../../http/support/raw-request.ts";
import { writeStandIn } from "../../support/claude/stand-in.ts";
import { connectClient } from "../../support/mcp/mcp-client.ts";
import { CLI_PROTOCOL, permitMessage, post } from "../../support/mcp/raw-mcp.ts";
import { OPERATOR_TOKEN, type Plexus, startPlexus } from "../../support/server/plexus.ts";
import { temporaryDirectory } from "../../support/temporary.ts";
import { until } from "../../support/until.ts";

setDefaultTimeout(60_000);

/** The waiting calls would otherwise wait for 100 s. */
const AT_ONCE_MS = 10_000;
const operator = { kind: "operator" } as const;
const ACCEPT = { Accept: "application/json, text/event-stream" };
const authorization = { Authorization: `Bearer ${OPERATOR_TOKEN}` };

/** A server whose children work endlessly. */
async function startBusy() {
  const stack = new AsyncDisposableStack();
  const directory = stack.use(await temporaryDirectory());
  const plexus = await startPlexus({ flags: { claude: writeStandIn(directory.path, "exec tail -f /dev/null") } });
  let isStopped = false;
  const stop = async () => {
    if (isStopped) return;
    isStopped = true;
    await plexus[Symbol.asyncDispose]();
  };
  stack.defer(stop);
  const client = stack.use(await connectClient(plexus.url, OPERATOR_TOKEN));
  const create = (name: string) => client.call("claudecode_create", { name, working_dir: directory.path });
  return { plexus, client, create, stop, path: directory.path, [Symbol.asyncDispose]: () => stack.disposeAsync() };
}

const eventsOf = async (plexus: Plexus, name: string) =>
  (await plexus.app.polls.latest((await plexus.app.sessions.require(operator, name)).id))?.eventCount ?? 0;

describe("a server that stops", () => {
  test("answers every waiting call immediately with what it has", async () => {
    await using busy = await startBusy();
    const { plexus, client, create } = busy;
    for (const name of ["polled", "chatted", "rested"]) await create(name);
    await client.call("claudecode_chat_async", { name: "polled", prompt: "work" });
    await until("the turn to begin", async () => (await eventsOf(plexus, "polled")) > 0);
    await client.call("claudecode_poll", { name: "polled" });
    const waits = {
      wait: client.call("loopback_wait", { timeout_secs: 100 }),
      poll: client.call("claudecode_poll", { name: "polled", wait_secs: 100 }),
      chat: client.call("claudecode_chat", { name: "chatted", prompt: "work", wait_secs: 100 }),
      alone: post(plexus.url, call("loopback_wait", { timeout_secs: 100 }), { token: OPERATOR_TOKEN }),
      restWait: plexus.fetch("/api/v1/wait", {
        method: "POST",
        body: JSON.stringify({ timeout_secs: 100, consumer: "rest" }),
      }),
      rest: plexus.fetch("/api/v1/sessions/rested/chat", {
        method: "POST",
        body: JSON.stringify({ prompt: "work", wait_secs: 100 }),
      }),
    };
    for (const name of ["chatted", "rested"]) await until(`${name} to begin`, () => eventsOf(plexus, name));
    const events = await plexus.fetch("/api/v1/events");
    const alone = await waits.alone;
    const start = performance.now();
    const stopped = busy.stop();
    expect((await waits.wait).value).toMatchObject({ type: "timeout", cursor: expect.any(Number) });
    expect((await waits.poll).value).toMatchObject({ type: "ok", status: "running", events: [], has_more: false });
    expect((await waits.chat).value).toMatchObject({ type: "ok", status: "running" });
    expect(JSON.parse(await alone.answer())).toMatchObject({ type: "timeout", cursor: expect.any(Number) });
    expect(await (await waits.restWait).json()).toMatchObject({ type: "timeout", cursor: expect.any(Number) });
    expect(await (await waits.rest).json()).toMatchObject({ type: "ok", status: "running" });
    // Followers get a proper end of their stream.
    expect(await events.text()).toBe("retry: 1000\n\n");
    expect(performance.now() - start).toBeLessThan(AT_ONCE_MS);
    await stopped;
  });

  test("answers outcome_unknown to a call that still works after two seconds", async () => {
    await using busy = await startBusy();
    await busy.create("slow");
    const at = (name: string) => join(busy.path, name);
    // The changed executable must report its version again, which takes longer than a stopping server waits.
    writeFileSync(at("claude"), `#!/bin/sh\ntouch ${at("begun")}; sleep 5; touch ${at("done")}\n`);
    const starting = busy.client.call("claudecode_chat_async", { name: "slow", prompt: "work" });
    await until("the call to be at work", () => existsSync(at("begun")));
    const stopped = busy.stop();
    const { isError, value } = await starting;
    expect({ isError, value }).toMatchObject({ isError: true, value: { code: "outcome_unknown" } });
    expect(existsSync(at("done"))).toBe(false);
    await stopped;
    await until("its process to end", () => existsSync(at("done")));
  });

  test("refuses late requests, except a permit, which it accepts and which can resume", async () => {
    await using busy = await startBusy();
    const { plexus } = busy;
    const child = await plexus.child();
    const stopping = Promise.withResolvers<void>();
    // The server waits briefly for requests that have begun to arrive.
    const slow = sendRaw(plexus.url, [
      head(plexus.url, "POST /api/v1/sessions", { ...authorization, "Content-Length": "9" }),
    ]);
    const rest = half(plexus.url, "GET /api/v1/sessions", authorization, stopping.promise);
    const health = half(plexus.url, "GET /healthz", {}, stopping.promise);
    const mcp = half(plexus.url, "POST /mcp", authorization, stopping.promise, call("loopback_pending", {}));
    const bearer = { Authorization: `Bearer ${child.token}` };
    const permit = half(plexus.url, "POST /mcp", bearer, stopping.promise, permitMessage({ command: "ls" }));
    await someTurns();
    const stopped = busy.stop();
    await until("the port to be closed", () =>
      fetch(plexus.url).then(
        () => false,
        () => true,
      ),
    );
    stopping.resolve();
    expect(await rest).toMatchObject({ status: 503, body: expect.stringContaining('"code":"unreachable"') });
    expect(await health).toMatchObject({ status: 503 });
    expect(await mcp).toMatchObject({ status: 503, body: expect.stringContaining("nothing was done") });
    expect(await permit).toMatchObject({ status: 200, body: expect.stringMatching(/^id: [\w-]+~[.][\w-]+~1$/m) });
    await slow;
    await stopped;
  });

  test("answers a thousand parents in a moment", async () => {
    await using busy = await startBusy();
    const { plexus } = busy;
    await busy.create("busy");
    await busy.client.call("claudecode_chat_async", { name: "busy", prompt: "work" });
    const parents = await Promise.all(Array.from({ length: 1_000 }, (_, id) => openWaiter(plexus.url, id)));
    await until("all of them to wait", () => parents.every(({ isWaiting }) => isWaiting()));
    const start = performance.now();
    const stopped = busy.stop();
    const answers = await Promise.all(parents.map(({ received }) => received));
    expect(performance.now() - start).toBeLessThan(AT_ONCE_MS);
    expect(answers.filter((text) => text.includes('{\\"type\\":\\"timeout\\"'))).toHaveLength(1_000);
    await stopped;
  });
});

const call = (name: string, args: object, id = 1) => ({
  jsonrpc: "2.0",
  id,
  method: "tools/call",
  params: { name, arguments: args },
});

/** Runs the event loop for some rounds. */
async function someTurns(): Promise<void> {
  for (let turn = 0; turn < 20; turn++) await new Promise(setImmediate);
}

/** Sends a request, but the last line of its head, and its body, only after `go` resolves. */
function half(url: string, line: string, headers: Record<string, string>, go: Promise<void>, message?: object) {
  const body = message ? JSON.stringify(message) : "";
  const described = message
    ? { "Content-Type": "application/json", "Content-Length": String(body.length), ...CLI_PROTOCOL, ...ACCEPT }
    : {};
  const text = head(url, line, { ...headers, ...described });
  return sendRaw(
    url,
    (async function* () {
      yield text.slice(0, -2);
      await go;
      yield `${text.slice(-2)}${body}`;
    })(),
  );
}

/** A parent's call of loopback_wait on its own socket: `fetch` does not hold so many at once. */
async function openWaiter(url: string, id: number) {
  const received = Promise.withResolvers<string>();
  let text = "";
  const { hostname, port } = new URL(url);
  const socket = await Bun.connect({
    hostname,
    port: Number(port),
    socket: {
      data(_, data) {
        text += data.toString();
      },
      close: () => received.resolve(text),
    },
  });
  const body = JSON.stringify(call("loopback_wait", { timeout_secs: 100 }, id));
  const described = { "Content-Type": "application/json", "Content-Length": String(body.length) };
  socket.write(head(url, "POST /mcp", { ...authorization, ...CLI_PROTOCOL, ...ACCEPT, ...described }) + body);
  // The second id is sent when the call waits.
  return { received: received.promise, isWaiting: () => text.split("id: call.").length > 2 };
}
