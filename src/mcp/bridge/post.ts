import { z } from "zod";
import { isJsonObject, type JsonObject } from "../../contract/values.ts";
import { messagesOf } from "./event-stream.ts";
import type { RpcId } from "./rpc-lines.ts";

/** The outcome of sending a message. `lost` means that nobody here knows whether the server has acted on it. */
export type PostOutcome =
  | { kind: "answered" }
  | { kind: "unsent" }
  | { kind: "lost" }
  | { kind: "no_session" }
  | { kind: "unauthorized"; message: string }
  /** With the server's own JSON-RPC error, if it sent one. */
  | { kind: "refused"; message: string; error?: JsonObject }
  /** Too many requests of this caller are under way. */
  | { kind: "busy"; message: string };

type Post = {
  text: string;
  /** Resumes a lost answer by the id of its stream instead of sending the text again. */
  resume?: string | undefined;
  headers: Record<string, string>;
  signal: AbortSignal;
  /** The request whose answer ends the exchange. Without it, the exchange ends when the server accepts the message. */
  awaits?: RpcId | undefined;
  /** Gives up as `lost` after this long without a sign of the server. */
  silenceMs?: number | undefined;
  onHeaders?: (headers: Headers) => void;
  onMessage?: (message: JsonObject) => Promise<void>;
  /** Called with each id by which the answer can be resumed. */
  onEventId?: ((id: string) => void) | undefined;
};

/** One request to the server's MCP endpoint. */
export type FetchMcp = (init: RequestInit) => Promise<Response>;

export const SESSION_ID = "mcp-session-id";
/** Errors before a connection exists, so nothing was sent. */
const BEFORE_SENDING = ["ECONNREFUSED", "ENOTFOUND", "EAI_AGAIN", "EHOSTUNREACH", "ENETUNREACH"];
/** The statuses with which a proxy reports that the server behind it is gone. */
const GONE = [502, 503, 504];
const Refusal = z.object({ error: z.object({ message: z.string() }) });
const RpcFailure = z.object({
  jsonrpc: z.literal("2.0"),
  error: z.looseObject({ code: z.int(), message: z.string() }),
});

/** Sends one message and passes on what comes back, up to its answer. */
export async function post(fetchMcp: FetchMcp, sent: Post): Promise<PostOutcome> {
  using silence = createSilence(sent.silenceMs);
  const signal = AbortSignal.any([sent.signal, silence.signal]);
  let response: Response;
  try {
    const accepted = { Accept: "application/json, text/event-stream", ...sent.headers };
    response = await fetchMcp({
      ...(sent.resume === undefined
        ? { method: "POST", headers: { "Content-Type": "application/json", ...accepted }, body: sent.text }
        : { method: "GET", headers: { "Last-Event-ID": sent.resume, ...accepted } }),
      signal,
      // On a fresh connection, a request that fails to connect was certainly not sent.
      keepalive: false,
    });
  } catch (cause) {
    return { kind: isBeforeSending(cause) ? "unsent" : "lost" };
  }
  if (!response.ok) return failure(response, sent.headers);
  sent.onHeaders?.(response.headers);
  for await (const message of messagesOf(response, { onHeard: silence.heard, onEventId: sent.onEventId })) {
    if (!isJsonObject(message)) continue;
    await sent.onMessage?.(message);
    if (sent.awaits !== undefined && message["id"] === sent.awaits && !("method" in message))
      return { kind: "answered" };
  }
  return { kind: sent.awaits === undefined ? "answered" : "lost" };
}

/** Translates an error response, using the server's own words if it has any. */
export async function failure(response: Response, sent: Record<string, string>): Promise<PostOutcome> {
  const body: unknown = await response.json().catch(() => undefined);
  if (response.status === 404 && SESSION_ID in sent) return { kind: "no_session" };
  if (GONE.includes(response.status)) return { kind: "lost" };
  const message =
    Refusal.safeParse(body).data?.error.message ?? `The server does not answer like Plexus (HTTP ${response.status}).`;
  if (response.status === 429) return { kind: "busy", message };
  if (response.status === 401) return { kind: "unauthorized", message };
  const error = RpcFailure.safeParse(body).data?.error;
  return { kind: "refused", message, ...(error && { error }) };
}

function isBeforeSending(cause: unknown): boolean {
  return cause instanceof Error && "code" in cause && BEFORE_SENDING.includes(String(cause.code));
}

/** Aborts after a silence: a server that hangs keeps its connections open. */
function createSilence(ms: number | undefined) {
  const controller = new AbortController();
  let timer: ReturnType<typeof setTimeout> | undefined;
  const heard = () => {
    clearTimeout(timer);
    if (ms !== undefined) timer = setTimeout(() => controller.abort(), ms);
  };
  heard();
  return { signal: controller.signal, heard, [Symbol.dispose]: () => clearTimeout(timer) };
}
