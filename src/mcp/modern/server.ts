import { type ListToolsResult, ResourceNotFoundError, Server } from "@modelcontextprotocol/server";
import { AjvJsonSchemaValidator } from "@modelcontextprotocol/server/validators/ajv";
import type { Principal } from "../../app.ts";
import type { Connection } from "../calls/connection.ts";
import { Token } from "../calls/event-id.ts";
import { createServices, INFO, type ServerApp, UnknownResource } from "../service.ts";

export type CreateModernServer = (principal: Principal, connection: Connection) => Server;

/**
 * Makes one MCP server of revision 2026-07-28 for each request. It offers no logging: that revision ties log messages
 * to single requests, and no request causes the events that Plexus reports.
 */
export function createModernServers(app: ServerApp): CreateModernServer {
  const serviceOf = createServices(app);
  /** Shared by all servers: building one takes longer than the rest of a request. */
  const jsonSchemaValidator = new AjvJsonSchemaValidator();

  return (principal, connection) => {
    const service = serviceOf(principal);
    const resources = [...service.resources];
    const server = new Server(INFO, {
      capabilities: { tools: {}, resources: { subscribe: true } },
      instructions: service.instructions,
      jsonSchemaValidator,
    });
    // The JSON is the same; only the types of the two SDKs differ.
    server.setRequestHandler("tools/list", () => ({ tools: service.tools() as ListToolsResult["tools"] }));
    server.setRequestHandler("tools/call", ({ params }, { mcpReq: { id, _meta: meta, signal, notify } }) => {
      const progressToken = Token.safeParse(meta?.progressToken).data;
      const calling = { id, progressToken, client: undefined, connection, cancelled: signal, send: notify };
      return service.callTool(params, calling);
    });
    server.setRequestHandler("resources/list", () => ({ resources }));
    server.setRequestHandler("resources/templates/list", () => ({ resourceTemplates: [] }));
    server.setRequestHandler("resources/read", async ({ params: { uri } }) => {
      try {
        return await service.readResource(uri);
      } catch (cause) {
        throw cause instanceof UnknownResource ? new ResourceNotFoundError(uri, cause.message) : cause;
      }
    });
    return server;
  };
}
