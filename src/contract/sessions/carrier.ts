import { z } from "zod";
import { CALL_TIMEOUT_MS, plexusServer } from "../approvals/approval.ts";
import type { JsonObject } from "../values.ts";

/** How a child reaches Plexus: by itself, or through a process of ours that waits out any absence of the server. */
export const Carrier = z.enum(["http", "stdio"]);
export type Carrier = z.infer<typeof Carrier>;

/** Where the server listens, and how its program is called on this machine. */
type Way = { url: string; program: string[] };

/** Our own MCP server as a child's CLI is told of it, with the token that says which session asks. */
export function carrierServer(carrier: Carrier, { url, program }: Way, token: string): JsonObject {
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
