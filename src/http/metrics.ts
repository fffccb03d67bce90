import { Hono } from "hono";
import type { App } from "../app.ts";
import { COMMIT, VERSION } from "../version.ts";
import type { Env } from "./auth.ts";

/** Figures for Prometheus, of everybody's doings: numbers, and no names. */
export function metricsRoute(app: App) {
  app.metrics.setBuild({ version: VERSION, commit: COMMIT ?? "" });
  return new Hono<Env>().get("/", async (c) =>
    c.body(await app.metrics.text(), 200, { "Content-Type": app.metrics.contentType, "Cache-Control": "no-store" }),
  );
}
