import type { Result, Router } from "hono/router";
import { RegExpRouter } from "hono/router/reg-exp-router";

const EVERYWHERE = "/*";

/**
 * Hono's fast router rejects `/approvals/respond` beside `/approvals/:id/respond`; with one such pair, Hono uses a
 * slower router for every request. This router looks up exact paths first, each with its own handlers and the global
 * ones, so both kinds stay fast. Routes that still conflict are refused when they are added.
 */
export function createRouter<T>(): Router<T> {
  const routes: { method: string; path: string; handler: T }[] = [];
  const patterns = new RegExpRouter<T>();
  /** By path, then by method; computed at the first request. */
  const exact = new Map<string, Map<string, Result<T> | undefined>>();

  function resultOf(method: string, path: string): Result<T> {
    const isOn = (route: (typeof routes)[number]) =>
      (route.path === path || route.path === EVERYWHERE) && (route.method === method || route.method === "ALL");
    return [routes.filter(isOn).map(({ handler }) => [handler, {}])];
  }

  return {
    name: "ExactFirstRouter",
    add(method, path, handler) {
      const isPattern = path.includes(":") || path.includes("*");
      // Such a wildcard would not run for the exact paths that it covers.
      if (path.includes("*") && (path !== EVERYWHERE || method !== "ALL"))
        throw new Error(`${method} ${path}: a wildcard stands before all, or nowhere`);
      routes.push({ method, path, handler });
      if (isPattern) patterns.add(method, path, handler);
      else exact.set(path, (exact.get(path) ?? new Map()).set(method, undefined));
    },
    match(method, path) {
      const known = exact.get(path);
      const declared = known?.has(method) ? method : "ALL";
      if (!known?.has(declared)) return patterns.match(method, path);
      const result = known.get(declared) ?? resultOf(declared, path);
      known.set(declared, result);
      return result;
    },
  };
}
