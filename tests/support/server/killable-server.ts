import { mkdirSync } from "node:fs";
import { join } from "node:path";
import type { Approval } from "../../../src/contract/approvals/approval.ts";
import { ApprovalList } from "../../../src/contract/routes/approvals.ts";
import { ConfigureAnswer } from "../../../src/contract/tools/approval-answers.ts";
import type { JsonObject } from "../../../src/contract/values.ts";
import { connectClient } from "../mcp/mcp-client.ts";
import { temporaryDirectory } from "../temporary.ts";
import { until } from "../until.ts";
import { OPERATOR_TOKEN as token } from "./plexus.ts";
import { type ServerProcess, startServerProcess } from "./server-process.ts";

export type KillableServer = AsyncDisposable & {
  url: string;
  dataDir: string;
  log(): string[];
  kill(): Promise<void>;
  /** Stops it with a signal that it can handle. */
  stop(signal: NodeJS.Signals): Promise<void>;
  /** Starts a new server in the same place, killing a running one first; on another data dir if given. */
  restart(dataDir?: string): Promise<void>;
  /** Calls a tool as the operator. */
  call(tool: string, args?: object): Promise<JsonObject>;
  /** A new by-hand session with a token for its child. */
  child(): Promise<{ sessionId: string; token: string }>;
  /** All requests as the operator sees them, newest first. */
  approvals(): Promise<Approval[]>;
  /** Waits for a pending request. */
  ask(): Promise<Approval>;
};

type Options = { args?: string[]; env?: Record<string, string>; program?: string[] };

/** A server in a separate process that can be killed and restarted at the same address. */
export async function startKillableServer(options: Options = {}): Promise<KillableServer> {
  await using stack = new AsyncDisposableStack();
  const directory = stack.use(await temporaryDirectory());
  const dataDir = join(directory.path, "data");
  mkdirSync(dataDir);
  const args = ["--log-level", "debug", ...(options.args ?? [])];
  let server: ServerProcess | undefined = await startServerProcess({ ...options, dataDir, token, args });
  const { url } = server;
  const port = Number(new URL(url).port);
  stack.defer(async () => server?.kill());
  const owned = stack.move();

  const kill = async () => {
    const running = server;
    server = undefined;
    await running?.kill();
  };
  const call = async (tool: string, sent: object = {}) => {
    await using client = await connectClient(url, token);
    return (await client.call(tool, sent)).value;
  };
  const listed = async (query: string) => {
    const response = await fetch(`${url}/api/v1/approvals?${query}`, { headers: { authorization: `Bearer ${token}` } });
    return ApprovalList.parse(await response.json()).approvals;
  };
  return {
    url,
    dataDir,
    log: () => server?.log ?? [],
    kill,
    async stop(signal) {
      const running = server;
      server = undefined;
      await running?.stop(signal);
    },
    async restart(other = dataDir) {
      await kill();
      mkdirSync(other, { recursive: true });
      server = await startServerProcess({ ...options, dataDir: other, port, token, args });
    },
    call,
    async child() {
      const { session_id, mcp_config } = ConfigureAnswer.parse(await call("loopback_configure"));
      const { Authorization } = mcp_config.mcpServers.plexus.headers;
      return { sessionId: session_id, token: Authorization.replace("Bearer ", "") };
    },
    approvals: () => listed("limit=100"),
    ask: () => until("the ask", async () => (await listed("status=pending"))[0]),
    [Symbol.asyncDispose]: () => owned.disposeAsync(),
  };
}
