import type { JsonObject } from "../../../src/contract/values.ts";
import { type Message, post, type RawStream } from "./raw-mcp.ts";

export const MODERN = "2026-07-28";

type Options = {
  token?: string | null;
  id?: string | number;
  /** Sent beside or instead of the headers that the revision requires. */
  meta?: JsonObject;
  headers?: Record<string, string>;
};

/** A request of 2026-07-28, which states its own revision. */
export function modernMessage(method: string, params: JsonObject = {}, { id = 1, meta = {} }: Options = {}) {
  const envelope = {
    "io.modelcontextprotocol/protocolVersion": MODERN,
    "io.modelcontextprotocol/clientCapabilities": {},
    ...meta,
  };
  return { jsonrpc: "2.0", id, method, params: { ...params, _meta: envelope } };
}

/** The headers that repeat the content of a message. */
export function modernHeaders(method: string, { name, uri }: JsonObject = {}): Record<string, string> {
  const named = name ?? uri;
  return {
    "mcp-protocol-version": MODERN,
    "mcp-method": method,
    ...(typeof named === "string" && { "mcp-name": named }),
  };
}

/** Sends such a request and reads its answer, which is JSON or a stream. */
export function postModern(
  url: string,
  method: string,
  params: JsonObject = {},
  { token, headers = {}, ...options }: Options = {},
): Promise<RawStream> {
  const message = modernMessage(method, params, options);
  return post(url, message, { token: token ?? null, headers: { ...modernHeaders(method, params), ...headers } });
}

/** Calls a tool and returns its answer. */
export async function callModern(
  url: string,
  name: string,
  args: JsonObject = {},
  options: Options = {},
): Promise<Message> {
  return (await postModern(url, "tools/call", { name, arguments: args }, options)).response();
}
