import { deflateRawSync, inflateRawSync } from "node:zlib";
import type { RequestId } from "@modelcontextprotocol/sdk/types.js";
import { z } from "zod";
import { JsonObject } from "../../contract/values.ts";

/** A call that waits keeps its id and its token in memory, beside what is bounded of its request. */
export const MAX_ID_CHARS = 2_000;
/** An id or a progress token that is short enough to be kept. */
export const Token = z.union([z.string().max(MAX_ID_CHARS), z.number()]);
export type Token = z.infer<typeof Token>;

/** Where an answer goes: the JSON-RPC request that waits for it, and the token that its progress is told with. */
export type Waiting = { id: RequestId; progressToken: Token | undefined };

/** It comes back in a header, of which servers and proxies take no more than about 8 kB. */
const MAX_CHARS = 6_000;
const PREFIX = "call.";
/** Of an id whose text is deflated, since it would be too long otherwise: a wait may skip hundreds of approvals. */
const PACKED = "call-z.";
const MAX_UNPACKED_BYTES = 64 * 1024;

/** A call as the id of its stream tells it to another process; without a state, only that it was begun. */
export type BegunCall = Waiting & { tool: string; state?: JsonObject };

const Fields = z.tuple([z.string().max(MAX_ID_CHARS), Token, Token.nullable(), JsonObject.nullable()]);

/** `call.` and the base64url of `[tool, JSON-RPC id, progress token, state]`; the state is left out where it is too long. */
export function callEventId({ tool, id, progressToken, state }: BegunCall): string | undefined {
  const text = (kept: JsonObject | undefined) => JSON.stringify([tool, id, progressToken ?? null, kept ?? null]);
  return written(text(state)) ?? written(text(undefined));
}

function written(json: string): string | undefined {
  const plain = `${PREFIX}${Buffer.from(json).toString("base64url")}`;
  if (plain.length <= MAX_CHARS) return plain;
  if (Buffer.byteLength(json) > MAX_UNPACKED_BYTES) return undefined;
  const packed = `${PACKED}${deflateRawSync(json).toString("base64url")}`;
  return packed.length <= MAX_CHARS ? packed : undefined;
}

/** Which call a connection comes back for, by the id of the last event that it has seen. */
export function readCallEventId(text: string | null): BegunCall | undefined {
  const prefix = [PREFIX, PACKED].find((start) => text?.startsWith(start));
  if (!text || !prefix || text.length > MAX_CHARS) return undefined;
  try {
    const bytes = Buffer.from(text.slice(prefix.length), "base64url");
    const json = prefix === PACKED ? inflateRawSync(bytes, { maxOutputLength: MAX_UNPACKED_BYTES }) : bytes;
    const [tool, id, progressToken, state] = Fields.parse(JSON.parse(json.toString()));
    return { tool, id, progressToken: progressToken ?? undefined, ...(state && { state }) };
  } catch {
    return undefined;
  }
}
