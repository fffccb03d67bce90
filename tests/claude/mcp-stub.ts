import { z } from "zod";
import type { JsonObject } from "../../src/contract/values.ts";

const Request = z.looseObject({
  id: z.union([z.string(), z.number()]).optional(),
  method: z.string(),
  params: z
    .looseObject({ name: z.string().optional(), arguments: z.record(z.string(), z.unknown()).optional() })
    .optional(),
});

export type McpStub = AsyncDisposable & {
  /** The server's entry for an MCP configuration. */
  entry: JsonObject;
  /** The arguments of every call so far. */
  calls: JsonObject[];
  authorizations: Set<string | null>;
  /** The method of every request so far. */
  methods: string[];
};

/** A resource that the server offers, and its instructions. */
type Offer = { instructions: string; resource: { uri: string; text: string } };

/** An MCP server with one tool, which answers each call with a text. */
export function startMcpStub(
  tool: string,
  answer: (args: JsonObject) => string | Promise<string>,
  offer?: Offer,
): McpStub {
  const methods: string[] = [];
  const calls: JsonObject[] = [];
  const authorizations = new Set<string | null>();
  const results: Record<string, (params: z.infer<typeof Request>["params"]) => unknown> = {
    initialize: () => ({
      protocolVersion: "2025-06-18",
      capabilities: { tools: {}, ...(offer && { resources: {} }) },
      serverInfo: { name: "stub", version: "1" },
      instructions: offer?.instructions,
    }),
    ...(offer && {
      "resources/list": () => ({ resources: [{ uri: offer.resource.uri, name: "doc", mimeType: "text/plain" }] }),
      "resources/read": () => ({ contents: [offer.resource] }),
    }),
    "tools/list": () => ({ tools: [{ name: tool, inputSchema: { type: "object" } }] }),
    "tools/call": async (params) => {
      calls.push(params?.arguments ?? {});
      return { content: [{ type: "text", text: await answer(params?.arguments ?? {}) }] };
    },
  };
  const server = Bun.serve({
    hostname: "127.0.0.1",
    port: 0,
    idleTimeout: 0,
    async fetch(request) {
      authorizations.add(request.headers.get("authorization"));
      if (request.method !== "POST") return new Response(null, { status: 405 });
      const { id, method, params } = Request.parse(await request.json());
      methods.push(method);
      if (id === undefined) return new Response(null, { status: 202 });
      const result = results[method];
      if (!result) return Response.json({ jsonrpc: "2.0", id, error: { code: -32601, message: "unknown" } });
      return Response.json({ jsonrpc: "2.0", id, result: await result(params) });
    },
  });
  return {
    entry: {
      type: "http",
      url: `http://127.0.0.1:${server.port}/mcp`,
      headers: { Authorization: "Bearer of-the-turn" },
    },
    calls,
    authorizations,
    methods,
    async [Symbol.asyncDispose]() {
      await server.stop(true);
    },
  };
}

/** A stand-in for Plexus that answers every call with this decision. */
export function startPermitStub(behavior: "allow" | "deny" | Promise<never>): McpStub {
  return startMcpStub("loopback_permit", async ({ input }) => {
    const decided = await behavior;
    return JSON.stringify(
      decided === "allow" ? { behavior: decided, updatedInput: input } : { behavior: decided, message: "no" },
    );
  });
}
