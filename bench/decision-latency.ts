import { type Latency, latency, timed } from "./measure.ts";
import { ANSWERED, askedIn, type Connection, connect, permitRequest } from "./server/connection.ts";
import { type BenchServer, OPERATOR_TOKEN } from "./server/server-process.ts";

const WARM_UP = 50;

/** Measures the time from sending a decision until the waiting child has its answer, one after the other. */
export async function decisionLatency(server: BenchServer, rounds: number, warmUp = WARM_UP): Promise<Latency> {
  const [token = ""] = await server.children(1);
  const child = await connect(server.port);
  const decider = await connect(server.port);
  const samples: number[] = [];
  for (let round = 0; round < rounds + warmUp; round++) {
    const approvalId = askedIn(await child.request(permitRequest(token, `toolu_${round}`), "notifications/progress"));
    const elapsed = await timed(async () => {
      const acknowledged = respond(decider, approvalId);
      await child.read(ANSWERED);
      await acknowledged;
    });
    if (round >= warmUp) samples.push(elapsed);
  }
  child.close();
  decider.close();
  return latency(samples);
}

/** Measures an empty call through the official transport. */
export async function emptyCallLatency(server: BenchServer, rounds: number): Promise<Latency> {
  const client = await connect(server.port);
  const params = { protocolVersion: "2025-11-25", capabilities: {}, clientInfo: { name: "bench", version: "1" } };
  const initialized = await client.request(
    {
      method: "POST",
      path: "/mcp",
      token: OPERATOR_TOKEN,
      body: { jsonrpc: "2.0", id: 0, method: "initialize", params },
    },
    '"id":0}',
  );
  const session = /mcp-session-id: (\S+)/i.exec(initialized)?.[1];
  const ping = {
    method: "POST",
    path: "/mcp",
    token: OPERATOR_TOKEN,
    headers: [`MCP-Session-Id: ${session}`],
    body: { jsonrpc: "2.0", id: 1, method: "ping" },
  };
  const samples: number[] = [];
  for (let round = 0; round < rounds + WARM_UP; round++) {
    const elapsed = await timed(() => client.request(ping, '"id":1}'));
    if (round >= WARM_UP) samples.push(elapsed);
  }
  client.close();
  return latency(samples);
}

export function respond(decider: Connection, approvalId: string): Promise<string> {
  return decider.request(
    {
      method: "POST",
      path: `/api/v1/approvals/${approvalId}/respond`,
      token: OPERATOR_TOKEN,
      body: { approve: true },
    },
    '"status"',
  );
}
