import type { MiddlewareHandler } from "hono";
import type { App, Holder, Principal } from "../../app.ts";
import { AppError } from "../../contract/refusals/errors.ts";
import type { Held } from "./request-limits.ts";

const MAX_WRONG = 100;
const WINDOW_MS = 10_000;
const OPERATOR: Holder = { principal: { kind: "operator" } };

/** Who sends a request. */
export type Caller = {
  holder: Holder;
  principal: Principal;
  /** Nobody named itself: under `--auth none` that is the operator. */
  anonymous: boolean;
  /** Fires when the token is revoked. */
  revoked: AbortSignal;
};

/** What is known of a request: no caller, where none is needed and no token was sent. */
export type Env = {
  /** `isLate`: the request came when the server was stopping already. */
  Bindings: { server?: Bun.Server<undefined>; isLate?: boolean };
  Variables: { caller: Caller | undefined; held: Held };
};

export type AuthApp = Pick<App, "config" | "tokens">;

/** Names the caller of every request before anything else looks at it; a wrong token is refused on every path. */
export function identifyCaller(app: AuthApp): MiddlewareHandler<Env> {
  const wrong = createWrongTokenLimit();
  return async (c, next) => {
    const secret = bearer(c.req.header("authorization"));
    const known = secret === undefined ? undefined : await app.tokens.identify(secret);
    if (secret !== undefined && !known) {
      wrong.count();
      throw unknownToken();
    }
    const anonymous = !known && app.config.auth === "none";
    const holder = anonymous ? OPERATOR : known;
    if (holder) {
      const revoked = await app.tokens.revocation(holder);
      if (revoked.aborted) throw unknownToken();
      c.set("caller", { holder, principal: holder.principal, anonymous, revoked });
    }
    await next();
  };
}

export const requireCaller: MiddlewareHandler<Env> = (c, next) => {
  callerOf(c.get("caller"));
  return next();
};

/** The caller, where there must be one. */
export function callerOf(caller: Caller | undefined): Caller {
  if (caller) return caller;
  throw new AppError(
    "unauthorized",
    "Send `Authorization: Bearer TOKEN`. `plexus token show` prints the operator's token.",
  );
}

/** For what has waited since: a token revoked meanwhile is refused like one that was never known. */
export function refuseRevoked(caller: Caller | undefined): void {
  if (caller?.revoked.aborted) throw unknownToken();
}

/** The token of a page is for the page: if it were stolen, it would open nothing that outlives it. */
export function refusePages(message: string): MiddlewareHandler<Env> {
  return (c, next) => {
    if (c.get("caller")?.holder.page) throw new AppError("forbidden", message);
    return next();
  };
}

/** Children have one tool and no routes. */
export const refuseChildren: MiddlewareHandler<Env> = (c, next) => {
  if (c.get("caller")?.principal.kind === "session") {
    throw new AppError("forbidden", "A child's token may call loopback_permit on /mcp, and nothing else.");
  }
  return next();
};

export const operatorOnly: MiddlewareHandler<Env> = async (c, next) => {
  if (c.get("caller")?.principal.kind !== "operator")
    throw new AppError("forbidden", "Only the operator's token may do this.");
  await next();
};

function unknownToken(): AppError {
  return new AppError(
    "unauthorized",
    "This token is not known here, or was revoked. `plexus token show` prints the operator's.",
  );
}

/** An empty or odd Authorization header is a wrong token, not a missing one. */
function bearer(header: string | undefined): string | undefined {
  if (header === undefined) return undefined;
  return /^Bearer +(.+)$/i.exec(header.trim())?.[1] ?? "";
}

/** Counts wrong tokens only, so that a valid one is never delayed. */
export function createWrongTokenLimit() {
  let since = 0;
  let seen = 0;
  return {
    count(): void {
      const now = performance.now();
      if (now - since > WINDOW_MS) {
        since = now;
        seen = 0;
      }
      if (++seen > MAX_WRONG)
        throw new AppError("too_many_requests", "Too many wrong tokens: try again in 10 seconds.");
    },
  };
}
