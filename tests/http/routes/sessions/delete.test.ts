import { describe, expect, test } from "bun:test";
import { connectClient } from "../../../support/mcp/mcp-client.ts";
import { OPERATOR_TOKEN, type Plexus, startPlexus } from "../../../support/server/plexus.ts";
import { until } from "../../../support/until.ts";
import { expectRefusal, namedToken, sessionOf } from "../../support/callers.ts";

const DELETED = "Abandoned: its session was deleted. Plexus did not allow the call.";

/** The ways to delete a session. */
const ways: Record<string, (plexus: Plexus, token: string, id: string) => Promise<void>> = {
  REST: async (plexus, token, id) => {
    expect((await plexus.fetch(`/api/v1/sessions/${id}`, { method: "DELETE", token })).status).toBe(200);
  },
  MCP: async (plexus, token, id) => {
    await using client = await connectClient(plexus.url, token);
    expect((await client.call("claudecode_delete", { session_id: id })).value).toEqual({ type: "deleted", id });
  },
};

for (const [way, remove] of Object.entries(ways)) {
  describe(`a session of a claude started by hand that is deleted over ${way}`, () => {
    test("leaves no request that could be allowed: the child is denied, and a late decider gets the reason", async () => {
      await using plexus = await startPlexus();
      const ann = await namedToken(plexus, "ann");
      const { session, token } = await sessionOf(plexus, ann.principal);
      const other = await sessionOf(plexus, ann.principal);
      await using child = await connectClient(plexus.url, token);
      await using sibling = await connectClient(plexus.url, other.token);
      const asked = [1, 2].map((at) => child.call("loopback_permit", ask(at)));
      const elsewhere = sibling.call("loopback_permit", ask(3));
      const ids = await until("three asks", async () => {
        const { approvals } = await plexus.app.approvals.pending(ann.principal, undefined, 9);
        return approvals.length === 3 && approvals.filter((one) => one.session_id === session.id).map(({ id }) => id);
      });
      await remove(plexus, ann.token, session.id);
      for (const answer of await Promise.all(asked))
        expect(answer.value).toEqual({ behavior: "deny", message: DELETED });
      for (const id of ids) {
        const late = { method: "POST", token: OPERATOR_TOKEN, body: JSON.stringify({ approve: true }) };
        const response = await plexus.fetch(`/api/v1/approvals/${id}/respond`, late);
        expect(await response.json()).toMatchObject({ type: "already_resolved", status: "abandoned" });
      }
      const [left, ...more] = (await plexus.app.approvals.pending(ann.principal, undefined, 9)).approvals;
      expect({ left: left?.session_id, more }).toEqual({ left: other.session.id, more: [] });
      await remove(plexus, ann.token, other.session.id);
      await elsewhere;
    });

    test("accepts no further request", async () => {
      await using plexus = await startPlexus();
      const { session, token } = await sessionOf(plexus, { kind: "operator" });
      await remove(plexus, OPERATOR_TOKEN, session.id);
      const body = JSON.stringify({ jsonrpc: "2.0", id: 1, method: "tools/call", params: { name: "loopback_permit" } });
      await expectRefusal(await plexus.fetch("/mcp", { method: "POST", token, body }), 401, "unauthorized");
    });
  });
}

test("a request filed in the commit that deletes its session is abandoned with it", async () => {
  await using plexus = await startPlexus();
  const { session } = await sessionOf(plexus, { kind: "operator" });
  const removed = plexus.app.sessionCommands.remove({ kind: "operator" }, session);
  const asks = [plexus.app.approvals.request(session, ask(1))];
  await Promise.resolve();
  asks.push(plexus.app.approvals.request(session, ask(2)));
  await removed;
  for (const filed of asks) {
    using waiting = await filed;
    expect(await waiting.answer()).toEqual({ behavior: "deny", message: DELETED });
  }
});

function ask(at: number) {
  return { tool_name: "Bash", input: { command: `touch ${at}` }, tool_use_id: `toolu_${at}` };
}
