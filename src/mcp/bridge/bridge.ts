import { isJsonObject, type JsonObject } from "../../contract/values.ts";
import { hasBatches } from "../revision.ts";
import { carryCall, type RpcRequest } from "./call.ts";
import { messagesOf } from "./event-stream.ts";
import { modernHeaders } from "./modern.ts";
import { failure, type PostOutcome, post } from "./post.ts";
import { RpcId, type RpcLine, rpcLines } from "./rpc-lines.ts";
import { type BridgeServerNeed, createBridgeServer } from "./server.ts";
import { createBridgeSession } from "./session.ts";

/** Below what one process can have open at once, so that a cancellation always gets through. */
const MAX_CALLS = 200;
const GOODBYE_MS = 500;

export type BridgeNeed = Omit<BridgeServerNeed, "over"> & {
  input: ReadableStream<Uint8Array>;
  /** Resolves when the client has taken it; rejects when nobody reads any more. */
  write(line: string): Promise<void>;
  stopped: AbortSignal;
};

type Reader = { read(): Promise<{ value?: Uint8Array | undefined }> };

/** A refused token is the end: no further attempt can help. */
export type BridgeEnd = { kind: "closed" } | { kind: "unauthorized"; url: string; message: string };

/**
 * MCP on a pair of pipes, carried to the server's endpoint and back, until the client closes its end. Without the SDK:
 * its transports give a call up with its connection, and take longer to load than all of this.
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
    // The client asks whether the other end of its pipe lives, and that is this process.
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

  /** A message that nobody waits for: told to the server that is there, if one is. */
  async function tell(line: Exclude<RpcLine, { kind: "request" | "unreadable" }>): Promise<void> {
    if (line.kind === "notification" && line.method === "notifications/cancelled") {
      const id = RpcId.safeParse(line.params["requestId"]).data;
      if (id !== undefined) calls.get(id)?.abort();
      // Without a session, whoever leaves the answer has cancelled.
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

  /** What the server says by itself; a child's endpoint has nothing to say. */
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

/** A client whose pipe breaks has closed it. */
async function* chunksOf(reader: Reader): AsyncGenerator<Uint8Array> {
  for (;;) {
    const { value } = await reader.read().catch(() => ({ value: undefined }));
    if (!value) return;
    yield value;
  }
}
