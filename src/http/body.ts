import type { MiddlewareHandler } from "hono";
import { AppError } from "../schema/errors.ts";
import { type Env, refuseRevoked } from "./auth.ts";

const MAX_BODY_BYTES = 32 * 1024 * 1024;
const JSON_TYPE = /^application\/([a-z.-]+\+)?json\s*(;|$)/i;

/** What Bun replaces in silence is refused here: a child's input must be decided on as it was sent. */
const utf8 = new TextDecoder("utf-8", { fatal: true });

/** Reads the body for the handlers behind it, and no more of it than the limit. */
export const readBody: MiddlewareHandler<Env> = async (c, next) => {
  if (c.req.raw.body) c.req.bodyCache.text = Promise.resolve(decoded(await bounded(c.req.raw)));
  refuseRevoked(c);
  await next();
};

/** Says so where a body is none of ours to read, rather than that its fields are missing. */
export const jsonOnly: MiddlewareHandler<Env> = async (c, next) => {
  if (!JSON_TYPE.test(c.req.header("content-type") ?? "")) {
    throw new AppError("invalid_json", "Send JSON, with `Content-Type: application/json`.");
  }
  await next();
};

export function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    throw new AppError("invalid_json", "The body is not valid JSON.");
  }
}

/** What is left unread is thrown away by Bun as it arrives. */
async function bounded(request: Request): Promise<Uint8Array> {
  const length = request.headers.get("content-length");
  if (Number(length) > MAX_BODY_BYTES) throw tooLarge();
  const chunks: Uint8Array[] = [];
  let size = 0;
  try {
    if (length !== null && !request.headers.has("transfer-encoding")) return await request.bytes();
    for await (const chunk of request.body ?? []) {
      size += chunk.length;
      if (size > MAX_BODY_BYTES) break;
      chunks.push(chunk);
    }
  } catch (cause) {
    throw new AppError("invalid_json", "The body ended before it was complete.", { cause });
  }
  if (size > MAX_BODY_BYTES) throw tooLarge();
  return Buffer.concat(chunks);
}

function decoded(bytes: Uint8Array): string {
  try {
    return utf8.decode(bytes);
  } catch {
    throw new AppError("invalid_json", "The body is not valid UTF-8.");
  }
}

function tooLarge(): AppError {
  return new AppError("payload_too_large", `The body is larger than ${MAX_BODY_BYTES} bytes.`);
}
