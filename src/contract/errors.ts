import { type ZodError, z } from "zod";
import { cutText } from "./cut.ts";

const MAX_PROBLEMS = 5;
const MAX_PROBLEM_CHARS = 300;

/** The code of every refusal; each transport maps all of them in one exhaustive table. */
export const ErrorCode = z.enum([
  "invalid_json",
  "invalid_arguments",
  "unauthorized",
  "forbidden",
  "not_found",
  "name_taken",
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

/** A refusal: its message says what happened and what to do. */
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

/** The result of a refused MCP call. */
export const ErrorResult = z.strictObject({ type: z.literal("error"), code: ErrorCode, message: z.string() });
export type ErrorResult = z.infer<typeof ErrorResult>;

/** The same as a client reads it: a newer server may have codes that are not known here, and say more. */
export const AnyErrorResult = ErrorResult.extend({ code: z.string() }).strip();

/** The body of a refused REST request. */
export const ErrorBody = z.strictObject({ error: z.strictObject({ code: ErrorCode, message: z.string() }) });
export type ErrorBody = z.infer<typeof ErrorBody>;

/** What is invalid in an input, and where; kept short, since a problem may name a key as long as the body. */
export function problemsIn(error: Pick<ZodError, "issues">): string {
  const problems = error.issues.slice(0, MAX_PROBLEMS).map((issue) => {
    const where = issue.path.join(".");
    return cutText(where ? `${where}: ${issue.message}` : issue.message, MAX_PROBLEM_CHARS);
  });
  return problems.join("; ");
}
