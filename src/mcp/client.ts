import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StreamableHTTPClientTransport } from "@modelcontextprotocol/sdk/client/streamableHttp.js";
import { CallToolResultSchema } from "@modelcontextprotocol/sdk/types.js";
import { VERSION } from "../version.ts";

/** Longer than any tool waits. */
const CALL_TIMEOUT_MS = 24 * 3_600_000;

export type CallOutcome = { isError: boolean; text: string };

/** Calls one tool of a running server as an MCP client, and disconnects. */
export async function callTool(
  server: { url: string; token: string | undefined },
  name: string,
  args: Record<string, unknown>,
): Promise<CallOutcome> {
  const headers: Record<string, string> = server.token ? { Authorization: `Bearer ${server.token}` } : {};
  const transport = new StreamableHTTPClientTransport(new URL(`${server.url}/mcp`), { requestInit: { headers } });
  const client = new Client({ name: "plexus-cli", version: VERSION });
  try {
    // The SDK's own transport does not satisfy its interface under exactOptionalPropertyTypes.
    await client.connect(transport as Parameters<typeof client.connect>[0]);
    const outcome = CallToolResultSchema.parse(
      await client.callTool({ name, arguments: args }, undefined, { timeout: CALL_TIMEOUT_MS }),
    );
    const text = outcome.content.map((block) => (block.type === "text" ? block.text : "")).join("");
    return { isError: outcome.isError ?? false, text };
  } finally {
    await transport.terminateSession().catch(() => {});
    await client.close();
  }
}
