import { describe, expect, test } from "bun:test";
import type { Approval } from "../../../src/contract/approvals/approval.ts";
import type { JsonObject } from "../../../src/contract/values.ts";
import { MODERN, postModern } from "../../support/mcp/modern-mcp.ts";
import { get } from "../../support/mcp/raw-mcp.ts";
import { type Plexus, startPlexus } from "../../support/server/plexus.ts";
import { until } from "../../support/until.ts";

const OPERATOR = { kind: "operator" } as const;

/** A permit as a claude that was started by hand sends it to a server without tokens. */
function permit(plexus: Plexus, input: JsonObject, name = "loopback_permit", headers: Record<string, string> = {}) {
  const args = { tool_name: "Bash", input, tool_use_id: "toolu_1" };
  const params = { name, arguments: args };
  return postModern(plexus.url, "tools/call", params, { id: 7, meta: { progressToken: 9 }, headers });
}

const pending = (plexus: Plexus): Promise<Approval> =>
  until("an ask", async () => (await plexus.app.approvals.pending(OPERATOR, undefined, 1)).approvals[0]);

describe("loopback_permit in 2026-07-28", () => {
  test("waits for a decision as in 2025-11-25, and marks its answer as complete", async () => {
    await using plexus = await startPlexus({ flags: { auth: "none" } });
    const call = await permit(plexus, { command: "ls" });
    const { id } = await pending(plexus);
    expect(await call.next()).toMatchObject({ id: expect.stringContaining(`${id}~`), retry: "10000" });
    expect((await call.next())?.message).toMatchObject({
      method: "notifications/progress",
      params: { progressToken: 9, progress: 1 },
    });
    await plexus.app.approvals.decide(OPERATOR, id, { approve: true });
    expect(await call.response()).toMatchObject({
      id: 7,
      result: {
        resultType: "complete",
        content: [{ type: "text", text: '{"behavior":"allow","updatedInput":{"command":"ls"}}' }],
      },
    });
    expect(await call.next()).toBeUndefined();
  });

  test("resumes by the id of its stream, although the revision does not define that", async () => {
    await using plexus = await startPlexus({ flags: { auth: "none" } });
    const call = await permit(plexus, { command: "ls" });
    const lastEventId = (await call.next())?.id ?? "";
    call.disconnect();
    const headers = { "last-event-id": lastEventId, "mcp-protocol-version": MODERN, accept: "text/event-stream" };
    const resumed = await get(plexus.url, { headers });
    expect((await resumed.next())?.id).toStartWith(lastEventId.split("~")[0] ?? "-");
    await plexus.app.approvals.decide(OPERATOR, (await pending(plexus)).id, { approve: false, message: "no" });
    const { id, result } = await resumed.response();
    expect({ id, result }).toEqual({
      id: 7,
      result: { resultType: "complete", content: [{ type: "text", text: '{"behavior":"deny","message":"no"}' }] },
    });
  });

  test("is known by its name with a dot too", async () => {
    await using plexus = await startPlexus({ flags: { auth: "none" } });
    const call = await permit(plexus, { command: "ls" }, "loopback.permit");
    expect((await pending(plexus)).input).toEqual({ command: "ls" });
    call.disconnect();
  });

  test("refuses bad arguments in a form that the CLI can pass on", async () => {
    await using plexus = await startPlexus({ flags: { auth: "none" } });
    const params = { name: "loopback_permit", arguments: { tool_name: "Bash", input: "rm -rf /" } };
    const { result } = await (await postModern(plexus.url, "tools/call", params)).response();
    expect(result).toMatchObject({ isError: true, resultType: "complete" });
    expect(result).not.toHaveProperty("structuredContent");
  });

  test.each([
    ["names another tool", { "mcp-name": "loopback_pending" }, -32020],
    ["names another method", { "mcp-method": "tools/list" }, -32020],
    ["names an earlier revision", { "mcp-protocol-version": "2025-11-25" }, -32020],
    ["names a revision that nobody knows", { "mcp-protocol-version": "2099-01-01" }, -32020],
  ])("is refused where its header %s than its message, and nothing is filed", async (_, headers, code) => {
    await using plexus = await startPlexus({ flags: { auth: "none" } });
    const call = await permit(plexus, { command: "ls" }, "loopback_permit", headers);
    expect(call.status).toBe(400);
    expect((await call.response()).error).toMatchObject({ code });
    expect((await plexus.app.approvals.pending(OPERATOR, undefined, 1)).approvals).toEqual([]);
  });

  test("is no tool of a named token's", async () => {
    await using plexus = await startPlexus();
    const { token } = await plexus.app.tokens.createNamed("parent");
    const params = { name: "loopback_permit", arguments: { tool_name: "Bash", input: {} } };
    const { result } = await (await postModern(plexus.url, "tools/call", params, { token })).response();
    expect(result?.structuredContent).toMatchObject({ type: "error", code: "not_found" });
  });
});
