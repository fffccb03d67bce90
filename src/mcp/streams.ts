/** From this protocol version on, clients understand an event without data, and resume by its id. */
const RESUMABLE_SINCE = "2025-11-25";
const PROTOCOL_VERSION = "mcp-protocol-version";

export const SSE_HEADERS = {
  "Content-Type": "text/event-stream",
  "Cache-Control": "no-cache, no-transform",
  "X-Accel-Buffering": "no",
};
export const COMMENT = ": plexus\n\n";

const encoder = new TextEncoder();

/** What a stream begins with: the id to resume it by, where the client knows how. */
export function firstEvent(request: Request, id: string, retryMs: number): string {
  const version = request.headers.get(PROTOCOL_VERSION) ?? "";
  return version >= RESUMABLE_SINCE ? `id: ${id}\nretry: ${retryMs}\ndata: \n\n` : COMMENT;
}

export function sseMessage(fields: object): string {
  return `event: message\ndata: ${JSON.stringify({ jsonrpc: "2.0", ...fields })}\n\n`;
}

/** The same response with `first` in front: Bun holds the headers back until the first chunk, so there must be one at once. */
export function primed(response: Response, first: string, onEnd = () => {}, onTaken = () => {}): Response {
  if (!response.body || !response.headers.get("content-type")?.startsWith("text/event-stream")) {
    onEnd();
    return response;
  }
  const reader = response.body.getReader();
  const body = new ReadableStream<Uint8Array>({
    start: (controller) => controller.enqueue(encoder.encode(first)),
    async pull(controller) {
      onTaken();
      const { done, value } = await reader.read().catch((cause) => {
        onEnd();
        throw cause;
      });
      if (!done) return controller.enqueue(value);
      onEnd();
      controller.close();
    },
    async cancel(reason) {
      onEnd();
      await reader.cancel(reason);
    },
  });
  return new Response(body, response);
}

/** Resolves when the response is complete. */
export async function drained(response: Response): Promise<void> {
  await response.body?.pipeTo(new WritableStream());
}

/** A request of a client session as its transport wants it, for a message that is replayed. */
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

/** What the SDK is handed with a request; through `authInfo` its handlers learn that the caller has gone. */
export function transportOptions(request: Request, body: unknown, gone: AbortSignal = request.signal) {
  const authInfo = { token: "", clientId: "", scopes: [], extra: { signal: gone } };
  return { authInfo, ...(body !== undefined && { parsedBody: body }) };
}

/** A plain HTTP client that takes anything takes what we send. */
export function acceptable(request: Request): Request {
  const accept = request.headers.get("accept");
  if (accept !== null && accept.trim() !== "*/*") return request;
  const headers = new Headers(request.headers);
  headers.set("accept", "application/json, text/event-stream");
  return new Request(request.url, { method: request.method, headers, signal: request.signal });
}
