import { describe, setDefaultTimeout, test } from "bun:test";
import { temporaryDirectory } from "../support/temporary.ts";
import { connectAiSdk } from "./ai-sdk.ts";
import { connectInspector, connectInspectorModern } from "./inspector.ts";
import { type Clients, installClients } from "./installed.ts";
import { connectMastra, connectMastraLegacy } from "./mastra.ts";
import { connectMcpRemote } from "./mcp-remote.ts";
import { type Connect, type Expected, expectToSupervise } from "./supervision.ts";

setDefaultTimeout(60_000);

const clients = await installClients();
const missing = "missing" in clients ? clients.missing : undefined;
if (missing !== undefined) console.error(`The clients of others are not tested: ${missing}.`);

const LEGACY = "2025-11-25";
const MODERN = "2026-07-28";

type Client = { connect: (clients: Clients, home: string) => Connect; expected: Expected };

const CLIENTS: Record<string, Client> = {
  "the Inspector's command line": { connect: connectInspector, expected: { revision: LEGACY, told: [] } },
  "the Inspector's command line on 2026-07-28": {
    connect: connectInspectorModern,
    expected: { revision: MODERN, told: [] },
  },
  "mcp-remote": { connect: connectMcpRemote, expected: { revision: LEGACY, told: ["message", "resource"] } },
  "@ai-sdk/mcp": { connect: connectAiSdk, expected: { revision: MODERN, told: [] } },
  "@mastra/mcp": { connect: connectMastra, expected: { revision: MODERN, told: ["resource"] } },
  "@mastra/mcp on 2025-11-25": { connect: connectMastraLegacy, expected: { revision: LEGACY, told: ["message"] } },
};

describe.skipIf(missing !== undefined)(`supervising${missing === undefined ? "" : ` (skipped: ${missing})`}`, () => {
  test.each(Object.entries(CLIENTS))("works with %s", async (_, { connect, expected }) => {
    if ("missing" in clients) return;
    await using home = await temporaryDirectory();
    await expectToSupervise(connect(clients, home.path), expected);
  });
});
