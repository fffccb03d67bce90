import type { MiddlewareHandler } from "hono";
import type { App, Holder, Principal } from "../../app.ts";
import { AppError } from "../../contract/refusals/errors.ts";
import type { Held } from "./request-limits.ts";

const MAX_WRONG = 100;
const WINDOW_MS = 10_000;
const OPERATOR: Holder = { principal: { kind: "operator" } };

/** The sender of a request. */
export type Caller = {
  holder: Holder;
  principal: Principal;
  /** The request has no token; under `--auth none` its sender acts as the operator. */
  anonymous: boolean;
  /** Fires when the token is revoked. */
  revoked: AbortSignal;
};

/** Hono's variables of a request; `caller` is undefined if the request has no token and needs none. */
export type Env = {
  /** `isLate`: the request arrived while the server was stopping. */
  Bindings: { server?: Bun.Server<undefined>; isLate?: boolean };
  Variables: { caller: Caller | undefined; held: Held };
};

export type AuthApp = Pick<App, "config" | "tokens">;

/** Identifies the caller of every request before any other handler; refuses a wrong token on every path. */
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

/** Returns the caller; refuses a request without one. */
export function callerOf(caller: Caller | undefined): Caller {
  if (caller) return caller;
  throw new AppError(
    "unauthorized",
    "Send `Authorization: Bearer TOKEN`. `plexus token show` prints the operator's token.",
  );
}

/** Refuses a caller whose token was revoked while the request waited, as if the token had never existed. */
export function refuseRevoked(caller: Caller | undefined): void {
  if (caller?.revoked.aborted) throw unknownToken();
}

/** Refuses web page tokens, so that a stolen one can't create anything that outlives it. */
export function refusePages(message: string): MiddlewareHandler<Env> {
  return (c, next) => {
    if (c.get("caller")?.holder.page) throw new AppError("forbidden", message);
    return next();
  };
}

/** Refuses children: they have one tool and no routes. */
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

/** An empty or malformed Authorization header counts as a wrong token, not as a missing one. */
function bearer(header: string | undefined): string | undefined {
  if (header === undefined) return undefined;
  return /^Bearer +(.+)$/i.exec(header.trim())?.[1] ?? "";
}

/** Counts only wrong tokens, so a valid one is never delayed. */
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
