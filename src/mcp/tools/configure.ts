import type { App, Principal } from "../../app.ts";
import { type ConfigureInput, type McpConfig, plexusServer } from "../../contract/approvals/approval.ts";

type Configured = { session_id: string; mcp_config: McpConfig; args: string[] };

/** A by-hand session (a new one, or one of the caller's) with a token for the claude that will ask in its name. */
export async function configureSession(app: App, principal: Principal, asked: ConfigureInput): Promise<Configured> {
  const { session, args } = await app.sessionCommands.configure(principal, asked);
  const plexus = plexusServer(app.childUrl(), await app.tokens.createForChild(session.id));
  return { session_id: session.id, mcp_config: { mcpServers: { plexus } }, args };
}
