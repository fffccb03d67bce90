import { Hono } from "hono";
import { stream } from "hono/streaming";
import type { App } from "../app.ts";
import { type Env, operatorOnly } from "./auth.ts";

/** The hash chains over decisions, for the operator: they hold everybody's. */
export function auditRoutes(app: App) {
  return new Hono<Env>()
    .use(operatorOnly)
    .get("/verify", async (c) => c.json(await app.auditCheck.verify()))
    .get("/export", (c) => {
      c.header("content-type", "application/jsonl");
      c.env.server?.timeout(c.req.raw, 0);
      return stream(c, async (out) => {
        for await (const line of app.auditCheck.export()) {
          if (out.aborted) return;
          await out.write(`${JSON.stringify(line)}\n`);
        }
      });
    });
}
