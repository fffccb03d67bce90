import { Hono } from "hono";
import type { App } from "../../app.ts";
import { COMMIT, VERSION } from "../../version.ts";
import type { Env } from "../middleware/auth.ts";

const HEADERS = { "Content-Type": "text/plain; version=0.0.4; charset=utf-8", "Cache-Control": "no-store" };

/** Figures for Prometheus, of everybody's doings: numbers, and no names. */
export function metricsRoute(app: App) {
  const build = { version: VERSION, commit: COMMIT ?? "" };
  return new Hono<Env>().get("/", async (c) => c.body(await app.metrics.text(build), 200, HEADERS));
}
