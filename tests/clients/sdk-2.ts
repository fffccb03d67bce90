import { Client, StreamableHTTPClientTransport, type VersionNegotiationMode } from "@modelcontextprotocol/client";
import { StdioClientTransport } from "@modelcontextprotocol/client/stdio";
import { answered, bearer, bridgeTo, CLIENT_INFO, PENDING_URI } from "./connection.ts";
import type { Connect, Parent } from "./supervision.ts";

/** The TypeScript SDK 2.x over HTTP, in the given mode or its default. */
export function connectSdk2(mode?: VersionNegotiationMode): Connect {
  return ({ url, token }) =>
    parentOver(
      new StreamableHTTPClientTransport(new URL(`${url}/mcp`), { requestInit: { headers: bearer(token) } }),
      mode,
    );
}

/** The TypeScript SDK 2.x over stdio. */
export function connectSdk2Stdio(mode?: VersionNegotiationMode): Connect {
  return (access) => parentOver(new StdioClientTransport(bridgeTo(access)), mode);
}

async function parentOver(
  transport: StreamableHTTPClientTransport | StdioClientTransport,
  mode: VersionNegotiationMode | undefined,
): Promise<Parent> {
  await using stack = new AsyncDisposableStack();
  const client = new Client(CLIENT_INFO, mode === undefined ? {} : { versionNegotiation: { mode } });
  const told: unknown[] = [];
  client.setNotificationHandler("notifications/message", (message) => void told.push(message));
  client.setNotificationHandler("notifications/resources/updated", (update) => void told.push(update));
  // The SDK's own transport does not satisfy its interface under exactOptionalPropertyTypes.
  await client.connect(transport as Parameters<typeof client.connect>[0]);
  stack.defer(() => client.close());
  if (client.getProtocolEra() === "modern") {
    const subscription = await client.listen({ resourceSubscriptions: [PENDING_URI] });
    stack.defer(() => subscription.close());
  } else {
    await client.subscribeResource({ uri: PENDING_URI });
  }
  const owned = stack.move();
  return {
    tools: async () => (await client.listTools()).tools.map(({ name }) => name),
    call: async (name, args) => answered(await client.callTool({ name, arguments: args })),
    told,
    [Symbol.asyncDispose]: () => owned.disposeAsync(),
  };
}
