import { z } from "zod";
import { Approval, McpConfig } from "../../src/contract/approvals/approval.ts";
import { JsonObject } from "../../src/contract/values.ts";
import { permitMessage, post, type RawStream } from "../../tests/support/mcp/raw-mcp.ts";
import { type ServerProcess, startServerProcess } from "../../tests/support/server/server-process.ts";
import { temporaryDirectory } from "../../tests/support/temporary.ts";

const TOKEN = "operator-token-of-the-faults";
const Listed = z.object({ approvals: z.array(Approval) });
const Configured = z.object({ mcp_config: McpConfig });

/** A request whose child is connected and waits. */
export type Asked = { id: string; stream: RawStream };
/** The status of an answer, and its text. */
export type Answer = { status: number; text: string };

export type Latency = { middle: number; slowest: number };

export type Rig = AsyncDisposable & {
  server: ServerProcess;
  dataDir: string;
  token: string;
  request(path: string, init?: RequestInit): Promise<Answer>;
  /** Calls a tool as the operator. */
  call(tool: string, args?: object): Promise<JsonObject>;
  /** Makes a request as the child of a new session, and returns when it is stored. */
  ask(): Promise<Asked>;
  /** Makes a request, and returns the child's final answer. */
  answerTo(command: string): Promise<string>;
  allow(id: string): Promise<Answer>;
  statusOf(id: string): Promise<string>;
  /** Returns how many requests were allowed so far. */
  allowed(): Promise<number>;
  /** Returns the median and the slowest of another caller's calls, in milliseconds. */
  latency(calls?: number): Promise<Latency>;
};

type Options = { dataDir?: string; args?: string[]; program?: string[] };

/** Starts a separate server process for a fault, with its callers. */
export async function startRig(options: Options = {}): Promise<Rig> {
  await using stack = new AsyncDisposableStack();
  const dataDir = options.dataDir ?? stack.use(await temporaryDirectory()).path;
  const server = stack.use(await startServerProcess({ ...options, dataDir, token: TOKEN }));
  let asks = 0;

  async function request(path: string, init: RequestInit = {}): Promise<Answer> {
    const headers = { authorization: `Bearer ${TOKEN}`, "content-type": "application/json", ...init.headers };
    const response = await fetch(`${server.url}${path}`, { ...init, headers });
    return { status: response.status, text: await response.text() };
  }

  async function call(tool: string, args: object = {}): Promise<JsonObject> {
    const message = { jsonrpc: "2.0", id: 1, method: "tools/call", params: { name: tool, arguments: args } };
    const stream = await post(server.url, message, { token: TOKEN });
    return JsonObject.parse(JSON.parse(await stream.answer()));
  }

  const { mcp_config } = Configured.parse(await call("loopback_configure", { name: "child" }));
  const childToken = mcp_config.mcpServers.plexus.headers.Authorization.replace("Bearer ", "");

  const ask = async (command: string) => {
    const message = permitMessage({ command }, { id: ++asks, toolUseId: `toolu_${asks}` });
    return post(server.url, message, { token: childToken });
  };
  const list = async (query: string) =>
    Listed.parse(JSON.parse((await request(`/api/v1/approvals?${query}`)).text)).approvals;

  const owned = stack.move();
  return {
    server,
    dataDir,
    token: TOKEN,
    request,
    call,
    async ask() {
      const stream = await ask("true");
      const first = await stream.next();
      return { id: first?.id?.split("~")[0] ?? "", stream };
    },
    answerTo: async (command) => (await ask(command)).answer(),
    allow: (id) => request(`/api/v1/approvals/${id}/respond`, { method: "POST", body: '{"approve":true}' }),
    async statusOf(id) {
      const { text } = await request(`/api/v1/approvals/${id}`);
      return z.object({ approval: Approval }).parse(JSON.parse(text)).approval.status;
    },
    allowed: async () => (await list("status=allowed&limit=1000")).length,
    async latency(calls = 50) {
      const samples: number[] = [];
      for (let made = 0; made < calls; made++) {
        const startedAt = performance.now();
        const { status } = await request("/api/v1/approvals?limit=1");
        if (status !== 200) throw new Error(`somebody else's call was answered ${status}`);
        samples.push(performance.now() - startedAt);
      }
      const sorted = samples.toSorted((a, b) => a - b);
      return { middle: sorted[calls >> 1] ?? 0, slowest: sorted.at(-1) ?? 0 };
    },
    [Symbol.asyncDispose]: () => owned.disposeAsync(),
  };
}

export function ratioOf(during: Latency, before: Latency): string {
  const ratio = (during.middle / before.middle).toFixed(1);
  return `${ratio} × (${before.middle.toFixed(1)} → ${during.middle.toFixed(1)} ms, the slowest ${during.slowest.toFixed(0)} ms)`;
}

/** Returns whether the latency is acceptable: a slower one would be noticed, and other load alone does not cause it. */
export function isBearable(during: Latency, before: Latency): boolean {
  return (during.middle < 20 * before.middle || during.middle < 100) && during.slowest < 1_500;
}
