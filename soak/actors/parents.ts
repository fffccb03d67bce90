import { StreamableHTTPError } from "@modelcontextprotocol/sdk/client/streamableHttp.js";
import { z } from "zod";
import { McpConfig } from "../../src/contract/approvals/approval.ts";
import { JsonObject } from "../../src/contract/values.ts";
import { connectClient } from "../../tests/support/mcp/mcp-client.ts";
import type { Setup } from "../crash/setup.ts";
import type { Life } from "../crash/victim.ts";
import { request } from "../crash/wire.ts";
import type { Decision } from "../ledger/decisions.ts";

const Waiting = z.object({ id: z.string(), session_id: z.string(), input: JsonObject });
export type Waiting = z.infer<typeof Waiting>;
const Listed = z.object({ approvals: z.array(Waiting).default([]) });
const Configured = z.object({ session_id: z.string(), mcp_config: McpConfig });

const Reply = z.discriminatedUnion("type", [
  z.object({ type: z.literal("ok"), status: z.string() }),
  z.object({
    type: z.literal("already_resolved"),
    status: z.string(),
    resolved_by: z.string(),
    resolved_at: z.int(),
  }),
]);
export type Reply = z.infer<typeof Reply>;

/** One interface through which a parent sees requests and decides them. */
export type Voice = {
  parent: Parent;
  waiting(life: Life): Promise<Waiting[]>;
  respond(life: Life, approvalId: string, decision: Decision): Promise<Reply>;
};

/** A decider: the operator, or a named token. `owner` is its name in the database, `name` the name that others see. */
export type Parent = { token: string; owner: string; name: string };

/** Creates another decider, with a token of this name. */
export async function newParent(url: string, operator: Parent, name: string): Promise<Parent> {
  const response = await request(`${url}/api/v1/tokens`, { token: operator.token, body: { name } });
  const { id, token } = z.object({ id: z.string(), token: z.string() }).parse(await response.json());
  return { token, owner: `token:${id}`, name: `token:${name}` };
}

/** An MCP client that keeps one session through every crash; it repeats calls that a crash has cut off. */
export type McpParent = AsyncDisposable & { voice: Voice; configure(life: Life): Promise<ChildConfig> };
export type ChildConfig = { sessionId: string; token: string };

export async function connectParent({ victim, verdicts, ledger }: Setup, parent: Parent): Promise<McpParent> {
  const client = await connectClient(victim.url, parent.token);

  async function call(life: Life, tool: string, args: object): Promise<object> {
    try {
      const answer = await life.untilGone((signal) => client.call(tool, args, { signal }));
      verdicts.check("sessions", true, () => "");
      if (!answer.isError) return answer.value;
      throw new Error(`${tool} was refused: ${answer.text}`);
    } catch (cause) {
      const isForgotten = cause instanceof StreamableHTTPError && (cause.code === 401 || cause.code === 404);
      if (isForgotten) verdicts.check("sessions", false, () => `${parent.name}: ${cause.message}`);
      throw cause;
    }
  }

  return {
    voice: {
      parent,
      async waiting(life) {
        return Listed.parse(await call(life, "loopback_wait", { timeout_secs: 1 })).approvals;
      },
      async respond(life, approvalId, decision) {
        return Reply.parse(await call(life, "loopback_respond", { approval_id: approvalId, ...decision }));
      },
    },
    async configure(life) {
      const { session_id, mcp_config } = Configured.parse(await call(life, "loopback_configure", {}));
      ledger.opened(session_id, parent.owner);
      const { headers } = mcp_config.mcpServers.plexus;
      return { sessionId: session_id, token: headers.Authorization.replace("Bearer ", "") };
    },
    [Symbol.asyncDispose]: () => client[Symbol.asyncDispose](),
  };
}

export function restVoice({ victim }: Setup, parent: Parent): Voice {
  const call = (life: Life, path: string, body?: object) =>
    life.during(async () => {
      const response = await request(`${victim.url}/api/v1${path}`, { token: parent.token, ...(body && { body }) });
      if (!response.ok) throw new Error(`${path}: ${response.status} ${await response.text()}`);
      return response.json();
    });
  return {
    parent,
    async waiting(life) {
      return Listed.parse(await call(life, "/approvals?status=pending&limit=50")).approvals;
    },
    async respond(life, approvalId, decision) {
      return Reply.parse(await call(life, `/approvals/${approvalId}/respond`, decision));
    },
  };
}
