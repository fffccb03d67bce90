import { SUPPORTED_PROTOCOL_VERSIONS } from "@modelcontextprotocol/sdk/types.js";
import { isJsonObject } from "../contract/values.ts";
import { Token } from "./calls/event-id.ts";
import { FIRST_MODERN, hasBatches, PROTOCOL_VERSION } from "./revision.ts";
import { acceptable } from "./streams.ts";

const INVALID_REQUEST = -32600;
const NO_SESSION = -32001;
const REFUSED = -32000;
const STREAM = ["text/event-stream"];
const JSON_OR_STREAM = ["application/json", "text/event-stream"];
const JSON_TYPE = /^application\/json\s*(;|$)/i;

type RpcErrorInit = { code?: number; id?: unknown; headers?: Record<string, string> };

/** Refuses a whole request before anything was done. */
export function rpcError(
  status: number,
  message: string,
  { code = status === 404 ? NO_SESSION : REFUSED, id, headers = {} }: RpcErrorInit = {},
): Response {
  const error = { code, message };
  return Response.json({ jsonrpc: "2.0", error, id: Token.safeParse(id).data ?? null }, { status, headers });
}

/** Children must use a revision whose waiting calls Claude Code resumes. */
export function refusedChild(body: unknown): Response {
  const id = isJsonObject(body) ? body["id"] : undefined;
  return rpcError(400, "Unsupported protocol version: a child speaks MCP 2025-11-25, or an earlier one.", { id });
}

/** Makes the same checks as the SDK's transport, for requests that are answered without it. */
export function refusedHeaders(request: Request): Response | undefined {
  const accept = acceptable(request).headers.get("accept") ?? "";
  const accepted = request.method === "GET" ? STREAM : JSON_OR_STREAM;
  if (!accepted.every((type) => accept.includes(type))) {
    return rpcError(406, `Not Acceptable: the Accept header must list ${accepted.join(" and ")}.`);
  }
  if (request.method === "POST" && !JSON_TYPE.test(request.headers.get("content-type") ?? "")) {
    return rpcError(415, "Unsupported Media Type: send JSON, with `Content-Type: application/json`.");
  }
  return undefined;
}

/** Refuses revisions that this server does not speak. There is one modern revision so far. */
export function refusedRevision(request: Request): Response | undefined {
  const named = request.headers.get(PROTOCOL_VERSION);
  const spoken = [FIRST_MODERN, ...SUPPORTED_PROTOCOL_VERSIONS];
  if (named === null || spoken.includes(named)) return undefined;
  const supported = spoken.join(", ");
  return rpcError(400, `Unsupported protocol version: ${named.slice(0, 100)} (supported versions: ${supported})`);
}

/** Refuses several messages in one request if the revision has no batches. */
export function refusedBatch(revision: string | null | undefined): Response | undefined {
  if (hasBatches(revision)) return undefined;
  return rpcError(400, `Send one message at a time: ${revision} has no batches.`, { code: INVALID_REQUEST });
}
