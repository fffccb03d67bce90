import { heapStats } from "bun:jsc";
import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from "bun:test";
import { callEventId } from "../../../src/mcp/calls/event-id.ts";
import { connectClient, type TestClient } from "../../support/mcp/mcp-client.ts";
import { get, post, type RawStream } from "../../support/mcp/raw-mcp.ts";
import { type Plexus, startPlexus } from "../../support/server/plexus.ts";
import { until } from "../../support/until.ts";

setDefaultTimeout(60_000);

const CALLS = 50;
const KINDS = ["AbortSignal", "AbortController", "ReadableStream", "Request", "Timeout", "DisposableStack"];
/** The number of objects that the last request or an idle connection may still hold. */
const SLACK = 10;

let plexus: Plexus;
let client: TestClient;
let token: string;
beforeAll(async () => {
  plexus = await startPlexus();
  token = (await plexus.app.tokens.createNamed("parent")).token;
  client = await connectClient(plexus.url, token);
  // A session that could make a request, so that a wait really waits.
  await client.call("loopback_configure", {});
});
afterAll(async () => {
  await client[Symbol.asyncDispose]();
  await plexus[Symbol.asyncDispose]();
});

const wait = { since: 1_000, timeout_secs: 100 };
const all = <T>(make: (id: number) => Promise<T>) => Promise.all(Array.from({ length: CALLS }, (_, id) => make(id)));

async function left(streams: RawStream[]): Promise<void> {
  for (const stream of streams) await stream.next();
  for (const stream of streams) stream.disconnect();
}

const ways: [string, () => Promise<unknown>][] = [
  [
    "its client has closed its connection",
    async () => {
      const params = { name: "loopback_wait", arguments: wait, _meta: { progressToken: 1 } };
      await left(await all((id) => post(plexus.url, { jsonrpc: "2.0", id, method: "tools/call", params }, { token })));
    },
  ],
  [
    "its client has closed the connection by which it came back",
    async () => {
      const state = { since: 1_000, until: Date.now() + 100_000 };
      const id = callEventId({ tool: "loopback_wait", id: 1, progressToken: 1, state }) ?? "";
      await left(await all(() => get(plexus.url, { token, headers: { "last-event-id": id } })));
    },
  ],
  [
    "its client has taken it back",
    async () => {
      const cancel = new AbortController();
      let told = 0;
      const onprogress = () => void told++;
      const calls = all(() =>
        client.call("loopback_wait", wait, { signal: cancel.signal, onprogress }).catch(() => {}),
      );
      await until("all of them to wait", () => told >= CALLS);
      cancel.abort();
      await calls;
    },
  ],
  ["its time was up", () => all(() => client.call("loopback_wait", { since: 1_000, timeout_secs: 0.05 }))],
];

describe("a call that waited", () => {
  test.each(ways)("leaves no stream, timer or listener behind when %s", async (_, run) => {
    await run();
    await settled();
    const before = counts();
    await run();
    await run();
    await until("what is left to be no more than before", async () => {
      await settled();
      const now = counts();
      return KINDS.every((kind) => (now[kind] ?? 0) <= (before[kind] ?? 0) + SLACK);
    }).catch((error: Error) => {
      throw new Error(`${error.message}: ${JSON.stringify({ before, now: counts() })}`);
    });
    expect((await client.call("loopback_pending", {})).isError).toBe(false);
  });
});

function counts(): Record<string, number> {
  const found: Record<string, number> = heapStats().objectTypeCounts;
  return Object.fromEntries(KINDS.map((kind) => [kind, found[kind] ?? 0]));
}

async function settled(): Promise<void> {
  for (let turn = 0; turn < 20; turn++) await new Promise(setImmediate);
  Bun.gc(true);
}
