import type { ToolAnswer } from "../../support/mcp/mcp-client.ts";
import type { Plexus } from "../../support/server/plexus.ts";
import { until } from "../../support/until.ts";

export type FiledRequest = { id: string; answer: Promise<ToolAnswer> };

/** A child of the given or a new by-hand session. It repeats its request until it gets an answer or the test ends. */
export async function asker(plexus: Plexus, name = "builder", known?: string) {
  const { sessionId, token } = known
    ? { sessionId: known, token: await plexus.app.tokens.createForChild(known) }
    : await plexus.child(name);
  const client = await plexus.connect(token);
  let asked = 0;
  return {
    sessionId,
    async ask(tool_name: string, input: object): Promise<FiledRequest> {
      const before = new Set(await pendingIds(plexus, sessionId));
      const answer = client.call("loopback_permit", { tool_name, input, tool_use_id: `toolu_${asked++}` });
      // A test may end before the answer.
      answer.catch(() => undefined);
      const id = await until("the ask to be filed", async () =>
        (await pendingIds(plexus, sessionId)).find((one) => !before.has(one)),
      );
      return { id, answer };
    },
  };
}

async function pendingIds(plexus: Plexus, sessionId: string): Promise<string[]> {
  return (await plexus.app.approvals.pending({ kind: "operator" }, sessionId, 1000)).approvals.map(({ id }) => id);
}
