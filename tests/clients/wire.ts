import { isJsonObject, type JsonObject } from "../../src/contract/values.ts";
import { until } from "../support/until.ts";

type Exchange = { method: string; headers: Headers; message: JsonObject; isAnswered: boolean };

/** The requests that a client sends before it knows the server's revision. */
const NEGOTIATION = ["initialize", "server/discover"];

/**
 * A proxy between client and server. It sees the negotiated revision and the waiting calls, which no client reports.
 */
export type Wire = AsyncDisposable & {
  /** The address for the client. */
  url: string;
  /** The revisions of MCP that its requests named after the handshake, each once. */
  revisions(): string[];
  /** Resolves when the server has begun to answer a call of this tool. */
  calls(tool: string): Promise<void>;
};

export function openWire(target: string): Wire {
  const exchanges: Exchange[] = [];
  const server = Bun.serve({
    hostname: "127.0.0.1",
    port: 0,
    idleTimeout: 0,
    async fetch(request) {
      const { pathname, search } = new URL(request.url);
      const body = request.method === "POST" ? await request.text() : undefined;
      const headers = new Headers(request.headers);
      headers.delete("host");
      const exchange = { method: request.method, headers, message: parsed(body), isAnswered: false };
      exchanges.push(exchange);
      const answer = await fetch(`${target}${pathname}${search}`, {
        method: request.method,
        headers,
        signal: request.signal,
        ...(body !== undefined && { body }),
      });
      exchange.isAnswered = true;
      return new Response(answer.body, answer);
    },
  });
  return {
    url: `http://127.0.0.1:${server.port}`,
    revisions: () => {
      const agreed = exchanges.filter(({ message }) => !NEGOTIATION.includes(String(message["method"])));
      return [...new Set(agreed.flatMap(({ headers }) => headers.get("mcp-protocol-version") ?? []))];
    },
    async calls(tool) {
      await until(`${tool} to be called`, () =>
        exchanges.some(({ message, isAnswered }) => isAnswered && toolIn(message) === tool),
      );
    },
    [Symbol.asyncDispose]: () => server.stop(true),
  };
}

function parsed(body: string | undefined): JsonObject {
  const message: unknown = body ? JSON.parse(body) : {};
  return isJsonObject(message) ? message : {};
}

function toolIn({ method, params }: JsonObject): unknown {
  return method === "tools/call" && isJsonObject(params) ? params["name"] : undefined;
}
