import { z } from "zod";
import { CALL_TIMEOUT_MS, plexusServer } from "../approvals/approval.ts";
import type { JsonObject } from "../values.ts";

/** How a child reaches Plexus: directly, or through a Plexus process that waits while the server is away. */
export const Carrier = z.enum(["http", "stdio"]);
export type Carrier = z.infer<typeof Carrier>;

/** Where the server listens, and the command of its program on this machine. */
type Server = { url: string; program: string[] };

/** The MCP entry of Plexus for a child's CLI, with the token that identifies the session. */
export function carrierServer(carrier: Carrier, { url, program }: Server, token: string): JsonObject {
  if (carrier === "http") return plexusServer(url, token);
  const [command = "", ...args] = program;
  return {
    type: "stdio",
    command,
    args: [...args, "mcp", "--carrier"],
    env: { PLEXUS_URL: url, PLEXUS_TOKEN: token },
    timeout: CALL_TIMEOUT_MS,
  };
}
