import { AppError } from "../../contract/refusals/errors.ts";
import type { SessionConfig } from "../../contract/sessions/session.ts";
import { ownerKey } from "../access/principals.ts";

/** Who may set `mcp_servers` in a session. */
type McpServerOwners = "anyone" | "operator";
export type McpServerPolicy = ReturnType<typeof createMcpServerPolicy>;

const OPERATOR = ownerKey({ kind: "operator" });
const INSTEAD = "leave it out, or have the operator create the session (a fork of this one is refused too)";

/** A session's MCP servers run as the user of Plexus, and start without a request. */
export function createMcpServerPolicy(owners: McpServerOwners) {
  return {
    /** Throws if servers that this owner has set may not start. Checked at each turn, since settings change. */
    check(owner: string, { mcp_servers, supervision }: Pick<SessionConfig, "mcp_servers" | "supervision">): void {
      if (owner === OPERATOR || Object.keys(mcp_servers).length === 0) return;
      if (owners === "operator")
        throw forbidden(`mcp_servers is for the operator alone on this server (--mcp-servers operator): ${INSTEAD}.`);
      if (supervision === "strict")
        throw forbidden(`mcp_servers starts programs unasked, so in strict it is for the operator alone: ${INSTEAD}.`);
    },
  };
}

function forbidden(message: string): AppError {
  return new AppError("forbidden", message);
}
