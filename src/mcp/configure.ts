import type { App, Principal } from "../app.ts";
import type { McpConfig } from "../schema/approval.ts";
import { AppError } from "../schema/errors.ts";

/** The most that the CLI takes: its own limit on a call must never be what ends a wait. */
const CALL_TIMEOUT_MS = 100_000_000;

const PERMISSION_TOOL = "mcp__plexus__loopback_permit";

type Configured = { session_id: string; mcp_config: McpConfig; args: string[] };

/** A by-hand session (a new one, or one of the caller's) with a token for the claude that will ask in its name. */
export async function configureSession(
  app: App,
  principal: Principal,
  { name, sessionId }: { name?: string | undefined; sessionId?: string | undefined },
): Promise<Configured> {
  if (name !== undefined && sessionId !== undefined) {
    throw new AppError(
      "invalid_arguments",
      "Give a name for a new session or the session_id of an existing one, not both.",
    );
  }
  const session = sessionId
    ? app.sessions.require(principal, sessionId)
    : await app.sessions.createByHand(principal, name);
  const token = await app.tokens.createForChild(session.id);
  const plexus = {
    type: "http" as const,
    url: `${app.childUrl()}/mcp`,
    headers: { Authorization: `Bearer ${token}` },
    timeout: CALL_TIMEOUT_MS,
  };
  const args = ["--strict-mcp-config", "--permission-mode", "default", "--permission-prompt-tool", PERMISSION_TOOL];
  return { session_id: session.id, mcp_config: { mcpServers: { plexus } }, args };
}
