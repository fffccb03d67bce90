import type { JsonObject } from "../../../src/contract/values.ts";
import { type Message, post, type RawStream } from "./raw-mcp.ts";

export const MODERN = "2026-07-28";

type Options = {
  token?: string | null;
  id?: string | number;
  /** Beside, or instead of, what the revision demands. */
  meta?: JsonObject;
  headers?: Record<string, string>;
};

/** A request of 2026-07-28, which says for itself what it speaks. */
export function modernMessage(method: string, params: JsonObject = {}, { id = 1, meta = {} }: Options = {}) {
  const envelope = {
    "io.modelcontextprotocol/protocolVersion": MODERN,
    "io.modelcontextprotocol/clientCapabilities": {},
    ...meta,
  };
  return { jsonrpc: "2.0", id, method, params: { ...params, _meta: envelope } };
}

/** The headers that repeat what a message says. */
export function modernHeaders(method: string, { name, uri }: JsonObject = {}): Record<string, string> {
  const named = name ?? uri;
  return {
    "mcp-protocol-version": MODERN,
    "mcp-method": method,
    ...(typeof named === "string" && { "mcp-name": named }),
  };
}

/** Sends such a request, and reads its answer, which is JSON or a stream. */
export function postModern(
  url: string,
  method: string,
  params: JsonObject = {},
  { token, headers = {}, ...options }: Options = {},
): Promise<RawStream> {
  const message = modernMessage(method, params, options);
  return post(url, message, { token: token ?? null, headers: { ...modernHeaders(method, params), ...headers } });
}

/** A call of a tool, and what it answers. */
export async function callModern(
  url: string,
  name: string,
  args: JsonObject = {},
  options: Options = {},
): Promise<Message> {
  return (await postModern(url, "tools/call", { name, arguments: args }, options)).response();
}
