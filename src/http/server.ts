import type { App } from "../app.ts";
import { AppError } from "../schema/errors.ts";
import { createRoutes, type McpHandler } from "./routes.ts";

const IDLE_SECS = 60;

export type HttpServer = AsyncDisposable & { url: string; port: number };

/** Listens. Streams switch the idle limit off for themselves; whoever dawdles over a request is cut off. */
export function startHttpServer(app: App, mcp: McpHandler): HttpServer {
  const routes = createRoutes(app, mcp);
  const { host, port } = app.config;
  const server = listen(() =>
    Bun.serve({
      hostname: host,
      port,
      idleTimeout: IDLE_SECS,
      // Bun's own refusal has no body, so the limit is ours (body.ts).
      maxRequestBodySize: Number.MAX_SAFE_INTEGER,
      fetch: (request, server) => routes.fetch(request, { server }),
    }),
  );
  const actual = server.port ?? port;
  app.listensOn(actual);
  return {
    url: app.childUrl(),
    port: actual,
    [Symbol.asyncDispose]: () => server.stop(true),
  };

  function listen<T>(start: () => T): T {
    try {
      return start();
    } catch (cause) {
      const code = cause instanceof Error && "code" in cause ? cause.code : undefined;
      const reason =
        code === "EADDRINUSE" ? "the port is in use" : cause instanceof Error ? cause.message : String(cause);
      throw new AppError("internal", `Can't listen on ${host}:${port}: ${reason}. Choose another with --port.`, {
        cause,
      });
    }
  }
}
