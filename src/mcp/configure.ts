import type { App, Principal } from "../app.ts";
import { type McpConfig, PERMISSION_TOOL, plexusServer } from "../schema/approval.ts";
import { AppError } from "../schema/errors.ts";

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
  if (session.kind !== "by_hand") {
    throw new AppError(
      "invalid_arguments",
      `Plexus starts the children of session "${session.name}" itself: call this without a session_id to make another.`,
    );
  }
  const plexus = plexusServer(app.childUrl(), await app.tokens.createForChild(session.id));
  const args = ["--strict-mcp-config", "--permission-mode", "default", "--permission-prompt-tool", PERMISSION_TOOL];
  return { session_id: session.id, mcp_config: { mcpServers: { plexus } }, args };
}
