import { isInitializedNotification, isInitializeRequest } from "@modelcontextprotocol/sdk/types.js";
import { type App, openApp } from "../../src/app.ts";
import { readConfig } from "../../src/config.ts";
import { startHttpServer } from "../../src/http/server.ts";
import { createLog } from "../../src/log.ts";
import { createMcpEndpoint, type McpEndpoint } from "../../src/mcp/endpoint.ts";
import { temporaryDirectory } from "../support/temporary.ts";
import { createFixtureServer } from "./fixture.ts";
import { createModernFixtureServer } from "./modern-fixture.ts";

export type ServedFixture = AsyncDisposable & {
  url: string;
  /** The server's error log, one JSON object on each line. */
  log: string[];
};

/** The fixture's tools behind Plexus' own endpoint: only the server factory differs. */
export async function serveFixture(
  openEndpoint: (app: App) => McpEndpoint = (app) =>
    createMcpEndpoint(app, createFixtureServer, createModernFixtureServer),
): Promise<ServedFixture> {
  await using stack = new AsyncDisposableStack();
  const directory = stack.use(await temporaryDirectory());
  const config = readConfig({ port: "0", dataDir: directory.path, auth: "none" }, { HOME: directory.path });
  const log: string[] = [];
  const app = stack.use(
    await openApp(
      config,
      createLog("warn", (line) => log.push(line)),
    ),
  );
  const http = stack.use(startHttpServer(app, openEndpoint(app)));
  const owned = stack.move();
  return { url: http.url, log, [Symbol.asyncDispose]: () => owned.disposeAsync() };
}

/** Forgets its clients after each step of their handshake, as after a restart or half an hour of silence. */
export function createForgetfulEndpoint(app: App, onForget: () => void): McpEndpoint {
  let endpoint = createMcpEndpoint(app, createFixtureServer, createModernFixtureServer);
  return {
    async handle(request, caller, body) {
      const response = await endpoint.handle(request, caller, body);
      if (!isInitializeRequest(body) && !isInitializedNotification(body)) return response;
      const answer = await response.text();
      await endpoint[Symbol.asyncDispose]();
      endpoint = createMcpEndpoint(app, createFixtureServer, createModernFixtureServer);
      onForget();
      return new Response(answer, response);
    },
    [Symbol.asyncDispose]: () => endpoint[Symbol.asyncDispose](),
  };
}
