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

/** The text of a refusal. A function gets the names that the caller's interface has for the next steps. */
type Says = string | ((by: Ways) => string);

/**
 * A refusal, which says what happened and what to do. Its `message` contains no interface's names, so it can be stored.
 */
export class AppError extends Error {
  override readonly name = "AppError";
  readonly #says: Says;
  constructor(
    readonly code: ErrorCode,
    says: Says,
    /** `quotes`: the message quotes a child, so an agent must not mistake it for text by Plexus. */
    readonly options: ErrorOptions & { quotes?: boolean } = {},
  ) {
    super(worded(says, undefined), options);
    this.#says = says;
  }

  /** Returns the message for this interface. */
  toldBy(door: Door): string {
    return worded(this.#says, door);
  }
}

function worded(says: Says, door: Door | undefined): string {
  return typeof says === "string" ? says : says(waysOf(door));
}

/** For calls whose token was revoked after they began: nothing of them is done or reported. */
export function tokenRevoked(): AppError {
  return new AppError("unauthorized", "This token was revoked.");
}

/** Returns the refusal for any failure; a bug becomes a message without details. */
export function refusalOf(cause: unknown): AppError {
  if (cause instanceof AppError) return cause;
  return new AppError("internal", "Plexus failed inside; its log has the details. Nothing was allowed.", { cause });
}

/** The result of a refused MCP call. */
export const ErrorResult = z.strictObject({
  type: z.literal("error"),
  code: ErrorCode,
  message: z.string(),
  /** Present if the message quotes a child. */
  untrusted: z.array(z.literal("message")).optional(),
});
export type ErrorResult = z.infer<typeof ErrorResult>;

export function errorResult(error: AppError, door: Door): ErrorResult {
  const { code, options } = error;
  return { type: "error", code, message: error.toldBy(door), ...(options.quotes && { untrusted: ["message"] }) };
}

/** The same for a client: a newer server may have unknown codes and additional fields. */
export const AnyErrorResult = ErrorResult.extend({ code: z.string() }).strip();

/** The body of a refused REST request. */
export const ErrorBody = z.strictObject({ error: z.strictObject({ code: ErrorCode, message: z.string() }) });
export type ErrorBody = z.infer<typeof ErrorBody>;
