import { z } from "zod";
import { isJsonObject, type JsonObject } from "../../contract/values.ts";
import { claimOf } from "../revision.ts";

/** More than the server accepts, so that the server can refuse the request itself and name it. */
const MAX_LINE_BYTES = 64 * 1024 * 1024;
const NEWLINE = 10;

export const RpcId = z.union([z.string(), z.number()]);
export type RpcId = z.infer<typeof RpcId>;

/** A message together with its original text. */
export type RpcLine =
  | { kind: "request"; id: RpcId; method: string; params: JsonObject; message: JsonObject; text: string }
  | { kind: "notification"; method: string; params: JsonObject; message: JsonObject; text: string }
  | { kind: "response"; text: string }
  | { kind: "unreadable"; code: number; problem: string };

/** Refuses invalid UTF-8 instead of replacing it silently: an input must be decided exactly as it was sent. */
const utf8 = new TextDecoder("utf-8", { fatal: true });

/** The JSON-RPC messages of a stream, one on each line. Splits batches if the revision has them. */
export async function* rpcLines(
  chunks: AsyncIterable<Uint8Array>,
  takesBatches: () => boolean,
): AsyncGenerator<RpcLine> {
  for await (const bytes of linesOf(chunks)) {
    if (bytes === "too_long") {
      yield unreadable(-32600, `A message must not be longer than ${MAX_LINE_BYTES} bytes.`);
      continue;
    }
    const read = parse(bytes);
    if (read === "broken") yield unreadable(-32700, "This line is not valid JSON.");
    else if (read && Array.isArray(read.value)) {
      if (!takesBatches() || read.value.some((message) => claimOf(message) !== undefined)) {
        yield unreadable(-32600, "Send one message at a time: this revision has no batches.");
        continue;
      }
      for (const message of read.value) yield classify(message, JSON.stringify(message));
    } else if (read) yield classify(read.value, read.text);
  }
}

/** Yields whole lines only, and drops the bytes of a line that is too long. */
async function* linesOf(chunks: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array | "too_long"> {
  let pieces: Uint8Array[] = [];
  let length = 0;
  const take = (piece: Uint8Array) => {
    length += piece.length;
    if (length > MAX_LINE_BYTES) pieces = [];
    else pieces.push(piece);
  };
  for await (const chunk of chunks) {
    let start = 0;
    for (let end = chunk.indexOf(NEWLINE); end >= 0; end = chunk.indexOf(NEWLINE, start)) {
      take(chunk.subarray(start, end));
      yield length > MAX_LINE_BYTES ? "too_long" : Buffer.concat(pieces);
      pieces = [];
      length = 0;
      start = end + 1;
    }
    take(chunk.subarray(start));
  }
}

function parse(bytes: Uint8Array): { value: unknown; text: string } | "broken" | undefined {
  try {
    const text = utf8.decode(bytes);
    return text.trim() === "" ? undefined : { value: JSON.parse(text), text };
  } catch {
    return "broken";
  }
}

function classify(message: unknown, text: string): RpcLine {
  if (!isJsonObject(message)) return unreadable(-32600, "A message must be a JSON object.");
  const { id, method } = message;
  const params = isJsonObject(message["params"]) ? message["params"] : {};
  if (typeof method !== "string") {
    const isResponse = id !== undefined && ("result" in message || "error" in message);
    return isResponse ? { kind: "response", text } : unreadable(-32600, "A message must have a method or a result.");
  }
  if (id === undefined) return { kind: "notification", method, params, message, text };
  const known = RpcId.safeParse(id);
  if (!known.success) return unreadable(-32600, "An id must be a string or a number.");
  return { kind: "request", id: known.data, method, params, message, text };
}

function unreadable(code: number, problem: string): RpcLine {
  return { kind: "unreadable", code, problem };
}
