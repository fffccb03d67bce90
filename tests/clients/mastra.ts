import { JsonObject } from "../../src/contract/values.ts";
import { bearer, PENDING_URI } from "./connection.ts";
import type { Clients } from "./installed.ts";
import type { Connect } from "./supervision.ts";

type Mastra = {
  MCPClient: new (
    options: object,
  ) => {
    resources: {
      onUpdated(server: string, handler: (update: object) => void): Promise<void>;
      subscribe(server: string, uri: string): Promise<void>;
    };
    listTools(): Promise<Record<string, { execute(args: object, context: object): Promise<unknown> }>>;
    disconnect(): Promise<void>;
  };
};

/** The server's name in the client's settings; the names of its tools begin with it. */
const SERVER = "plexus";

/**
 * The MCP client of Mastra with the newest revision, where it subscribes to resources. It throws the text of a refusal.
 */
export function connectMastra(clients: Clients): Connect {
  return connect(clients, {});
}

/** The same with the previous revision, where it subscribes to nothing and gets requests as log messages. */
export function connectMastraLegacy(clients: Clients): Connect {
  return connect(clients, { protocolVersion: "legacy" });
}

function connect({ load }: Clients, revision: { protocolVersion?: "legacy" }): Connect {
  return async ({ url, token }) => {
    const { MCPClient } = await load<Mastra>("@mastra/mcp");
    const told: unknown[] = [];
    const client = new MCPClient({
      id: crypto.randomUUID(),
      servers: {
        [SERVER]: {
          ...revision,
          url: new URL(`${url}/mcp`),
          requestInit: { headers: bearer(token) },
          logger: (message: unknown) => void told.push(message),
        },
      },
    });
    const tools = await client.listTools();
    if (!revision.protocolVersion) {
      await client.resources.onUpdated(SERVER, (update) => void told.push(update));
      await client.resources.subscribe(SERVER, PENDING_URI);
    }
    return {
      tools: async () => Object.keys(tools).map((name) => name.replace(`${SERVER}_`, "")),
      call: async (name, args) => {
        const answer = await tools[`${SERVER}_${name}`]
          ?.execute(args, {})
          .catch((error: Error) => JSON.parse(error.message));
        return JsonObject.parse(answer);
      },
      told,
      [Symbol.asyncDispose]: () => client.disconnect(),
    };
  };
}
