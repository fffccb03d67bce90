import { isJsonObject } from "../contract/values.ts";

export const PROTOCOL_VERSION = "mcp-protocol-version";
/** Where a message says for itself which revision it speaks. */
const CLAIM = "io.modelcontextprotocol/protocolVersion";
/** The first revision without handshakes and sessions. Revisions are dates, so their order is that of their names. */
export const FIRST_MODERN = "2026-07-28";
/** The first revision, after 2025-03-26, that has no batches. */
const FIRST_WITHOUT_BATCHES = "2025-06-18";

/** Whether the revision that a request names in its header is a modern one. */
export function namesModern(request: Request): boolean {
  return (request.headers.get(PROTOCOL_VERSION) ?? "") >= FIRST_MODERN;
}

/** Whether a message may be a modern one, by its header or by its own words; the modern SDK then has the last word. */
export function seemsModern(request: Request, body: unknown): boolean {
  return namesModern(request) || (Array.isArray(body) ? body.some(hasClaim) : hasClaim(body));
}

/** The revision that a message claims for itself. */
export function claimOf(message: unknown): unknown {
  const params = isJsonObject(message) ? message["params"] : undefined;
  const meta = isJsonObject(params) ? params["_meta"] : undefined;
  return isJsonObject(meta) ? meta[CLAIM] : undefined;
}

/** A revision that nobody has named is one that still had them. */
export function hasBatches(revision: string | null | undefined): boolean {
  return (revision ?? "") < FIRST_WITHOUT_BATCHES;
}

function hasClaim(message: unknown): boolean {
  return claimOf(message) !== undefined;
}
