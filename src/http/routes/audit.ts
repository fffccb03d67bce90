import { Hono } from "hono";
import type { App } from "../../app.ts";
import { type Env, operatorOnly } from "../middleware/auth.ts";

const encoder = new TextEncoder();

/** The hash chains over decisions, for the operator: they hold everybody's. */
export function auditRoutes(app: App) {
  return new Hono<Env>()
    .use(operatorOnly)
    .use(async (c, next) => {
      // A long record takes longer than a connection may be silent.
      c.env.server?.timeout(c.req.raw, 0);
      await next();
    })
    .get("/verify", async (c) => c.json(await app.auditCheck.verify()))
    .get("/export", () => {
      const lines = app.auditCheck.export();
      const body = new ReadableStream<Uint8Array>({
        // What fails on the way breaks the connection off: half a record must not pass for a whole one.
        async pull(controller) {
          const { done, value } = await lines.next();
          if (done) controller.close();
          else controller.enqueue(encoder.encode(`${JSON.stringify(value)}\n`));
        },
        cancel: () => void lines.return(undefined),
      });
      return new Response(body, { headers: { "content-type": "application/jsonl" } });
    });
}
