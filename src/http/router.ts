import type { Result, Router } from "hono/router";
import { RegExpRouter } from "hono/router/reg-exp-router";

const EVERYWHERE = "/*";

/**
 * Hono's fast router takes no `/approvals/respond` beside `/approvals/:id/respond`: with one such pair, Hono walks a tree
 * for every request instead. Here an exact path is looked up first, with its own handlers and those that stand
 * everywhere, so that both kinds stay fast. What still can't be told apart is refused when it is added.
 */
export function createRouter<T>(): Router<T> {
  const routes: { method: string; path: string; handler: T }[] = [];
  const patterns = new RegExpRouter<T>();
  /** By path and then by method; made when it is first asked for. */
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
      // It would not stand before the exact paths that it covers.
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
