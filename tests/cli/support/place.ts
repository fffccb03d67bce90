import { readFileSync } from "node:fs";
import { join } from "node:path";
import { type Api, createApi } from "../../../src/client/api.ts";
import { type Approval, PermitAnswer } from "../../../src/contract/approvals/approval.ts";
import { listApprovals } from "../../../src/contract/routes/approvals.ts";
import { ConfigureAnswer } from "../../../src/contract/tools/approval-answers.ts";
import { CreateAnswer } from "../../../src/contract/tools/session-answers.ts";
import type { JsonObject } from "../../../src/contract/values.ts";
import { callTool } from "../../../src/mcp/client.ts";
import { type ServerProcess, startServerProcess } from "../../support/server/server-process.ts";
import { temporaryDirectory } from "../../support/temporary.ts";
import { until } from "../../support/until.ts";
import { type CommandOptions, type Output, plexus } from "./command.ts";

export type FiledRequest = { id: string; answer: Promise<PermitAnswer> };

/** A server process on its own data dir, with commands to use it. */
export type Place = AsyncDisposable & {
  server: ServerProcess;
  dataDir: string;
  /** The operator's token. */
  token: string;
  /** A directory for files of a test. */
  scratch: string;
  /** `plexus ARGS --data-dir DIR`, away from any terminal. */
  plexus(args: string[], options?: CommandOptions): Promise<Output>;
  /** The REST API, as the operator. */
  api: Api;
  /** Calls a tool as the operator. */
  call(tool: string, args: JsonObject): Promise<unknown>;
  /** The pending requests of this session. */
  pending(sessionId: string): Promise<Approval[]>;
  /** A new by-hand session. */
  session(name?: string): Promise<string>;
  /** A new session whose children this server would start on this host. */
  managed(name: string, working_dir: string): Promise<string>;
  /** A child's call that waits for its decision. */
  ask(sessionId: string, toolName: string, input: JsonObject): Promise<FiledRequest>;
};

type PlaceOptions = { args?: string[]; token?: string; home?: string; env?: Record<string, string> };

export async function openPlace(options: PlaceOptions = {}): Promise<Place> {
  await using stack = new AsyncDisposableStack();
  const directory = stack.use(await temporaryDirectory());
  const scratch = stack.use(await temporaryDirectory()).path;
  const dataDir = directory.path;
  const server = stack.use(await startServerProcess({ dataDir, ...options }));
  const token = options.token ?? readFileSync(join(dataDir, "operator-token"), "utf8").trim();
  const owned = stack.move();

  const words = { unreachable: String, noPlexus: String, otherVersion: String };
  const api = createApi({ server: () => ({ url: server.url, token }), fetch, words });

  async function call(tool: string, args: JsonObject): Promise<unknown> {
    return (await callTool(api, tool, args))?.value;
  }

  async function pending(sessionId: string): Promise<Approval[]> {
    const query = { status: "pending", limit: 1000, session_id: sessionId } as const;
    return (await api.call(listApprovals, { query })).approvals;
  }

  return {
    server,
    dataDir,
    token,
    scratch,
    plexus: (args, more = {}) => plexus([...args, "--data-dir", dataDir], more),
    api,
    call,
    pending,
    session: async (name) => ConfigureAnswer.parse(await call("loopback_configure", { name })).session_id,
    managed: async (name, working_dir) => CreateAnswer.parse(await call("claudecode_create", { name, working_dir })).id,
    async ask(session_id, tool_name, input) {
      const tool_use_id = crypto.randomUUID();
      const answer = call("loopback_permit", { session_id, tool_name, input, tool_use_id }).then(PermitAnswer.parse);
      // A test that only needs the request leaves it pending until the server's end.
      answer.catch(() => undefined);
      const { id } = await until("the ask to be pending", async () => {
        return (await pending(session_id)).find((approval) => approval.tool_use_id === tool_use_id);
      });
      return { id, answer };
    },
    [Symbol.asyncDispose]: () => owned.disposeAsync(),
  };
}
