import type { App } from "../app.ts";
import { AppError } from "../schema/errors.ts";
import { createRoutes, type McpTransport } from "./routes.ts";

/** How long a connection may be silent, and how often our own streams break the silence. */
type Pace = { idleSecs: number; keepAliveMs: number };
const PACE: Pace = { idleSecs: 60, keepAliveMs: 15_000 };

export type HttpServer = AsyncDisposable & { url: string; port: number };

/**
 * Listens. Whoever dawdles over a request is cut off; calls that wait switch the idle limit off for themselves.
 * It takes `mcp` over: to stop means to let go of every stream first, and then to close what is left.
 */
export function startHttpServer(app: App, mcp: McpTransport, pace: Pace = PACE): HttpServer {
  const closing = new AbortController();
  const routes = createRoutes({ app, mcp, keepAliveMs: pace.keepAliveMs, closing: closing.signal });
  const { host, port } = app.config;
  const server = listen(() =>
    Bun.serve({
      hostname: host,
      port,
      // Otherwise Bun answers a failure of ours with a page that shows our code.
      development: false,
      // Which turns this on, so that a second server would share our port, and our callers.
      reusePort: false,
      idleTimeout: pace.idleSecs,
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
    async [Symbol.asyncDispose]() {
      void server.stop();
      closing.abort();
      await mcp[Symbol.asyncDispose]();
      // The ends of the streams are on their way by the next turn of the event loop.
      await new Promise(setImmediate);
      await server.stop(true);
    },
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
