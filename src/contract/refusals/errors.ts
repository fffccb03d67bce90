import { z } from "zod";
import { type Door, type Ways, waysOf } from "./ways.ts";

/** The code of every refusal; each transport maps all of them in one exhaustive table. */
export const ErrorCode = z.enum([
  "invalid_json",
  "invalid_arguments",
  "unauthorized",
  "forbidden",
  "not_found",
  "name_taken",
  "config_differs",
  "turn_running",
  "limit_reached",
  "claude_unavailable",
  "payload_too_large",
  "too_many_requests",
  "storage_unavailable",
  "unreachable",
  "outcome_unknown",
  "internal",
]);
export type ErrorCode = z.infer<typeof ErrorCode>;

/** What a refusal says; where it tells its reader to do something, by the ways of the door that tells it. */
type Says = string | ((by: Ways) => string);

/** A refusal: it says what happened and what to do. Its `message` names no door's way, as for a text that is stored. */
export class AppError extends Error {
  override readonly name = "AppError";
  readonly #says: Says;
  constructor(
    readonly code: ErrorCode,
    says: Says,
    /** `quotes`: the message has words of a child in it, which no agent may take for ours. */
    readonly options: ErrorOptions & { quotes?: boolean } = {},
  ) {
    super(worded(says, undefined), options);
    this.#says = says;
  }

  /** As it is told at this door. */
  toldBy(door: Door): string {
    return worded(this.#says, door);
  }
}

function worded(says: Says, door: Door | undefined): string {
  return typeof says === "string" ? says : says(waysOf(door));
}

/** For what was begun with a token that was revoked meanwhile: none of it is done, or told. */
export function tokenRevoked(): AppError {
  return new AppError("unauthorized", "This token was revoked.");
}

/** What a caller is told of a failure: of one that is no refusal, but a bug, only that there was one. */
export function refusalOf(cause: unknown): AppError {
  if (cause instanceof AppError) return cause;
  return new AppError("internal", "Plexus failed inside; its log has the details. Nothing was allowed.", { cause });
}

/** The result of a refused MCP call. */
export const ErrorResult = z.strictObject({
  type: z.literal("error"),
  code: ErrorCode,
  message: z.string(),
  /** There where the message has words of a child in it. */
  untrusted: z.array(z.literal("message")).optional(),
});
export type ErrorResult = z.infer<typeof ErrorResult>;

export function errorResult(error: AppError, door: Door): ErrorResult {
  const { code, options } = error;
  return { type: "error", code, message: error.toldBy(door), ...(options.quotes && { untrusted: ["message"] }) };
}

/** The same as a client reads it: a newer server may have codes that are not known here, and say more. */
export const AnyErrorResult = ErrorResult.extend({ code: z.string() }).strip();

/** The body of a refused REST request. */
export const ErrorBody = z.strictObject({ error: z.strictObject({ code: ErrorCode, message: z.string() }) });
export type ErrorBody = z.infer<typeof ErrorBody>;
