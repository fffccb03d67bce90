import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import type { StdioClientTransport } from "@modelcontextprotocol/sdk/client/stdio.js";
import { StreamableHTTPClientTransport } from "@modelcontextprotocol/sdk/client/streamableHttp.js";
import { CallToolResultSchema, type ClientCapabilities } from "@modelcontextprotocol/sdk/types.js";
import { type JsonObject, JsonObject as JsonObjectSchema } from "../../../src/contract/values.ts";
import { checkResult } from "./tool-answers.ts";

export type ToolAnswer = {
  isError: boolean;
  /** The only text block, as sent. */
  text: string;
  value: JsonObject;
  structured: unknown;
};

export type TestClient = AsyncDisposable & {
  client: Client;
  call(tool: string, args?: object, options?: { signal?: AbortSignal; onprogress?: () => void }): Promise<ToolAnswer>;
};

/** The official MCP client, connected with this token or without one. */
export async function connectClient(url: string, token: string | null): Promise<TestClient> {
  const headers: Record<string, string> = token === null ? {} : { Authorization: `Bearer ${token}` };
  return connectOver(new StreamableHTTPClientTransport(new URL("/mcp", url), { requestInit: { headers } }));
}

/** The official MCP client on any of its transports. */
export async function connectOver(
  transport: StreamableHTTPClientTransport | StdioClientTransport,
  capabilities: ClientCapabilities = {},
): Promise<TestClient> {
  const client = new Client({ name: "test", version: "1" }, { capabilities });
  // The SDK's own transport does not satisfy its interface under exactOptionalPropertyTypes.
  await client.connect(transport as Parameters<typeof client.connect>[0]);
  return {
    client,
    async call(tool, args = {}, options = {}) {
      const sent = client.callTool({ name: tool, arguments: { ...args } }, undefined, { timeout: 600_000, ...options });
      const answer = CallToolResultSchema.parse(await sent);
      checkResult(tool, answer);
      const [block] = answer.content;
      if (answer.content.length !== 1 || block?.type !== "text")
        throw new Error(`${tool} did not answer with one text block`);
      return {
        isError: answer.isError ?? false,
        text: block.text,
        value: JsonObjectSchema.parse(JSON.parse(block.text)),
        structured: answer.structuredContent,
      };
    },
    [Symbol.asyncDispose]: () => client.close(),
  };
}
