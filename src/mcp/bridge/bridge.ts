import { isJsonObject, type JsonObject } from "../../contract/values.ts";
import { hasBatches } from "../revision.ts";
import { carryCall, type RpcRequest } from "./call.ts";
import { messagesOf } from "./event-stream.ts";
import { modernHeaders } from "./modern.ts";
import { failure, type PostOutcome, post } from "./post.ts";
import { RpcId, type RpcLine, rpcLines } from "./rpc-lines.ts";
import { type BridgeServerNeed, createBridgeServer } from "./server.ts";
import { createBridgeSession } from "./session.ts";

/** Below the number of connections that one process can have open, so that a cancellation always gets through. */
const MAX_CALLS = 200;
const GOODBYE_MS = 500;

export type BridgeNeed = Omit<BridgeServerNeed, "over"> & {
  input: ReadableStream<Uint8Array>;
  /** Resolves when the client has taken the line; rejects when the client has closed its end. */
  write(line: string): Promise<void>;
  stopped: AbortSignal;
};

type Reader = { read(): Promise<{ value?: Uint8Array | undefined }> };

/** Why the bridge ended. After a refused token no further attempt can succeed. */
export type BridgeEnd = { kind: "closed" } | { kind: "unauthorized"; url: string; message: string };

/**
 * Carries MCP between a pair of pipes and the server's endpoint until the client closes its end. It does not use the
 * SDK, whose transports give up a call when its connection breaks and take longer to load than the whole bridge.
 */
export async function runBridge({ input, stopped, ...need }: BridgeNeed): Promise<BridgeEnd> {
  const over = new AbortController();
  const ended = Promise.withResolvers<BridgeEnd>();
  const close = () => ended.resolve({ kind: "closed" });
  const server = createBridgeServer({ ...need, over: over.signal });
  const session = createBridgeSession(server.fetchMcp, over.signal);
  const calls = new Map<RpcId, AbortController>();
  const repeatableTools = new Set<string>();
  const reader = input.getReader();
  let isListening = false;

  const write = (message: JsonObject) => need.write(`${JSON.stringify(message)}\n`).catch(close);
  const refuse = (id: RpcId | null, code: number, message: string) =>
    write({ jsonrpc: "2.0", id, error: { code, message } });
  const refuseAll = async (message: string) => {
    for (const id of calls.keys()) await refuse(id, -32000, message);
  };
  const inBackground = (work: Promise<unknown>) => void work.catch(ended.reject);

  async function read(): Promise<void> {
    for await (const line of rpcLines(chunksOf(reader), () => hasBatches(session.revision()))) {
      if (line.kind === "unreadable") await refuse(null, line.code, line.problem);
      else if (line.kind === "request") await takeCall(line);
      else inBackground(tell(line));
    }
  }

  async function takeCall(request: RpcRequest): Promise<void> {
    // A ping asks whether the other end of the pipe lives, and that is this process.
    if (request.method === "ping" && !modernHeaders(request.message))
      return write({ jsonrpc: "2.0", id: request.id, result: {} });
    if (calls.has(request.id)) return refuse(null, -32600, `The id ${JSON.stringify(request.id)} is in use.`);
    if (calls.size >= MAX_CALLS) return refuse(request.id, -32000, `${MAX_CALLS} calls wait: let some end first.`);
    const cancel = new AbortController();
    calls.set(request.id, cancel);
    const cancelled = AbortSignal.any([over.signal, cancel.signal]);
    inBackground(
      carryCall({ server, session, repeatableTools, write }, request, cancelled)
        .then((refused) => refused && endIfUnauthorized(refused))
        .finally(() => calls.delete(request.id)),
    );
  }

  /** Passes on a message that expects no answer, if a server is there. */
  async function tell(line: Exclude<RpcLine, { kind: "request" | "unreadable" }>): Promise<void> {
    if (line.kind === "notification" && line.method === "notifications/cancelled") {
      const id = RpcId.safeParse(line.params["requestId"]).data;
      if (id !== undefined) calls.get(id)?.abort();
      // Without a session, closing the answer's stream has already cancelled the call.
      if (session.id() === undefined) return;
    }
    const headers = (line.kind === "notification" && modernHeaders(line.message)) || session.headers();
    const outcome = await post(server.fetchMcp, { text: line.text, headers, signal: over.signal });
    endIfUnauthorized(outcome);
    if (line.kind === "notification" && line.method === "notifications/initialized" && !isListening) {
      isListening = true;
      await listen();
    }
  }

  /** Passes on the server's own notifications. A child's endpoint has none. */
  async function listen(): Promise<void> {
    while (!over.signal.aborted) {
      const usedSession = session.id();
      const headers = { Accept: "text/event-stream", ...session.headers() };
      const response = await server.fetchMcp({ headers, signal: over.signal }).catch(() => undefined);
      if (response?.status === 405) return;
      if (response?.ok) {
        for await (const message of messagesOf(response)) if (isJsonObject(message)) await write(message);
      } else if (response) {
        const outcome = await failure(response, headers);
        endIfUnauthorized(outcome.kind === "no_session" ? await session.renew(usedSession) : outcome);
      }
      await server.back();
    }
  }

  function endIfUnauthorized(outcome: PostOutcome): void {
    if (outcome.kind === "unauthorized") ended.resolve({ ...outcome, url: server.url() });
  }

  async function goodbye(): Promise<void> {
    if (session.id() === undefined) return;
    const signal = AbortSignal.timeout(GOODBYE_MS);
    await server.fetchMcp({ method: "DELETE", headers: session.headers(), signal }).catch(() => undefined);
  }

  stopped.addEventListener("abort", close);
  if (stopped.aborted) close();
  inBackground(read().then(close));
  try {
    const end = await ended.promise;
    if (end.kind === "unauthorized") await refuseAll(end.message);
    return end;
  } catch (cause) {
    await refuseAll(cause instanceof Error ? cause.message : String(cause));
    throw cause;
  } finally {
    over.abort();
    await reader.cancel().catch(() => undefined);
    await goodbye();
  }
}

/** Ends with the input; a broken pipe counts as closed. */
async function* chunksOf(reader: Reader): AsyncGenerator<Uint8Array> {
  for (;;) {
    const { value } = await reader.read().catch(() => ({ value: undefined }));
    if (!value) return;
    yield value;
  }
}
