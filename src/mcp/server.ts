import { Server } from "@modelcontextprotocol/sdk/server/index.js";
import {
  CallToolRequestSchema,
  ListResourcesRequestSchema,
  ListResourceTemplatesRequestSchema,
  ListToolsRequestSchema,
  McpError,
  ReadResourceRequestSchema,
  SubscribeRequestSchema,
  UnsubscribeRequestSchema,
} from "@modelcontextprotocol/sdk/types.js";
import { AjvJsonSchemaValidator } from "@modelcontextprotocol/sdk/validation/ajv";
import type { Principal } from "../app.ts";
import { connectionIn } from "./calls/connection.ts";
import { Token } from "./calls/event-id.ts";
import { createServices, INFO, type ServerApp, type Service, UnknownResource } from "./service.ts";

/** The error code in revisions up to 2025-11-25. The SDK has no constant for it. */
const RESOURCE_NOT_FOUND = -32002;

/** A server of the SDK, with the resources to which its client has subscribed. */
export type McpServer = { server: Server; subscribed: Set<string> };
export type CreateServer = (principal: Principal) => McpServer;

/** Makes one MCP server for each client, for the revisions up to 2025-11-25. */
export function createMcpServers(app: ServerApp): CreateServer {
  const serviceOf = createServices(app);
  /** Shared by all servers: building one takes longer than the rest of a client session. */
  const jsonSchemaValidator = new AjvJsonSchemaValidator();

  return (principal) => {
    const service = serviceOf(principal);
    const isChild = principal.kind === "session";
    const server = new Server(INFO, {
      capabilities: isChild ? { tools: {} } : { tools: {}, resources: { subscribe: true }, logging: {} },
      instructions: service.instructions,
      jsonSchemaValidator,
    });
    const subscribed = new Set<string>();
    serveTools(service, server);
    if (!isChild) serveResources(service, server, subscribed);
    return { server, subscribed };
  };
}

function serveTools(service: Service, server: Server): void {
  server.setRequestHandler(ListToolsRequestSchema, () => ({ tools: service.tools() }));
  server.setRequestHandler(CallToolRequestSchema, async ({ params }, extra) => {
    const { requestId: id, sessionId: client, signal: cancelled, sendNotification: send } = extra;
    const progressToken = Token.safeParse(params._meta?.progressToken).data;
    const connection = connectionIn(extra.authInfo);
    const result = await service.callTool(params, { id, progressToken, client, connection, cancelled, send });
    // The SDK sends no answer to a cancelled call, and both ends would keep its stream open for ever. So send the
    // answer here; it must be a result, because the client would come back after an error.
    if (cancelled.aborted) await server.transport?.send({ jsonrpc: "2.0", id, result }).catch(() => {});
    return result;
  });
}

function serveResources(service: Service, server: Server, subscribed: Set<string>): void {
  const resources = [...service.resources];
  server.setRequestHandler(ListResourcesRequestSchema, () => ({ resources }));
  server.setRequestHandler(ListResourceTemplatesRequestSchema, () => ({ resourceTemplates: [] }));
  server.setRequestHandler(ReadResourceRequestSchema, async ({ params: { uri } }) => {
    try {
      return await service.readResource(uri);
    } catch (cause) {
      throw cause instanceof UnknownResource ? notFound(cause) : cause;
    }
  });
  server.setRequestHandler(SubscribeRequestSchema, ({ params: { uri } }) => {
    if (!resources.some((resource) => resource.uri === uri)) throw notFound(new UnknownResource(uri));
    subscribed.add(uri);
    return {};
  });
  server.setRequestHandler(UnsubscribeRequestSchema, ({ params: { uri } }) => {
    subscribed.delete(uri);
    return {};
  });
}

function notFound({ message, uri }: UnknownResource): McpError {
  return new McpError(RESOURCE_NOT_FOUND, message, { uri });
}
