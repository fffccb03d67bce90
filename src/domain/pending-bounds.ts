import { AppError } from "../schema/errors.ts";
import type { Storage } from "../storage/database.ts";

const MEGABYTE = 1024 * 1024;

export type PendingBounds = { asksPerSession: number; bytesPerSession: number; bytesInAll: number };

/** More undecided asks than this are no work but a flood; whoever reaches a bound with one ask has that one taken. */
export const PENDING_BOUNDS: PendingBounds = {
  asksPerSession: 20_000,
  bytesPerSession: 256 * MEGABYTE,
  bytesInAll: 1024 * MEGABYTE,
};

/** Throws where this session, or all of them together, have as much undecided as they may. */
export function refuseFlood(
  { pendingSizes }: Pick<Storage, "pendingSizes">,
  sessionId: string,
  { asksPerSession, bytesPerSession, bytesInAll }: PendingBounds = PENDING_BOUNDS,
): void {
  const { count, bytes } = pendingSizes.ofSession(sessionId);
  if (count >= asksPerSession) throw tooMuch("This session has", `${asksPerSession} undecided asks`);
  if (bytes >= bytesPerSession) throw tooMuch("This session has", `${megabytes(bytesPerSession)} of undecided asks`);
  if (pendingSizes.ofAll().bytes >= bytesInAll)
    throw tooMuch("All sessions together have", `${megabytes(bytesInAll)} of undecided asks`);
}

function tooMuch(who: string, what: string): AppError {
  const advice = "wait until some are decided (`plexus pending` lists them), then ask again";
  return new AppError("too_many_requests", `${who} ${what}, which is the limit: ${advice}.`);
}

function megabytes(bytes: number): string {
  return `${Math.round(bytes / MEGABYTE)} MB`;
}
