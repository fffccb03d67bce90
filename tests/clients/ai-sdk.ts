import { answered, bearer } from "./connection.ts";
import type { Clients } from "./installed.ts";
import type { Connect } from "./supervision.ts";

type AiSdk = {
  createMCPClient(options: object): Promise<{
    tools(): Promise<Record<string, { execute(args: object, options: object): Promise<unknown> }>>;
    close(): Promise<void>;
  }>;
};

/** The MCP client of the AI SDK, which passes on no notifications. */
export function connectAiSdk({ load }: Clients): Connect {
  return async ({ url, token }) => {
    const { createMCPClient } = await load<AiSdk>("@ai-sdk/mcp");
    const client = await createMCPClient({ transport: { type: "http", url: `${url}/mcp`, headers: bearer(token) } });
    const tools = await client.tools();
    return {
      tools: async () => Object.keys(tools),
      call: async (name, args) => answered(await tools[name]?.execute(args, { messages: [], toolCallId: "call" })),
      told: [],
      [Symbol.asyncDispose]: () => client.close(),
    };
  };
}
