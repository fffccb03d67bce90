import type { Context } from "hono";
import { HTTPException } from "hono/http-exception";
import type { ContentfulStatusCode } from "hono/utils/http-status";
import type { ZodError, z } from "zod";
import { problemsIn } from "../../contract/arguments/problems.ts";
import { AppError, type ErrorBody, type ErrorCode } from "../../contract/refusals/errors.ts";
import { DOOR_HEADER, Door } from "../../contract/refusals/ways.ts";
import { errorFields, type Log } from "../../log.ts";

export const STATUS: Record<ErrorCode, ContentfulStatusCode> = {
  invalid_json: 400,
  invalid_arguments: 422,
  unauthorized: 401,
  forbidden: 403,
  not_found: 404,
  name_taken: 409,
  config_differs: 409,
  turn_running: 409,
  limit_reached: 429,
  claude_unavailable: 503,
  payload_too_large: 413,
  too_many_requests: 429,
  storage_unavailable: 503,
  unreachable: 503,
  outcome_unknown: 502,
  internal: 500,
};

/** Returns which interface the caller uses, for the wording of refusals; the terminal and the page send a header. */
export function doorOf(c: Context): Door {
  return Door.safeParse(c.req.header(DOOR_HEADER)).data ?? "rest";
}

/**
 * Answers every failure as `{error:{code,message}}`. A failure that is not a refusal is a bug, and is logged here,
 * once.
 */
export function answerError(c: Context, cause: unknown, log: Log): Response {
  const error = asAppError(cause);
  if (error.code === "internal" || error.code === "storage_unavailable") {
    log.error("a request failed", { method: c.req.method, path: c.req.path, ...errorFields(error.cause ?? error) });
  }
  const body: ErrorBody = { error: { code: error.code, message: error.toldBy(doorOf(c)) } };
  const headers: Record<string, string> = {};
  if (error.code === "unauthorized") headers["WWW-Authenticate"] = 'Bearer realm="plexus"';
  if (error.code === "too_many_requests") headers["Retry-After"] = "10";
  return c.json(body, STATUS[error.code], headers);
}

type Validated = { success: true } | { success: false; error: Pick<ZodError, "issues">; data: unknown };

/** Refuses an invalid request and names the part that doesn't fit its schema; all routes' validators use it. */
export function refuseInvalid(schema: z.ZodType, whole: string): (result: Validated) => void {
  return (result) => {
    if (result.success) return;
    throw new AppError("invalid_arguments", `${problemsIn(result.error, schema, result.data, whole)}.`);
  };
}

function asAppError(cause: unknown): AppError {
  if (cause instanceof AppError) return cause;
  if (cause instanceof HTTPException && cause.status === 400) {
    return new AppError("invalid_json", "The body is not valid JSON.");
  }
  return new AppError("internal", "Plexus failed inside; its log has the details. Nothing was allowed.", { cause });
}
