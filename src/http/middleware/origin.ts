import { isIP } from "node:net";
import type { MiddlewareHandler } from "hono";
import { type Config, isLoopback } from "../../config.ts";
import { AppError } from "../../contract/refusals/errors.ts";
import type { Env } from "./auth.ts";

/**
 * Refuses requests that a foreign web page could send: those with a host name rebound to this server, and those with
 * another origin. Addresses can't be rebound, so a server on an open interface accepts every address.
 */
export function checkOrigin(config: Config): MiddlewareHandler<Env> {
  const publicName = config.publicUrl === undefined ? [] : [nameOf(new URL(config.publicUrl).host)];
  const names = new Set(
    ["127.0.0.1", "localhost", "::1", config.host, ...config.allowedHosts, ...publicName].map((name) =>
      name.toLowerCase(),
    ),
  );
  const known = (host: string) => names.has(host) || (!isLoopback(config.host) && isIP(host) !== 0);
  return async (c, next) => {
    const header = c.req.header("host") ?? "";
    if (!known(nameOf(header))) {
      throw new AppError(
        "forbidden",
        `Plexus is not called "${header}" here: start it with --allowed-hosts to allow that name.`,
      );
    }
    const origin = c.req.header("origin");
    if (origin !== undefined && hostOf(origin) !== header.toLowerCase()) {
      throw new AppError("forbidden", "Requests from other web pages are refused.");
    }
    await next();
  };
}

/** Returns the name or address in a Host header, without port and brackets. */
function nameOf(header: string): string {
  const host = header.toLowerCase();
  return (/^\[(.+)\](:\d+)?$/.exec(host) ?? /^([^:]*)(:\d+)?$/.exec(host))?.[1] ?? "";
}

function hostOf(origin: string): string | undefined {
  return URL.parse(origin)?.host;
}
