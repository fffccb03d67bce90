import { ProtocolError, ProtocolErrorCode, ResourceNotFoundError, Server } from "@modelcontextprotocol/server";
import {
  completionOf,
  listedPrompts,
  listedResources,
  messagesOf,
  PROMPTS,
  resourceAt,
  TEMPLATES,
} from "./fixture-contents.ts";
import { answeredOnce, MODERN_TOOLS, PROMPT_THAT_ASKS, requestStates } from "./modern-fixture-tools.ts";
import { text } from "./samples.ts";

const ASKING_PROMPT = "test_input_required_result_prompt";

/** Everything that the official suite expects on a server of 2026-07-28. */
export function createModernFixtureServer(): Server {
  const server = new Server(
    { name: "conformance-fixture", version: "1" },
    {
      capabilities: { tools: {}, resources: { subscribe: true }, prompts: {}, completions: {}, logging: {} },
      requestState: { verify: requestStates.verify },
    },
  );
  server.setRequestHandler("tools/list", () => ({
    tools: Object.entries(MODERN_TOOLS).map(([name, { description, inputSchema }]) => ({
      name,
      description,
      inputSchema: { type: "object" as const, ...inputSchema },
    })),
  }));
  server.setRequestHandler("tools/call", ({ params }, context) =>
    found(MODERN_TOOLS[params.name], params.name).run(context, params.arguments ?? {}),
  );
  server.setRequestHandler("resources/list", () => ({ resources: listedResources() }));
  server.setRequestHandler("resources/templates/list", () => ({ resourceTemplates: TEMPLATES }));
  server.setRequestHandler("resources/read", ({ params: { uri } }) => {
    const resource = resourceAt(uri);
    if (!resource) throw new ResourceNotFoundError(uri);
    return resource;
  });
  server.setRequestHandler("prompts/list", () => ({
    prompts: [...listedPrompts(), { name: ASKING_PROMPT, description: "Asks the client first" }],
  }));
  server.setRequestHandler("prompts/get", ({ params: { name, arguments: args } }, context) => {
    const answer = [{ role: "user" as const, content: text("The client has answered.") }];
    if (name === ASKING_PROMPT) return answeredOnce(context, PROMPT_THAT_ASKS, { messages: answer });
    return { messages: messagesOf(found(PROMPTS[name], name), args) };
  });
  server.setRequestHandler("completion/complete", ({ params: { argument } }) => ({
    completion: completionOf(argument.value),
  }));
  return server;
}

function found<T>(value: T | undefined, name: string): T {
  if (value === undefined) throw new ProtocolError(ProtocolErrorCode.InvalidParams, `The fixture has no ${name}.`);
  return value;
}
