import { expect, test } from "bun:test";
import { ask, sessionOf } from "../http/support/callers.ts";
import { openStalled } from "../http/support/stalled-reader.ts";
import { post } from "../support/mcp/raw-mcp.ts";
import { OPERATOR_TOKEN, startPlexus } from "../support/server/plexus.ts";

const MB = 1024 * 1024;

test("an MCP client that does not read its notifications makes the server hold only a few of them", async () => {
  await using plexus = await startPlexus();
  const { session } = await sessionOf(plexus, { kind: "operator" });
  const params = { protocolVersion: "2025-11-25", capabilities: {}, clientInfo: { name: "test", version: "1" } };
  const initialize = { jsonrpc: "2.0", id: 0, method: "initialize", params };
  const { headers } = await post(plexus.url, initialize, { token: OPERATOR_TOKEN });
  using _ = await openStalled(plexus.url, "/mcp", { "Mcp-Session-Id": headers.get("mcp-session-id") ?? "" });
  const held = () => {
    Bun.gc(true);
    return process.memoryUsage().external;
  };
  const before = held();
  const input = { content: "x".repeat(19_000) };
  for (let round = 0; round < 20; round++) {
    await Promise.all(Array.from({ length: 100 }, () => ask(plexus, session, { input })));
  }
  expect((held() - before) / MB).toBeLessThan(10);
}, 60_000);
