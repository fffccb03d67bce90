import type { Context, MiddlewareHandler } from "hono";
import { AppError } from "../../contract/refusals/errors.ts";
import { type Env, refuseRevoked } from "./auth.ts";
import { checkJsonLimits } from "./json-limits.ts";

const MAX_BODY_BYTES = 32 * 1024 * 1024;
/** Enough for a sign-in code, and too little to exhaust memory. */
const MAX_BODY_BYTES_WITHOUT_TOKEN = 1024;
const JSON_TYPE = /^application\/([a-z.-]+\+)?json\s*(;|$)/i;

/**
 * `fatal` refuses invalid bytes, which Bun would replace silently: a child's input must be decided exactly as it was
 * sent.
 */
const utf8 = new TextDecoder("utf-8", { fatal: true });

/** Reads the body as JSON, within the size limit; the sender's token must still be valid when the last byte arrives. */
export async function readJson(c: Context<Env>): Promise<unknown> {
  const text = await readText(c);
  try {
    return JSON.parse(text);
  } catch {
    throw new AppError("invalid_json", "The body is not valid JSON.");
  }
}

/** Runs before a validator, which itself has no size limit and reads any other content type as an empty object. */
export const jsonBody: MiddlewareHandler<Env> = async (c, next) => {
  if (!JSON_TYPE.test(c.req.header("content-type") ?? "")) {
    throw new AppError("invalid_json", "Send JSON, with `Content-Type: application/json`.");
  }
  c.req.raw = new Request(c.req.raw, { body: await readText(c) });
  await next();
};

async function readText(c: Context<Env>): Promise<string> {
  const bytes = await readBytes(c);
  refuseRevoked(c.get("caller"));
  checkJsonLimits(bytes);
  try {
    return utf8.decode(bytes);
  } catch {
    throw new AppError("invalid_json", "The body is not valid UTF-8.");
  }
}

/** If reading stops early, Bun discards the rest as it arrives. */
async function readBytes(c: Context<Env>): Promise<Uint8Array> {
  const request = c.req.raw;
  const maxBytes = c.get("caller") ? MAX_BODY_BYTES : MAX_BODY_BYTES_WITHOUT_TOKEN;
  const length = request.headers.get("content-length");
  if (Number(length) > maxBytes) throw tooLarge(maxBytes);
  const chunks: Uint8Array[] = [];
  let size = 0;
  try {
    if (length !== null && !request.headers.has("transfer-encoding")) {
      c.get("held").receive(Number(length));
      return await request.bytes();
    }
    for await (const chunk of request.body ?? []) {
      size += chunk.length;
      if (size > maxBytes) break;
      c.get("held").receive(chunk.length);
      chunks.push(chunk);
    }
  } catch (cause) {
    if (cause instanceof AppError) throw cause;
    throw new AppError("invalid_json", "The body ended before it was complete.", { cause });
  }
  if (size > maxBytes) throw tooLarge(maxBytes);
  return Buffer.concat(chunks);
}

function tooLarge(maxBytes: number): AppError {
  const unless = maxBytes === MAX_BODY_BYTES ? "" : ", the most that is read without a valid token";
  return new AppError("payload_too_large", `The body is larger than ${maxBytes} bytes${unless}.`);
}
