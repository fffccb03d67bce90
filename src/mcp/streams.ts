import type { RequestId } from "@modelcontextprotocol/sdk/types.js";
import { namesModern, PROTOCOL_VERSION } from "./revision.ts";

/** From this revision on, clients understand an event without data and resume by its id. */
const RESUMABLE_SINCE = "2025-11-25";

export const SSE_HEADERS = {
  "Content-Type": "text/event-stream",
  "Cache-Control": "no-cache, no-transform",
  "X-Accel-Buffering": "no",
};
export const COMMENT = ": plexus\n\n";

const encoder = new TextEncoder();

/** Whether the client can resume an answer by the id of its stream. */
export function canResume(request: Request): boolean {
  return (request.headers.get(PROTOCOL_VERSION) ?? "") >= RESUMABLE_SINCE;
}

/** The first event of a stream: the id to resume it by, if the client can do that. */
export function firstEvent(request: Request, id: string, retryMs: number): string {
  return canResume(request) ? idEvent(id, retryMs) : COMMENT;
}

/** Announces the id by which the client can resume the stream from here. */
export function idEvent(id: string, retryMs: number): string {
  return `id: ${id}\nretry: ${retryMs}\ndata: \n\n`;
}

export function sseMessage(fields: object): string {
  return `event: message\ndata: ${JSON.stringify({ jsonrpc: "2.0", ...fields })}\n\n`;
}

/** The answer to a request as an event. A modern client is told that the result is complete. */
export function reply(request: Request, id: RequestId, result: object): string {
  return sseMessage({ id, result: namesModern(request) ? { resultType: "complete", ...result } : result });
}

/** Lets other code write to a stream. Text is kept until the stream exists, and dropped after its end. */
export type Aside = { say(text: string): void; attach(send: (text: string) => void): void; end(): void };

export function createAside(): Aside {
  let early = "";
  let send = (text: string) => {
    early += text;
  };
  return {
    say: (text) => send(text),
    attach(sendNow) {
      if (early) sendNow(early);
      send = sendNow;
    },
    end() {
      send = () => {};
    },
  };
}

type Priming = { first: string; aside?: Aside | undefined; onEnd?: () => void; onTaken?: () => void };

/**
 * Puts `first` in front of the response: Bun holds the headers back until the first chunk, so one must follow at once.
 */
export function primed(response: Response, { first, aside, onEnd = () => {}, onTaken = () => {} }: Priming): Response {
  const end = () => {
    aside?.end();
    onEnd();
  };
  if (!response.body || !isEventStream(response)) {
    end();
    return response;
  }
  const reader = response.body.getReader();
  const body = new ReadableStream<Uint8Array>({
    start(controller) {
      const send = (text: string) => controller.enqueue(encoder.encode(text));
      send(first);
      aside?.attach(send);
    },
    async pull(controller) {
      onTaken();
      const { done, value } = await reader.read().catch((cause) => {
        end();
        throw cause;
      });
      if (!done) return controller.enqueue(value);
      end();
      controller.close();
    },
    async cancel(reason) {
      end();
      await reader.cancel(reason);
    },
  });
  return new Response(body, response);
}

function isEventStream(response: Response): boolean {
  return response.headers.get("content-type")?.startsWith("text/event-stream") ?? false;
}

/** Resolves when the response is complete. */
export async function drained(response: Response): Promise<void> {
  await response.body?.pipeTo(new WritableStream());
}

/** A request to a client session's transport, for a replayed message. */
export function jsonRequest(sessionId: string, message: object): Request {
  return new Request("http://127.0.0.1/mcp", {
    method: "POST",
    headers: {
      "content-type": "application/json",
      accept: "application/json, text/event-stream",
      "mcp-session-id": sessionId,
    },
    body: JSON.stringify(message),
  });
}

/** Adds the accepted types for plain HTTP clients that accept anything. */
export function acceptable(request: Request): Request {
  const accept = request.headers.get("accept");
  if (accept !== null && accept.trim() !== "*/*") return request;
  const headers = new Headers(request.headers);
  headers.set("accept", "application/json, text/event-stream");
  return new Request(request.url, { method: request.method, headers, signal: request.signal });
}
