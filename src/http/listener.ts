import type { Server } from "bun";
import { AppError } from "../contract/refusals/errors.ts";

type Handler = (request: Request, server: Server<undefined>) => Response | Promise<Response>;
export type Listener = AsyncDisposable & {
  port: number;
  /** Answers the waiting requests and all later ones. */
  answerWith(handler: Handler): void;
  /** Closes connections without an unanswered request. */
  closeIdle(): void;
  /** Stops accepting connections and keeps the existing ones; connections made before are still accepted and read. */
  refuse(): Promise<void>;
  /** Resolves when every request so far has an answer (for a stream, its beginning), or after a time limit. */
  answered(): Promise<void>;
  /** Resolves when the clients have received their complete answers, streams included, or after a time limit. */
  sent(): Promise<void>;
};

/** Time limits for clients that are slow to send their request or to read their answer. */
const ANSWERED_WITHIN_MS = 1_000;
const SENT_WITHIN_MS = 2_000;
/** Rounds of the event loop: one to accept and one to read, twice. */
const LET_IN_ROUNDS = 4;

type Address = { host: string; port: number; idleSecs: number };

/** Accepts connections at once; requests wait until there is a handler. */
export function listen(address: Address): Listener {
  openPort(address, () => Bun.serve({ ...place(address), reusePort: false, fetch: () => new Response() })).stop(true);
  return listenBeside(address);
}

/**
 * The same on the port of a server that is about to hand over. The system divides new connections between the two, so
 * no client finds the port closed in between.
 */
export function listenBeside(address: Address): Listener {
  const answering = Promise.withResolvers<Handler>();
  const unanswered = new Set<Promise<unknown>>();
  let answer: Handler = async (request, server) => (await answering.promise)(request, server);
  const answered = (response: Response | Promise<Response>) => {
    if (!(response instanceof Promise)) return response;
    const done = () => void unanswered.delete(response);
    unanswered.add(response);
    response.then(done, done);
    return response;
  };
  const server = openPort(address, () =>
    Bun.serve({
      ...place(address),
      reusePort: true,
      idleTimeout: address.idleSecs,
      // Bun's refusal has no body, so body.ts enforces the limit.
      maxRequestBodySize: Number.MAX_SAFE_INTEGER,
      fetch: (request, server) => answered(answer(request, server)),
    }),
  );
  let stopped: Promise<void> | undefined;
  return {
    port: server.port ?? address.port,
    answerWith(handler) {
      answer = handler;
      answering.resolve(handler);
    },
    closeIdle: () => void server.closeIdleConnections(),
    async refuse() {
      // Accept and read connections that were already made: a call that is cut off before its answer begins would fail.
      for (let round = 0; round < LET_IN_ROUNDS; round++) await new Promise(setImmediate);
      // Resolves when the last byte of the last answer is written.
      stopped = server.stop();
    },
    answered: () => atMost(ANSWERED_WITHIN_MS, Promise.allSettled(unanswered)),
    sent: () => atMost(SENT_WITHIN_MS, stopped),
    [Symbol.asyncDispose]: () => server.stop(true),
  };
}

async function atMost(ms: number, work: Promise<unknown> | undefined): Promise<void> {
  const timeUp = Promise.withResolvers<void>();
  const timer = setTimeout(timeUp.resolve, ms);
  await Promise.race([work, timeUp.promise]);
  clearTimeout(timer);
}

/** Without `development: false`, Bun answers an uncaught error with a page that shows our code. */
function place({ host, port }: Address) {
  return { hostname: host, port, development: false };
}

/** Another process listens on the port. */
export class PortInUse extends AppError {}

/** Error codes for an address that this machine doesn't have, or that is none. */
const HOST_CODES = new Set(["EADDRNOTAVAIL", "EINVAL", "ENOTFOUND", "EAFNOSUPPORT"]);

function openPort<T>({ host, port }: Address, open: () => T): T {
  try {
    return open();
  } catch (cause) {
    const code = cause instanceof Error && "code" in cause ? String(cause.code) : "";
    // A host name without an address fails with the code of whatever failed before it, and a free port is never in use.
    const isAddress = HOST_CODES.has(code) || (code === "EADDRINUSE" && port === 0);
    const inUse = code === "EADDRINUSE" && !isAddress;
    const known =
      code === "EADDRINUSE" ? (inUse ? "the port is in use" : "this machine has no such address") : undefined;
    const reason = known ?? (cause instanceof Error ? cause.message : String(cause));
    const message = `Can't listen on ${host}:${port}: ${reason}. Choose another with ${isAddress ? "--host" : "--port"}.`;
    throw new (inUse ? PortInUse : AppError)("internal", message, { cause });
  }
}
