import { AppError } from "../../contract/refusals/errors.ts";
import type { FiledApproval, PendingLimits } from "../../storage/approvals.ts";

const MEGABYTE = 1024 * 1024;

/** Bounds against a flood of requests. The request that reaches a bound is still accepted; the next one is refused. */
export const PENDING_LIMITS: PendingLimits = {
  asksPerSession: 20_000,
  bytesPerSession: 256 * MEGABYTE,
  bytesInAll: 1024 * MEGABYTE,
};

/** The error that names the bound and says what to do. */
export function tooManyPending(
  { bound, size }: Extract<FiledApproval, { outcome: "too_many" }>,
  limits: PendingLimits,
): AppError {
  switch (bound) {
    case "session_count":
      return tooMany("This session has", `${limits.asksPerSession} undecided asks`);
    case "session_bytes":
      return tooMany("This session has", `${megabytes(limits.bytesPerSession)} of undecided asks`);
    case "all_bytes":
      return tooMany("All sessions together have", `${megabytes(limits.bytesInAll)} of undecided asks`);
    case "owner_bytes":
      return tooMany("The sessions of this owner have", `${megabytes(size.bytes)} of undecided asks`);
  }
}

function tooMany(who: string, what: string): AppError {
  const advice = "wait until some are decided, then ask again";
  return new AppError("too_many_requests", `${who} ${what}, which is the limit: ${advice}.`);
}

function megabytes(bytes: number): string {
  return `${Math.round(bytes / MEGABYTE)} MB`;
}
