import type { McpApp, McpEndpoint } from "./endpoint.ts";

/** The endpoint, loaded by its first request: the SDK takes longer to load than everything else that a start needs. */
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
