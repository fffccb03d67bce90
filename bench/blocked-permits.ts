import { emptyCallLatency } from "./decision-latency.ts";
import type { Latency } from "./measure.ts";
import { ANSWERED, connect, permitRequest } from "./server/connection.ts";
import type { BenchServer } from "./server/server-process.ts";

export type Blocked = { count: number; baseBytes: number; rssBytes: number; others: Latency; wakeAllMs: number };

const CONNECTING = 500;

/**
 * Measures many waiting children, each with its own session and connection: their memory, and how fast all are woken.
 */
export async function blockedPermits(server: BenchServer, count: number): Promise<Blocked> {
  const baseBytes = await server.memory();
  const tokens = await server.children(count);
  const children: Awaited<ReturnType<typeof connect>>[] = [];
  for (let start = 0; start < count; start += CONNECTING) {
    const batch = tokens.slice(start, start + CONNECTING).map(async (token) => {
      const child = await connect(server.port);
      await child.request(initializeRequest(token), '"id":0}');
      await child.request(permitRequest(token, "toolu_1"), "notifications/progress");
      return child;
    });
    children.push(...(await Promise.all(batch)));
  }
  const rssBytes = await server.memory();
  const others = await emptyCallLatency(server, 300);
  const answers = children.map((child) => child.read(ANSWERED));
  const start = performance.now();
  server.abandonAll();
  await Promise.all(answers);
  const wakeAllMs = performance.now() - start;
  for (const child of children) child.close();
  return { count, baseBytes, rssBytes, others, wakeAllMs };
}

function initializeRequest(token: string) {
  const params = { protocolVersion: "2025-11-25", capabilities: {}, clientInfo: { name: "bench", version: "1" } };
  return { method: "POST", path: "/mcp", token, body: { jsonrpc: "2.0", id: 0, method: "initialize", params } };
}
