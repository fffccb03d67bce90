import type { App } from "../app.ts";
import { createRoutes, type HttpApp } from "./app.ts";
import { descriptorLimit, watchDescriptors } from "./descriptors.ts";
import { type Listener, listen, listenBeside } from "./listener.ts";
import { createPageLoader, type LoadPage } from "./page/page.ts";
import type { McpTransport } from "./routes/mcp.ts";

/** How long a connection may be idle, and how often our streams send keep-alives. */
type Pace = { idleSecs: number; keepAliveMs: number };
const PACE: Pace = { idleSecs: 60, keepAliveMs: 15_000 };

type HttpServer = AsyncDisposable & { url: string; port: number };

type Address = { host: string; port: number };

/** Accepts connections before the app exists. `beside`: on the port of a server that is about to hand over. */
export function listenAhead({ host, port }: Address, { beside }: { beside: boolean }): Listener {
  return (beside ? listenBeside : listen)({ host, port, idleSecs: PACE.idleSecs });
}

/**
 * Starts the HTTP server, on the given listener if there is one. A client that is too slow to send its request is
 * disconnected; waiting calls turn the idle limit off for themselves. Disposing it also disposes `mcp`: it answers
 * every waiting call, ends every stream, waits until the answers have arrived, and then closes all connections. Whoever
 * starts many servers can pass one `loadPage`, so that the page is built only once.
 */
export function startHttpServer(
  app: HttpApp & Pick<App, "listensOn" | "childUrl">,
  mcp: McpTransport,
  {
    pace = PACE,
    listener = listen({ ...app.config, idleSecs: pace.idleSecs }),
    descriptors = descriptorLimit(),
    loadPage = createPageLoader(),
  }: { pace?: Pace; listener?: Listener; descriptors?: number; loadPage?: LoadPage } = {},
): HttpServer {
  const closing = new AbortController();
  const watched = watchDescriptors(app.log, listener.closeIdle);
  app.listensOn(listener.port);
  const { keepAliveMs } = pace;
  const routes = createRoutes({ app, mcp, loadPage, keepAliveMs, descriptors, closing: closing.signal });
  listener.answerWith((request, server) => routes.fetch(request, { server, isLate: closing.signal.aborted }));
  return {
    url: app.childUrl(),
    port: listener.port,
    async [Symbol.asyncDispose]() {
      watched[Symbol.dispose]();
      await listener.refuse();
      // Waiting calls are answered now, with what there is.
      closing.abort();
      await listener.answered();
      await mcp[Symbol.asyncDispose]();
      await listener.sent();
      await listener[Symbol.asyncDispose]();
    },
  };
}
