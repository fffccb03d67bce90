import { AppError } from "../schema/errors.ts";
import type { JsonObject } from "../schema/values.ts";
import type { Storage } from "../storage/database.ts";
import type { PendingSize } from "../storage/pending-sizes.ts";

const MEGABYTE = 1024 * 1024;
/** So many sessions are remembered before all are counted anew. */
const MAX_REMEMBERED = 10_000;

export type PendingBounds = { asksPerSession: number; bytesPerSession: number; bytesInAll: number };

/** More undecided asks than this are no work but a flood; whoever reaches a bound with one ask has that one taken. */
const PENDING_BOUNDS: PendingBounds = {
  asksPerSession: 20_000,
  bytesPerSession: 256 * MEGABYTE,
  bytesInAll: 1024 * MEGABYTE,
};

/**
 * Bounds what is undecided. What was asked since the last count is added up here, decided or not; only when that reaches
 * a bound is it counted what is really pending, so that an ask costs nothing until then.
 */
export function createPendingBounds(
  { pendingSizes }: Pick<Storage, "pendingSizes">,
  { asksPerSession, bytesPerSession, bytesInAll }: PendingBounds = PENDING_BOUNDS,
) {
  const most = new Map<string, PendingSize>();
  let mostInAll: PendingSize | undefined;

  return {
    /** Takes one more ask of a session into account; throws where there are as many as may be. */
    admit(sessionId: string, input: JsonObject): void {
      const isFull = ({ count, bytes }: PendingSize) => count >= asksPerSession || bytes >= bytesPerSession;
      let own = most.get(sessionId) ?? pendingSizes.ofSession(sessionId);
      if (isFull(own)) own = pendingSizes.ofSession(sessionId);
      let all = mostInAll ?? pendingSizes.ofAll();
      if (all.bytes >= bytesInAll) all = pendingSizes.ofAll();
      if (own.count >= asksPerSession) throw tooMuch("This session has", `${asksPerSession} undecided asks`);
      if (own.bytes >= bytesPerSession)
        throw tooMuch("This session has", `${megabytes(bytesPerSession)} of undecided asks`);
      if (all.bytes >= bytesInAll)
        throw tooMuch("All sessions together have", `${megabytes(bytesInAll)} of undecided asks`);
      const bytes = Buffer.byteLength(JSON.stringify(input));
      if (most.size >= MAX_REMEMBERED) most.clear();
      most.set(sessionId, { count: own.count + 1, bytes: own.bytes + bytes });
      mostInAll = { count: all.count + 1, bytes: all.bytes + bytes };
    },
  };
}

function tooMuch(who: string, what: string): AppError {
  const advice = "wait until some are decided (`plexus pending` lists them), then ask again";
  return new AppError("too_many_requests", `${who} ${what}, which is the limit: ${advice}.`);
}

function megabytes(bytes: number): string {
  return `${Math.round(bytes / MEGABYTE)} MB`;
}
