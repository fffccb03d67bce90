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
  type PromptArgument,
  type PromptMessage,
  ReadResourceRequestSchema,
  SubscribeRequestSchema,
  UnsubscribeRequestSchema,
} from "@modelcontextprotocol/sdk/types.js";
import type { McpServer } from "../../src/mcp/server.ts";
import { TOOLS } from "./fixture-tools.ts";
import { PNG, text } from "./samples.ts";

type FixturePrompt = {
  description: string;
  arguments?: PromptArgument[];
  contents(args: Record<string, string>): PromptMessage["content"][];
};

const RESOURCES: Record<string, { mimeType: string; text: string } | { mimeType: string; blob: string }> = {
  "test://static-text": { mimeType: "text/plain", text: "This is the content of the static text resource." },
  "test://static-binary": { mimeType: PNG.mimeType, blob: PNG.data },
  "test://watched-resource": { mimeType: "text/plain", text: "This is the content of the watched resource." },
};
const TEMPLATE = "test://template/{id}/data";

const PROMPTS: Record<string, FixturePrompt> = {
  test_simple_prompt: {
    description: "A text",
    contents: () => [text("This is a simple prompt for testing.")],
  },
  test_prompt_with_arguments: {
    description: "A text with two arguments in it",
    arguments: [
      { name: "arg1", required: true },
      { name: "arg2", required: true },
    ],
    contents: ({ arg1, arg2 }) => [text(`Prompt with arguments: arg1='${arg1}', arg2='${arg2}'`)],
  },
  test_prompt_with_embedded_resource: {
    description: "A resource, and a text",
    arguments: [{ name: "resourceUri", required: true }],
    contents: ({ resourceUri = "" }) => [
      {
        type: "resource",
        resource: { uri: resourceUri, mimeType: "text/plain", text: "Embedded resource content for testing." },
      },
      text("Please process the embedded resource above."),
    ],
  },
  test_prompt_with_image: {
    description: "An image, and a text",
    contents: () => [{ type: "image", ...PNG }, text("Please analyze the image above.")],
  },
};

/** What the official suite expects to find on a server, in the place of Plexus' own tools and resources. */
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
    named(TOOLS, params.name).run({ server, input: params.arguments ?? {}, extra }),
  );
}

function serveResources(server: Server, subscribed: Set<string>): void {
  server.setRequestHandler(ListResourcesRequestSchema, () => ({
    resources: Object.entries(RESOURCES).map(([uri, { mimeType }]) => ({ uri, name: uri, mimeType })),
  }));
  server.setRequestHandler(ListResourceTemplatesRequestSchema, () => ({
    resourceTemplates: [{ uriTemplate: TEMPLATE, name: "template", mimeType: "application/json" }],
  }));
  server.setRequestHandler(ReadResourceRequestSchema, ({ params: { uri } }) => {
    const id = /^test:\/\/template\/([^/]+)\/data$/.exec(uri)?.[1];
    if (id === undefined) return { contents: [{ uri, ...named(RESOURCES, uri) }] };
    const made = JSON.stringify({ id, templateTest: true, data: `Data for ID: ${id}` });
    return { contents: [{ uri, mimeType: "application/json", text: made }] };
  });
  server.setRequestHandler(SubscribeRequestSchema, ({ params: { uri } }) => {
    named(RESOURCES, uri);
    subscribed.add(uri);
    return {};
  });
  server.setRequestHandler(UnsubscribeRequestSchema, ({ params: { uri } }) => {
    subscribed.delete(uri);
    return {};
  });
}

function servePrompts(server: Server): void {
  server.setRequestHandler(ListPromptsRequestSchema, () => ({
    prompts: Object.entries(PROMPTS).map(([name, { description, arguments: args = [] }]) => ({
      name,
      description,
      arguments: args,
    })),
  }));
  server.setRequestHandler(GetPromptRequestSchema, ({ params }) => ({
    messages: named(PROMPTS, params.name)
      .contents(params.arguments ?? {})
      .map((content) => ({ role: "user" as const, content })),
  }));
  server.setRequestHandler(CompleteRequestSchema, ({ params: { argument } }) => ({
    completion: { values: [`${argument.value}-completed`], total: 1, hasMore: false },
  }));
}

function named<T>(all: Record<string, T>, name: string): T {
  const found = all[name];
  if (found === undefined) throw new McpError(ErrorCode.InvalidParams, `The fixture has no ${name}.`);
  return found;
}
