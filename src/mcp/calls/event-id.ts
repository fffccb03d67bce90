import { deflateRawSync, inflateRawSync } from "node:zlib";
import type { RequestId } from "@modelcontextprotocol/sdk/types.js";
import { z } from "zod";
import { JsonObject } from "../../contract/values.ts";

/** Limits the id and the token of a waiting call: they stay in memory, besides the bounded request. */
export const MAX_ID_CHARS = 2_000;
/** An id or a progress token that is short enough to keep. */
export const Token = z.union([z.string().max(MAX_ID_CHARS), z.number()]);
export type Token = z.infer<typeof Token>;

/** Where an answer goes: the waiting JSON-RPC request, and the token for its progress. */
export type Waiting = { id: RequestId; progressToken: Token | undefined };

/** The id comes back in a header, and servers and proxies accept headers of up to about 8 kB. */
const MAX_CHARS = 6_000;
const PREFIX = "call.";
/** Marks an id whose text is compressed because it was too long: a wait may skip hundreds of approvals. */
const PACKED = "call-z.";
const MAX_UNPACKED_BYTES = 64 * 1024;

/** A call as the id of its stream describes it to another process. Without a state, only its beginning is known. */
export type BegunCall = Waiting & { tool: string; state?: JsonObject };

const Fields = z.tuple([z.string().max(MAX_ID_CHARS), Token, Token.nullable(), JsonObject.nullable()]);

/** `call.` and the base64url of `[tool, JSON-RPC id, progress token, state]`. A state that is too long is left out. */
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

/** The call that a client comes back for, from the id of the last event that it received. */
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
