import { type App, type Clocks, openApp } from "../../../src/app.ts";
import { type Flags, readConfig } from "../../../src/config.ts";
import { McpConfig, plexusServer } from "../../../src/contract/approvals/approval.ts";
import { createPageLoader } from "../../../src/http/page/page.ts";
import { startHttpServer } from "../../../src/http/server.ts";
import { createLog } from "../../../src/log.ts";
import { createMcpEndpoint } from "../../../src/mcp/endpoint.ts";
import { connectClient, type TestClient } from "../mcp/mcp-client.ts";
import type { TemporaryDirectory } from "../temporary.ts";
import { temporaryDataDir } from "../temporary-data-dir.ts";

export const OPERATOR_TOKEN = "operator-token-for-tests";

/** All servers of this process share one page, bundled on the first request. */
const loadPage = createPageLoader();

export type Plexus = AsyncDisposable & {
  app: App;
  url: string;
  dataDir: string;
  /** The server's log, one JSON object on each line. */
  log: string[];
  /** An MCP client, as the operator by default. */
  connect(token?: string | null): Promise<TestClient>;
  /** Any request, as the operator by default. */
  fetch(path: string, init?: RequestInit & { token?: string | null }): Promise<Response>;
  /** A by-hand session of the operator with a token for its child. */
  child(name?: string): Promise<{ sessionId: string; token: string; mcpConfig: McpConfig }>;
};

/** `environment` is the children's environment, beside PATH. */
type Options = {
  flags?: Flags;
  clocks?: Clocks;
  dataDir?: string;
  environment?: Record<string, string>;
  openStorage?: Parameters<typeof openApp>[3];
};

/** A whole server in this process, on its own data dir and port. */
export async function startPlexus({
  flags = {},
  clocks = {},
  dataDir,
  environment = {},
  openStorage,
}: Options = {}): Promise<Plexus> {
  await using stack = new AsyncDisposableStack();
  const directory: Pick<TemporaryDirectory, "path"> = dataDir ? { path: dataDir } : stack.use(await temporaryDataDir());
  const config = readConfig(
    { port: "0", dataDir: directory.path, ...flags },
    { PLEXUS_TOKEN: OPERATOR_TOKEN, PATH: process.env["PATH"], HOME: directory.path, ...environment },
  );
  const log: string[] = [];
  const app = stack.use(
    await openApp(
      config,
      createLog("debug", (line) => log.push(line)),
      clocks,
      openStorage,
    ),
  );
  const http = stack.use(startHttpServer(app, createMcpEndpoint(app), { loadPage }));
  const clients = stack.use(new AsyncDisposableStack());
  const owned = stack.move();
  return {
    app,
    url: http.url,
    dataDir: directory.path,
    log,
    connect: async (token = OPERATOR_TOKEN) => clients.use(await connectClient(http.url, token)),
    fetch: (path, { token = OPERATOR_TOKEN, ...init } = {}) => {
      const headers = new Headers(init.headers);
      if (token !== null) headers.set("authorization", `Bearer ${token}`);
      if (init.body !== undefined && !headers.has("content-type")) headers.set("content-type", "application/json");
      return fetch(`${http.url}${path}`, { ...init, headers });
    },
    async child(name) {
      const session = await app.sessions.createByHand({ kind: "operator" }, name);
      const token = await app.tokens.createForChild(session.id);
      const plexus = plexusServer(http.url, token);
      return { sessionId: session.id, token, mcpConfig: McpConfig.parse({ mcpServers: { plexus } }) };
    },
    [Symbol.asyncDispose]: () => owned.disposeAsync(),
  };
}
