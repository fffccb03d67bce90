import { Server } from "@modelcontextprotocol/sdk/server/index.js";
import {
  CallToolRequestSchema,
  CompleteRequestSchema,
  ErrorCode,
  GetPromptRequestSchema,
  ListPromptsRequestSchema,
  ListResourcesRequestSchema,
  ListResourceTemplatesRequestSchema,
  ListToolsRequestSchema,
  McpError,
  ReadResourceRequestSchema,
  SubscribeRequestSchema,
  UnsubscribeRequestSchema,
} from "@modelcontextprotocol/sdk/types.js";
import type { McpServer } from "../../src/mcp/server.ts";
import {
  completionOf,
  listedPrompts,
  listedResources,
  messagesOf,
  PROMPTS,
  RESOURCES,
  resourceAt,
  TEMPLATES,
} from "./fixture-contents.ts";
import { TOOLS } from "./fixture-tools.ts";

/**
 * Everything that the official suite expects on a server up to 2025-11-25, in place of Plexus' own tools and resources.
 */
export function createFixtureServer(): McpServer {
  const server = new Server(
    { name: "conformance-fixture", version: "1" },
    { capabilities: { tools: {}, resources: { subscribe: true }, prompts: {}, completions: {}, logging: {} } },
  );
  const subscribed = new Set<string>();
  serveTools(server);
  serveResources(server, subscribed);
  servePrompts(server);
  return { server, subscribed };
}

function serveTools(server: Server): void {
  server.setRequestHandler(ListToolsRequestSchema, () => ({
    tools: Object.entries(TOOLS).map(([name, { description, inputSchema = { type: "object" } }]) => ({
      name,
      description,
      inputSchema,
    })),
  }));
  server.setRequestHandler(CallToolRequestSchema, ({ params }, extra) =>
    found(TOOLS[params.name], params.name).run({ server, input: params.arguments ?? {}, extra }),
  );
}

function serveResources(server: Server, subscribed: Set<string>): void {
  server.setRequestHandler(ListResourcesRequestSchema, () => ({ resources: listedResources() }));
  server.setRequestHandler(ListResourceTemplatesRequestSchema, () => ({ resourceTemplates: TEMPLATES }));
  server.setRequestHandler(ReadResourceRequestSchema, ({ params: { uri } }) => found(resourceAt(uri), uri));
  server.setRequestHandler(SubscribeRequestSchema, ({ params: { uri } }) => {
    found(RESOURCES[uri], uri);
    subscribed.add(uri);
    return {};
  });
  server.setRequestHandler(UnsubscribeRequestSchema, ({ params: { uri } }) => {
    subscribed.delete(uri);
    return {};
  });
}

function servePrompts(server: Server): void {
  server.setRequestHandler(ListPromptsRequestSchema, () => ({ prompts: listedPrompts() }));
  server.setRequestHandler(GetPromptRequestSchema, ({ params: { name, arguments: args } }) => ({
    messages: messagesOf(found(PROMPTS[name], name), args),
  }));
  server.setRequestHandler(CompleteRequestSchema, ({ params: { argument } }) => ({
    completion: completionOf(argument.value),
  }));
}

function found<T>(value: T | undefined, name: string): T {
  if (value === undefined) throw new McpError(ErrorCode.InvalidParams, `The fixture has no ${name}.`);
  return value;
}
