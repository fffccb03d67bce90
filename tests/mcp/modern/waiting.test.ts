import { describe, expect, setDefaultTimeout, test } from "bun:test";
import { readCallEventId } from "../../../src/mcp/calls/event-id.ts";
import { ask, sessionOf } from "../../http/support/callers.ts";
import { MODERN, postModern } from "../../support/mcp/modern-mcp.ts";
import { get, type RawStream } from "../../support/mcp/raw-mcp.ts";
import { OPERATOR_TOKEN, type Plexus, startPlexus } from "../../support/server/plexus.ts";

setDefaultTimeout(60_000);

const OPERATOR = { kind: "operator" } as const;
const token = OPERATOR_TOKEN;

/** A waiting call of loopback_wait, with the id by which it resumes. */
async function waiting(plexus: Plexus, meta = {}): Promise<{ stream: RawStream; id: string }> {
  const params = { name: "loopback_wait", arguments: { timeout_secs: 100 } };
  const stream = await postModern(plexus.url, "tools/call", params, { token, id: 7, meta });
  for (let event = await stream.next(); event; event = await stream.next()) {
    if (event.id && readCallEventId(event.id)?.state) return { stream, id: event.id };
  }
  throw new Error("it did not wait");
}

describe("a call that waits in 2026-07-28", () => {
  test.each([
    ["tells of its progress", { progressToken: 1 }],
    ["is silent", {}],
  ])("and %s is answered at once by a server that stops", async (_, meta) => {
    const plexus = await startPlexus();
    await plexus.child();
    const { stream } = await waiting(plexus, meta);
    const stopped = plexus[Symbol.asyncDispose]();
    expect(await stream.response()).toMatchObject({
      id: 7,
      result: { resultType: "complete", structuredContent: { type: "timeout", cursor: expect.any(Number) } },
    });
    await stopped;
  });

  test("resumes by the id in its stream, and marks its answer as complete", async () => {
    await using plexus = await startPlexus();
    const { session } = await sessionOf(plexus, OPERATOR);
    const { stream, id } = await waiting(plexus);
    stream.disconnect();
    const headers = { "last-event-id": id, "mcp-protocol-version": MODERN, accept: "text/event-stream" };
    const resumed = await get(plexus.url, { token, headers });
    expect(resumed.status).toBe(200);
    const { approvalId } = await ask(plexus, session);
    expect(await resumed.response()).toMatchObject({
      id: 7,
      result: { resultType: "complete", structuredContent: { type: "ok", approvals: [{ id: approvalId }] } },
    });
  });
});
