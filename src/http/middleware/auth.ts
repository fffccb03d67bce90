import type { Context, MiddlewareHandler } from "hono";
import type { App, Holder, Principal } from "../../app.ts";
import { AppError } from "../../contract/errors.ts";
import type { Held } from "./request-limits.ts";

const MAX_WRONG = 100;
const WINDOW_MS = 10_000;
const OPERATOR: Holder = { principal: { kind: "operator" } };

/** What the handlers of a request know of its sender; nothing on an open path without a token. */
export type Env = {
  Bindings: { server?: Bun.Server<undefined> };
  Variables: { holder: Holder; principal: Principal; anonymous: boolean; revoked: AbortSignal; held: Held };
};

/** Names the principal of every request before anything else looks at it; only `open` paths need none. */
export function authenticate(app: App, open: (path: string) => boolean): MiddlewareHandler<Env> {
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
      c.set("holder", holder);
      c.set("principal", holder.principal);
      c.set("anonymous", anonymous);
      c.set("revoked", await app.tokens.revocation(holder));
    } else if (!open(c.req.path)) {
      throw new AppError(
        "unauthorized",
        "Send `Authorization: Bearer TOKEN`. `plexus token show` prints the operator's token.",
      );
    }
    await next();
  };
}

/** For what has waited since: a token revoked meanwhile is refused like one that was never known. */
export function refuseRevoked(c: Context<Env>): void {
  if (c.get("revoked")?.aborted) throw unknownToken();
}

/** The token of a page is for the page: were it stolen, it would open nothing that outlives it. */
export function refusePages(message: string): MiddlewareHandler<Env> {
  return async (c, next) => {
    if (c.get("holder")?.page) throw new AppError("forbidden", message);
    await next();
  };
}

/** Children have one tool and no routes. */
export const refuseChildren: MiddlewareHandler<Env> = async (c, next) => {
  if (c.get("principal")?.kind === "session") {
    throw new AppError("forbidden", "A child's token may call loopback_permit on /mcp, and nothing else.");
  }
  await next();
};

export const operatorOnly: MiddlewareHandler<Env> = async (c, next) => {
  if (c.get("principal")?.kind !== "operator")
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
