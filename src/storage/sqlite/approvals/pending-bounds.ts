import type { FiledApproval, NewApproval, PendingLimits, PendingSize } from "../../approvals.ts";
import { createTally } from "../tally.ts";

export type PendingBounds = ReturnType<typeof createPendingBounds>;
type TooMany = Extract<FiledApproval, { outcome: "too_many" }>;
type Sizes = {
  ofSession(sessionId: string): PendingSize;
  ofOwner(owner: string): PendingSize;
  ofAll(): PendingSize;
};
/** The undecided requests of the requesting session, of its owner, and of all owners. */
type Undecided = { ofSession: PendingSize; ofOwner: PendingSize; inAll: PendingSize };

/** Limits the undecided requests. The request that reaches a limit is still accepted. */
export function createPendingBounds(sizes: Sizes) {
  const sessions = createTally(sizes.ofSession);
  const owners = createTally(sizes.ofOwner);
  const all = createTally(sizes.ofAll);

  return {
    /** Counts one more request, inside its transaction; returns a refusal if a limit was already reached. */
    admit({ sessionId, owner, input }: NewApproval, limits: PendingLimits): TooMany | undefined {
      const most = { ofSession: sessions.atMost(sessionId), ofOwner: owners.atMost(owner), inAll: all.atMost("") };
      const tooMany =
        refusal(most, limits) &&
        refusal(
          { ofSession: sessions.counted(sessionId), ofOwner: owners.counted(owner), inAll: all.counted("") },
          limits,
        );
      if (tooMany) return tooMany;
      const bytes = Buffer.byteLength(JSON.stringify(input));
      sessions.add(sessionId, bytes);
      owners.add(owner, bytes);
      all.add("", bytes);
      return undefined;
    },
    /** Call when a request was decided, or an admitted one was not filed: there may be room again. */
    loosen(): void {
      for (const tally of [sessions, owners, all]) tally.loosen();
    },
  };
}

/** An owner may use at most as much as is left for all others, so that others always have room. */
function refusal({ ofSession, ofOwner, inAll }: Undecided, limits: PendingLimits): TooMany | undefined {
  const tooMany = (bound: TooMany["bound"], size: PendingSize): TooMany => ({ outcome: "too_many", bound, size });
  if (ofSession.count >= limits.asksPerSession) return tooMany("session_count", ofSession);
  if (ofSession.bytes >= limits.bytesPerSession) return tooMany("session_bytes", ofSession);
  if (inAll.bytes >= limits.bytesInAll) return tooMany("all_bytes", inAll);
  if (inAll.bytes + ofOwner.bytes >= limits.bytesInAll) return tooMany("owner_bytes", ofOwner);
  return undefined;
}
