/**
 * The usual alternative on the same stack: the waiting call reads the database repeatedly until somebody has decided.
 */
import { Database } from "bun:sqlite";
import { join } from "node:path";
import { Hono } from "hono";

const everyMs = Number(process.env["POLL_EVERY_MS"]);
const db = new Database(join(process.env["PLEXUS_DATA_DIR"] ?? "", "polling.db"), { create: true });
db.run("PRAGMA journal_mode = WAL");
db.run("PRAGMA synchronous = FULL");
db.run("CREATE TABLE IF NOT EXISTS approvals (id TEXT PRIMARY KEY, status TEXT NOT NULL)");
const encoder = new TextEncoder();

const app = new Hono();
app.post("/mcp", async (c) => {
  const { id: rpcId } = await c.req.json();
  const id = Bun.randomUUIDv7();
  db.query("INSERT INTO approvals VALUES (?, 'pending')").run(id);
  const body = new ReadableStream<Uint8Array>({
    async start(controller) {
      const send = (text: string) => controller.enqueue(encoder.encode(text));
      send(`id: ${id}~${rpcId}\ndata: \n\nevent: message\ndata: {"method":"notifications/progress"}\n\n`);
      const read = db.query<{ status: string }, [string]>("SELECT status FROM approvals WHERE id = ?");
      while (read.get(id)?.status === "pending") await Bun.sleep(everyMs);
      const content = [{ type: "text", text: '{"behavior":"allow","updatedInput":{}}' }];
      send(`event: message\ndata: ${JSON.stringify({ jsonrpc: "2.0", id: rpcId, result: { content } })}\n\n`);
      controller.close();
    },
  });
  return new Response(body, { headers: { "content-type": "text/event-stream" } });
});
app.post("/api/v1/approvals/:id/respond", (c) => {
  db.query("UPDATE approvals SET status = 'allowed' WHERE id = ? AND status = 'pending'").run(c.req.param("id"));
  return c.json({ status: "allowed" });
});

const server = Bun.serve({ hostname: "127.0.0.1", port: 0, idleTimeout: 0, fetch: app.fetch });
process.on("message", () => process.send?.({ tokens: ["unused"] }));
process.send?.({ port: server.port });
