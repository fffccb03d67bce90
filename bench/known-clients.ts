import type { Figures } from "./children/sessions.ts";
import { percentile, type Row, times } from "./measure.ts";
import { type Connection, connect } from "./server/connection.ts";
import { type BenchServer, OPERATOR_TOKEN, startBenchServer, temporaryDataDir } from "./server/server-process.ts";
import { throughput } from "./throughput.ts";

const CLIENTS = 1_000;
const LOAD = { inFlight: 128, total: 1_000, rounds: 3 };
const LEAST = 0.7;
const OPENING = 50;

/** Measures the cost of known MCP clients: most never end their session, and few listen. */
export async function knownClientFigures(): Promise<Figures> {
  using directories = new DisposableStack();
  await using servers = new AsyncDisposableStack();
  const open = async () => servers.use(await startBenchServer(directories.use(temporaryDataDir()).path));
  const [none, silent, listening] = [await open(), await open(), await open()];
  const connections = [await openClients(silent, false), await openClients(listening, true)].flat();
  const measured = [none, silent, listening].map((server) => ({ server, perSecond: [] as number[] }));
  for (const { server } of measured) await throughput(server, LOAD.inFlight, LOAD.total);
  for (let round = 0; round < LOAD.rounds; round++)
    for (const { server, perSecond } of measured) perSecond.push(await throughput(server, LOAD.inFlight, LOAD.total));
  for (const connection of connections) connection.close();
  const [alone = 0, ...others] = measured.map(({ perSecond }) => percentile(perSecond, 0.5));
  const rows = others.map((perSecond, at): Row => {
    const ratio = perSecond / alone;
    return {
      what: at === 0 ? "of which none listens" : "of which each has a stream open",
      measured: `${perSecond.toFixed(0)} / s = ${times(ratio)}`,
      goal: `≥ ${LEAST} ×`,
      met: ratio >= LEAST,
    };
  });
  return {
    title: `(n) Asked and decided per second, with ${CLIENTS} MCP clients known`,
    rows: [{ what: "without any client", measured: `${alone.toFixed(0)} / s` }, ...rows],
  };
}

async function openClients(server: BenchServer, isListening: boolean): Promise<Connection[]> {
  const opened: Connection[] = [];
  for (let start = 0; start < CLIENTS; start += OPENING)
    opened.push(...(await Promise.all(Array.from({ length: OPENING }, () => openClient(server, isListening)))));
  return opened;
}

async function openClient({ port }: BenchServer, isListening: boolean): Promise<Connection> {
  const client = await connect(port);
  const params = { protocolVersion: "2025-11-25", capabilities: {}, clientInfo: { name: "bench", version: "1" } };
  const body = { jsonrpc: "2.0", id: 0, method: "initialize", params };
  const hello = await client.request({ method: "POST", path: "/mcp", token: OPERATOR_TOKEN, body }, '"id":0}');
  const headers = [`MCP-Session-Id: ${/mcp-session-id: (\S+)/i.exec(hello)?.[1]}`];
  if (isListening) await client.request({ method: "GET", path: "/mcp", token: OPERATOR_TOKEN, headers }, "\n\n");
  return client;
}
