import type { Server } from "bun";
import { AppError } from "../contract/refusals/errors.ts";

type Handler = (request: Request, server: Server<undefined>) => Response | Promise<Response>;
export type Listener = AsyncDisposable & {
  port: number;
  /** Answers the requests that wait, and all later ones. */
  answerWith(handler: Handler): void;
  /** Closes the connections that have nothing unanswered. */
  closeIdle(): void;
  /** Accepts no more connections, and keeps those that are in use; what has connected before is accepted and read first. */
  refuse(): Promise<void>;
  /** Resolves when every request so far has an answer, which may be a stream, or after a while. */
  answered(): Promise<void>;
  /** Resolves when the clients have got all of their answers, the ends of streams too, or after a while. */
  sent(): Promise<void>;
};

/** A client that takes longer to send its request, or to read its answer, is not waited for. */
const ANSWERED_WITHIN_MS = 1_000;
const SENT_WITHIN_MS = 2_000;
/** One round to accept, one to read, and the same again. */
const LET_IN_ROUNDS = 4;

type Address = { host: string; port: number; idleSecs: number };

/** Accepts connections at once, and lets requests wait until there is a handler to answer them. */
export function listen(address: Address): Listener {
  openPort(address, () => Bun.serve({ ...place(address), reusePort: false, fetch: () => new Response() })).stop(true);
  return listenBeside(address);
}

/**
 * The same on the port of a server that is about to hand over: from then on each gets a part of the connections, and no
 * client finds the port closed in between.
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
      // Bun's own refusal has no body, so the limit is ours (body.ts).
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
      // Clients that have connected already are accepted and read first: a call that is cut off before its answer begins fails.
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

/** Without `development: false`, Bun answers a failure of ours with a page that shows our code. */
function place({ host, port }: Address) {
  return { hostname: host, port, development: false };
}

/** Another process listens on the port. */
export class PortInUse extends AppError {}

/** The address is not one of this machine, or not an address at all. */
const HOST_CODES = new Set(["EADDRNOTAVAIL", "EINVAL", "ENOTFOUND", "EAFNOSUPPORT"]);

function openPort<T>({ host, port }: Address, open: () => T): T {
  try {
    return open();
  } catch (cause) {
    const inUse = cause instanceof Error && "code" in cause && cause.code === "EADDRINUSE";
    const reason = inUse ? "the port is in use" : cause instanceof Error ? cause.message : String(cause);
    const isAddress = cause instanceof Error && "code" in cause && HOST_CODES.has(String(cause.code));
    const message = `Can't listen on ${host}:${port}: ${reason}. Choose another with ${isAddress ? "--host" : "--port"}.`;
    throw new (inUse ? PortInUse : AppError)("internal", message, { cause });
  }
}
