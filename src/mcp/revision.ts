import { isJsonObject } from "../contract/values.ts";

export const PROTOCOL_VERSION = "mcp-protocol-version";
/** The key under which a message states its own revision. */
const CLAIM = "io.modelcontextprotocol/protocolVersion";
/** The first revision without handshakes and sessions. Revisions are dates, so they sort by name. */
export const FIRST_MODERN = "2026-07-28";
/** The first revision without batches; 2025-03-26 was the last with them. */
const FIRST_WITHOUT_BATCHES = "2025-06-18";

/** Whether the header of a request names a modern revision. */
export function namesModern(request: Request): boolean {
  return (request.headers.get(PROTOCOL_VERSION) ?? "") >= FIRST_MODERN;
}

/** Whether a message may be a modern one, by its header or its own claim. The modern SDK makes the final check. */
export function seemsModern(request: Request, body: unknown): boolean {
  return namesModern(request) || (Array.isArray(body) ? body.some(hasClaim) : hasClaim(body));
}

/** The revision that a message claims. */
export function claimOf(message: unknown): unknown {
  const params = isJsonObject(message) ? message["params"] : undefined;
  const meta = isJsonObject(params) ? params["_meta"] : undefined;
  return isJsonObject(meta) ? meta[CLAIM] : undefined;
}

/** Without a named revision, batches are allowed: the oldest revisions name none. */
export function hasBatches(revision: string | null | undefined): boolean {
  return (revision ?? "") < FIRST_WITHOUT_BATCHES;
}

function hasClaim(message: unknown): boolean {
  return claimOf(message) !== undefined;
}
