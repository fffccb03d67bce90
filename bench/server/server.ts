/** The production server in a separate process, with a channel for commands that no client may send. */
import { openApp } from "../../src/app.ts";
import { readConfig } from "../../src/config.ts";
import { startHttpServer } from "../../src/http/server.ts";
import { createLog } from "../../src/log.ts";
import { createMcpEndpoint } from "../../src/mcp/endpoint.ts";

const app = await openApp(
  readConfig({ port: "0", approvalTimeoutSecs: "86400" }),
  createLog("error", (line) => process.stderr.write(line)),
);
const http = startHttpServer(app, createMcpEndpoint(app));
let peak = 0;
setInterval(notePeak, 20);

process.on("message", async (message: unknown) => {
  const [command, argument] = Array.isArray(message) ? message : [];
  if (command === "children") process.send?.({ tokens: await children(Number(argument)) });
  if (command === "abandon") await app.approvals.abandon(await pending(), "the benchmark is over");
  if (command === "memory") process.send?.({ rss: memory() });
  if (command === "peak") process.send?.({ rss: peakMemory() });
  if (command === "processor") process.send?.({ processorMs: processorMs() });
});
process.send?.({ port: http.port });

async function children(count: number): Promise<string[]> {
  const operator = { kind: "operator" } as const;
  const sessions = await Promise.all(Array.from({ length: count }, () => app.sessions.createByHand(operator)));
  return Promise.all(sessions.map((session) => app.tokens.createForChild(session.id)));
}

async function pending(): Promise<string[]> {
  return (await app.approvals.pending({ kind: "operator" }, undefined, 1_000_000)).approvals.map(
    (approval) => approval.id,
  );
}

function memory(): number {
  Bun.gc(true);
  return process.memoryUsage().rss;
}

function notePeak(): void {
  peak = Math.max(peak, process.memoryUsage.rss());
}

function peakMemory(): number {
  notePeak();
  const most = peak;
  peak = 0;
  return most;
}

function processorMs(): number {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1000;
}
