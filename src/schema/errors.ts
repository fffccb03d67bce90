import { z } from "zod";

/** Every way in which Plexus refuses; each transport maps all of them in one exhaustive table. */
export const ErrorCode = z.enum([
  "invalid_json",
  "invalid_arguments",
  "unauthorized",
  "forbidden",
  "not_found",
  "method_not_allowed",
  "name_taken",
  "payload_too_large",
  "too_many_requests",
  "storage_unavailable",
  "internal",
]);
export type ErrorCode = z.infer<typeof ErrorCode>;

/** A refusal: its message tells a person what happened and what to do. */
export class AppError extends Error {
  override readonly name = "AppError";
  constructor(
    readonly code: ErrorCode,
    message: string,
    options?: ErrorOptions,
  ) {
    super(message, options);
  }
}

/** The object that a refused MCP call carries. */
export const ErrorResult = z.strictObject({ type: z.literal("error"), code: ErrorCode, message: z.string() });
export type ErrorResult = z.infer<typeof ErrorResult>;

/** The body that a refused REST request carries. */
export const ErrorBody = z.strictObject({ error: z.strictObject({ code: ErrorCode, message: z.string() }) });
export type ErrorBody = z.infer<typeof ErrorBody>;
