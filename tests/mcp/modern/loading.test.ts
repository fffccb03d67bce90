import { expect, test } from "bun:test";
import { callModern } from "../../support/mcp/modern-mcp.ts";
import { OPERATOR_TOKEN, startPlexus } from "../../support/server/plexus.ts";

const isLoaded = () => Object.keys(require.cache).some((path) => path.includes("@modelcontextprotocol/server/"));

test("the SDK of 2026-07-28 is loaded by the first request that needs it, and by nothing before", async () => {
  await using plexus = await startPlexus();
  const parent = await plexus.connect();
  await parent.call("loopback_pending");
  const child = await plexus.child();
  const probe = { "mcp-protocol-version": "2026-07-28", "mcp-method": "server/discover" };
  const body = JSON.stringify({ jsonrpc: "2.0", id: 1, method: "server/discover", params: {} });
  expect((await plexus.fetch("/mcp", { method: "POST", token: child.token, headers: probe, body })).status).toBe(400);
  expect(isLoaded()).toBe(false);
  await callModern(plexus.url, "loopback_pending", {}, { token: OPERATOR_TOKEN });
  expect(isLoaded()).toBe(true);
});
