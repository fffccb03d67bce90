/** Replaces the CLI: it does what its prompt says, at once, and writes the CLI's output format. */
import { readFileSync } from "node:fs";
import { z } from "zod";
import { callLines, initLine, resultLine } from "./transcript.ts";

const McpConfig = z.object({
  mcpServers: z.object({ plexus: z.object({ url: z.string(), headers: z.record(z.string(), z.string()) }) }),
});

if (process.argv.includes("--version")) {
  process.stdout.write("2.1.325 (Claude Code)\n");
} else {
  const [order, argument = ""] = (await Bun.stdin.text()).split(" ");
  if (order === "copy") await Bun.spawn(["cat", argument], { stdout: "inherit" }).exited;
  if (order === "calls") makeCalls(Number(argument));
  if (order === "ask") await ask(Number(argument));
  if (order === "permits") await askFor(Number(argument), { atOnce: 1 });
  if (order === "permits-at-once") await askFor(Number(argument), { atOnce: 10 });
  if (order === "say") say("x".repeat(Number(argument)));
  if (order === "silence") await beSilent();
}

function makeCalls(count: number): void {
  const lines = Array.from({ length: count }, (_, number) => callLines(number));
  process.stdout.write([initLine(), ...lines, resultLine()].join(""));
}

function say(text: string): void {
  const message = { id: "msg_1", role: "assistant", content: [{ type: "text", text }] };
  process.stdout.write(`${initLine()}${JSON.stringify({ type: "assistant", message })}\n${resultLine()}`);
}

/** Runs until it is stopped. */
async function beSilent(): Promise<void> {
  process.stdout.write(initLine());
  for (;;) await Bun.sleep(60_000);
}

/** Requests this many permits, `atOnce` at a time as the CLI does, and reports that it is done. */
async function askFor(count: number, { atOnce }: { atOnce: number }): Promise<void> {
  const config = readConfig();
  process.stdout.write(initLine());
  for (let first = 0; first < count; first += atOnce) {
    const size = Math.min(atOnce, count - first);
    const numbers = Array.from({ length: size }, (_, index) => first + index);
    await Promise.all(numbers.map((number) => permit(config, { command: `touch file-${number}` }, number + 2)));
  }
  const message = { id: "msg_1", role: "assistant", content: [{ type: "text", text: "All of it is done." }] };
  process.stdout.write(`${JSON.stringify({ type: "assistant", message })}\n${resultLine()}`);
}

/** Requests one permit between its calls. */
async function ask(count: number): Promise<void> {
  const plexus = readConfig();
  process.stdout.write(initLine() + callLines(0));
  await permit(plexus, { command: "make test", description: "run the tests" }, 2);
  for (let number = 1; number < count; number++) process.stdout.write(callLines(number));
  process.stdout.write(resultLine());
}

type Plexus = z.infer<typeof McpConfig>["mcpServers"]["plexus"];

/** Reads the config at once, as the CLI does: Plexus deletes the file when it has read the child's first line. */
function readConfig(): Plexus {
  const config = process.argv[process.argv.indexOf("--mcp-config") + 1] ?? "";
  const { plexus } = McpConfig.parse(JSON.parse(readFileSync(config, "utf8"))).mcpServers;
  return plexus;
}

/** Resolves when the call is allowed. */
async function permit(plexus: Plexus, input: object, id: number): Promise<void> {
  const args = { tool_name: "Bash", input, tool_use_id: `toolu_${crypto.randomUUID()}` };
  const params = { name: "loopback_permit", arguments: args };
  const response = await fetch(plexus.url, {
    method: "POST",
    headers: {
      ...plexus.headers,
      "content-type": "application/json",
      accept: "application/json, text/event-stream",
      "mcp-protocol-version": "2025-11-25",
    },
    body: JSON.stringify({ jsonrpc: "2.0", id, method: "tools/call", params }),
  });
  const answer = await response.text();
  if (!answer.includes('\\"behavior\\":\\"allow\\"')) throw new Error(`not allowed: ${answer}`);
}
