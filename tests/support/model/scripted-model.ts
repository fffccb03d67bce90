import { createAnswer } from "./answer.ts";
import { Conversation, nextTurn } from "./conversation.ts";
import type { SpokenTurn, Turn } from "./script.ts";

export { readResults, type ToolResult } from "./conversation.ts";
export { fromResult, script, type Turn } from "./script.ts";

export type ModelRequest = { path: string; headers: Headers; conversation: Conversation; turn: Turn };

export type ScriptedModel = AsyncDisposable & {
  url: string;
  /** Every message request so far, oldest first, with the turn that answered it. */
  requests: ModelRequest[];
  /** Releases the turns that wait for this name, now and later. */
  release(name: string): void;
};

/**
 * The Messages API, on loopback by default. Each prompt contains its own script, so one model serves any number of
 * runs.
 */
export function startScriptedModel(hostname = "127.0.0.1"): ScriptedModel {
  const requests: ModelRequest[] = [];
  const gates = createGates();
  const closing = new AbortController();

  const server = Bun.serve({
    hostname,
    port: 0,
    idleTimeout: 0,
    maxRequestBodySize: 256 * 1024 * 1024,
    async fetch(request) {
      const path = new URL(request.url).pathname;
      if (request.method === "HEAD") return new Response();
      if (request.method !== "POST") return refusal(404, `nothing answers ${request.method} ${path}`);
      if (!path.startsWith("/v1/messages")) return refusal(404, `nothing answers POST ${path}`);

      const { data: conversation, error } = Conversation.safeParse(await request.json());
      if (conversation === undefined) return refusal(400, error.message);
      if (path === "/v1/messages/count_tokens") return Response.json({ input_tokens: tokensIn(conversation) });
      const turn = nextTurn(conversation);
      requests.push({ path, headers: request.headers, conversation, turn });
      if ("status" in turn) return refusal(turn.status, turn.message ?? "scripted error");
      if ("hang" in turn) return aborted(AbortSignal.any([request.signal, closing.signal]));
      if ("cut" in turn) return cutStream();
      if (turn.waitFor !== undefined) await gates.passed(turn.waitFor);
      return spoken(turn, conversation);
    },
  });

  return {
    url: `http://127.0.0.1:${server.port}`,
    requests,
    release: gates.open,
    async [Symbol.asyncDispose]() {
      closing.abort();
      gates.openAll();
      await server.stop(true);
    },
  };
}

/** A rough but stable count, because the CLI refuses tool results by their number of tokens. */
function tokensIn({ messages }: Conversation): number {
  return Math.ceil(JSON.stringify(messages).length / CHARACTERS_PER_TOKEN);
}

const CHARACTERS_PER_TOKEN = 4;

function spoken(turn: SpokenTurn, { model, stream }: Conversation): Response {
  const answer = createAnswer(turn, model);
  return stream ? eventStream(answer.events()) : Response.json(answer.message);
}

function eventStream(events: AsyncGenerator<string>): Response {
  const encoder = new TextEncoder();
  const body = new ReadableStream<Uint8Array>({
    async pull(controller) {
      const next = await events.next();
      if (next.done) controller.close();
      else controller.enqueue(encoder.encode(next.value));
    },
    async cancel() {
      await events.return(undefined);
    },
  });
  return new Response(body, { headers: EVENT_STREAM });
}

/** Sends the start of an answer, then resets the connection. */
function cutStream(): Response {
  const encoder = new TextEncoder();
  const body = new ReadableStream<Uint8Array>({
    async start(controller) {
      const events = createAnswer({ say: "this sentence never ends" }, "scripted").events();
      for (let sent = 0; sent < CUT_AFTER_EVENTS; sent++) {
        const { value } = await events.next();
        controller.enqueue(encoder.encode(value));
      }
      // Data still queued when the stream fails would never be sent.
      await Bun.sleep(CUT_AFTER_MS);
      // Without a reason, because Bun would print it like a bug of the server.
      controller.error();
    },
  });
  return new Response(body, { headers: EVENT_STREAM });
}

const EVENT_STREAM = { "content-type": "text/event-stream" };
/** The start of the message and its block, and one delta. */
const CUT_AFTER_EVENTS = 3;
const CUT_AFTER_MS = 50;

function refusal(status: number, message: string): Response {
  return Response.json({ type: "error", error: { type: ERROR_TYPES[status] ?? "api_error", message } }, { status });
}

const ERROR_TYPES: Record<number, string> = {
  400: "invalid_request_error",
  401: "authentication_error",
  403: "permission_error",
  404: "not_found_error",
  413: "request_too_large",
  429: "rate_limit_error",
  529: "overloaded_error",
};

/** Resolves only when the client or the model is gone. */
function aborted(signal: AbortSignal): Promise<Response> {
  const gone = () => refusal(500, "hung, as scripted");
  if (signal.aborted) return Promise.resolve(gone());
  return new Promise((resolve) => signal.addEventListener("abort", () => resolve(gone()), { once: true }));
}

function createGates() {
  const gates = new Map<string, PromiseWithResolvers<void>>();
  let closed = false;
  const gate = (name: string) => {
    const known = gates.get(name) ?? Promise.withResolvers<void>();
    gates.set(name, known);
    if (closed) known.resolve();
    return known;
  };
  return {
    passed: (name: string) => gate(name).promise,
    open: (name: string) => gate(name).resolve(),
    openAll() {
      closed = true;
      for (const { resolve } of gates.values()) resolve();
    },
  };
}
