import type { McpApp, McpEndpoint } from "./endpoint.ts";

/** Loads the endpoint on the first request: the SDK takes longer to load than everything else at start. */
export function createLazyMcpEndpoint(app: McpApp): McpEndpoint {
  let loaded: Promise<McpEndpoint> | undefined;
  const load = async () => (await import("./endpoint.ts")).createMcpEndpoint(app);
  return {
    async handle(request, caller, body) {
      loaded ??= load();
      return (await loaded).handle(request, caller, body);
    },
    async [Symbol.asyncDispose]() {
      await (await loaded)?.[Symbol.asyncDispose]();
    },
  };
}
