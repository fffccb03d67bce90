import { expect, test } from "bun:test";
import { Connection } from "../../src/mcp/calls/connection.ts";
import { createServices } from "../../src/mcp/service.ts";
import { namedToken } from "../http/support/callers.ts";
import { startPlexus } from "../support/server/plexus.ts";

test("a tool does nothing for a token that was revoked before the call began", async () => {
  await using plexus = await startPlexus();
  const { app } = plexus;
  const { principal } = await namedToken(plexus, "agent");
  const session = await app.sessions.createByHand(principal, "own");
  const revoked = await app.tokens.revocation({ principal });
  await app.tokens.revoke("agent");
  const cancelled: string[] = [];
  app.sessionCommands.cancel = async ({ id }) => {
    cancelled.push(id);
    return { type: "not_running", session_id: id };
  };
  const never = new AbortController().signal;
  const answer = await createServices(app)(principal).callTool(
    { name: "claudecode_cancel", arguments: { session_id: session.id } },
    {
      client: undefined,
      id: 1,
      progressToken: undefined,
      connection: new Connection({ gone: never, revoked, stopping: never }),
      cancelled: never,
      send: async () => {},
    },
  );
  expect(answer).toMatchObject({ isError: true, content: [{ text: expect.stringContaining("unauthorized") }] });
  expect(cancelled).toEqual([]);
});
