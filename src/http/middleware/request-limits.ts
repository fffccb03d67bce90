import type { MiddlewareHandler } from "hono";
import type { App, Principal } from "../../app.ts";
import { AppError } from "../../contract/refusals/errors.ts";
import type { Env } from "./auth.ts";
import { createShares, type Holders, holdersOf, type Shares } from "./shares.ts";

/** For all callers except the operator. One owner may use half of it, and one child half of that. */
const MAX_RECEIVED_BYTES = 512 * 1024 * 1024;
/** Bodies up to this size are always accepted, so that large bodies never block small requests. */
const UNCOUNTED_BYTES = 16 * 1024;
/**
 * Reserved for the operator, the server's own files and the children that it starts; a quarter of all, if there are
 * few.
 */
const KEPT_DESCRIPTORS = 256;
const MAX_REMEMBERED = 1_000;

/** The resources that a request holds until its answer is complete: its connection, and the memory of its body. */
export type Held = {
  /** Counts more bytes of the body; refuses them if the sender's share is used up. */
  receive(bytes: number): void;
  /** Counts the connection until disposed, for an answer that continues after its handler has returned. */
  stayOpen(): Disposable;
  /** The same, and also counts the body, because a waiting call may keep it in memory. */
  stayOpenWithBody(): Disposable;
};

const NOTHING: Disposable = { [Symbol.dispose]() {} };
/** For the operator, who is never refused; and for callers without a token, who can't send or hold much. */
const UNCOUNTED: Held = { receive() {}, stayOpen: () => NOTHING, stayOpenWithBody: () => NOTHING };

export type LimitsApp = Pick<App, "sessions">;

/** Limits what each caller's requests hold at once, so that no token except the operator's can exhaust the server. */
export function limitRequests(app: LimitsApp, descriptors: number): MiddlewareHandler<Env> {
  const kept = Math.min(KEPT_DESCRIPTORS, Math.floor(descriptors / 4));
  const connections = createShares({ size: descriptors - kept, share: 3 / 4 });
  const bodies = createShares({ size: MAX_RECEIVED_BYTES, share: 1 / 2 });
  const holdersOfCaller = rememberHolders(app);
  return async (c, next) => {
    const principal = c.get("caller")?.principal;
    const holders = principal && (await holdersOfCaller(principal));
    if (!holders) {
      c.set("held", UNCOUNTED);
      return next();
    }
    if (!connections.fits(holders, 1)) {
      // Close the connection: kept alive, it would still hold the descriptor.
      c.header("Connection", "close");
      throw tooMany(
        "You hold as many requests and streams open as one caller may: close some of them, then try again.",
      );
    }
    const request = countRequest(holders, connections, bodies);
    c.set("held", request);
    try {
      await next();
    } finally {
      request.end();
    }
  };
}

function countRequest(holders: Holders, connections: Shares, bodies: Shares): Held & { end(): void } {
  let received = 0;
  let counted = 0;
  connections.change(holders, 1);
  return {
    receive(bytes) {
      received += bytes;
      if (received <= UNCOUNTED_BYTES) return;
      const more = received - counted;
      if (!bodies.fits(holders, more))
        throw tooMany("What you send at once is too large: wait until some of it is answered, then try again.");
      bodies.change(holders, more);
      counted = received;
    },
    stayOpen: () => connections.take(holders, 1),
    stayOpenWithBody() {
      const [connection, body] = [connections.take(holders, 1), bodies.take(holders, counted)];
      return {
        [Symbol.dispose]() {
          connection[Symbol.dispose]();
          body[Symbol.dispose]();
        },
      };
    },
    /** Call when the handler has returned; open streams are counted separately. */
    end() {
      connections.change(holders, -1);
      bodies.change(holders, -counted);
    },
  };
}

/**
 * Caches each session's holders: its owner never changes, and reading the session would dominate the cost of a small
 * request.
 */
function rememberHolders(app: LimitsApp): (principal: Principal) => Promise<Holders | undefined> {
  const known = new Map<string, Holders | undefined>();
  return async (principal) => {
    if (principal.kind !== "session") return holdersOf(principal);
    const { sessionId } = principal;
    const holders = known.get(sessionId) ?? holdersOf(principal, (await app.sessions.get(sessionId))?.owner);
    if (known.size >= MAX_REMEMBERED) known.clear();
    known.set(sessionId, holders);
    return holders;
  };
}

function tooMany(message: string): AppError {
  return new AppError("too_many_requests", message);
}
