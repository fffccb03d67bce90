/** What stands in the place of the CLI: it does what its prompt says, at once, in the CLI's own words. */
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
}

function makeCalls(count: number): void {
  const lines = Array.from({ length: count }, (_, number) => callLines(number));
  process.stdout.write([initLine(), ...lines, resultLine()].join(""));
}

/** Asks once for a permit, between its calls. */
async function ask(count: number): Promise<void> {
  const config = process.argv[process.argv.indexOf("--mcp-config") + 1] ?? "";
  const { plexus } = McpConfig.parse(JSON.parse(readFileSync(config, "utf8"))).mcpServers;
  process.stdout.write(initLine() + callLines(0));
  const input = { command: "make test", description: "run the tests" };
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
    body: JSON.stringify({ jsonrpc: "2.0", id: 2, method: "tools/call", params }),
  });
  const answer = await response.text();
  if (!answer.includes('\\"behavior\\":\\"allow\\"')) throw new Error(`not allowed: ${answer}`);
  for (let number = 1; number < count; number++) process.stdout.write(callLines(number));
  process.stdout.write(resultLine());
}
