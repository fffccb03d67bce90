import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StdioClientTransport, type StdioServerParameters } from "@modelcontextprotocol/sdk/client/stdio.js";
import { StreamableHTTPClientTransport } from "@modelcontextprotocol/sdk/client/streamableHttp.js";
import {
  LoggingMessageNotificationSchema,
  ResourceUpdatedNotificationSchema,
} from "@modelcontextprotocol/sdk/types.js";
import { answered, bearer, bridgeTo, CLIENT_INFO, PENDING_URI } from "./connection.ts";
import type { Access, Parent } from "./supervision.ts";

/** The TypeScript SDK 1.x over HTTP. */
export function connectSdk1({ url, token }: Access): Promise<Parent> {
  return parentOver(
    new StreamableHTTPClientTransport(new URL(`${url}/mcp`), { requestInit: { headers: bearer(token) } }),
  );
}

/** The TypeScript SDK 1.x over stdio. */
export function connectSdk1Stdio(access: Access): Promise<Parent> {
  return connectSdk1To(bridgeTo(access));
}

/** The TypeScript SDK 1.x connected to the pipes of any program. */
export function connectSdk1To(server: StdioServerParameters): Promise<Parent> {
  return parentOver(new StdioClientTransport(server));
}

async function parentOver(transport: StreamableHTTPClientTransport | StdioClientTransport): Promise<Parent> {
  const client = new Client(CLIENT_INFO);
  const told: unknown[] = [];
  client.setNotificationHandler(LoggingMessageNotificationSchema, (message) => void told.push(message));
  client.setNotificationHandler(ResourceUpdatedNotificationSchema, (update) => void told.push(update));
  // The SDK's own transport does not satisfy its interface under exactOptionalPropertyTypes.
  await client.connect(transport as Parameters<typeof client.connect>[0]);
  await client.subscribeResource({ uri: PENDING_URI });
  return {
    tools: async () => (await client.listTools()).tools.map(({ name }) => name),
    call: async (name, args) => answered(await client.callTool({ name, arguments: args })),
    told,
    [Symbol.asyncDispose]: () => client.close(),
  };
}
