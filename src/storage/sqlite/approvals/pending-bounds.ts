import type { FiledApproval, NewApproval, PendingLimits, PendingSize } from "../../approvals.ts";
import { createTally } from "../tally.ts";

export type PendingBounds = ReturnType<typeof createPendingBounds>;
type TooMany = Extract<FiledApproval, { outcome: "too_many" }>;
type Sizes = {
  ofSession(sessionId: string): PendingSize;
  ofOwner(owner: string): PendingSize;
  ofAll(): PendingSize;
};
/** What is undecided of the session that asks, of its owner, and in all. */
type Undecided = { ofSession: PendingSize; ofOwner: PendingSize; inAll: PendingSize };

/** Bounds what is undecided. The request that reaches a bound is still accepted. */
export function createPendingBounds(sizes: Sizes) {
  const sessions = createTally(sizes.ofSession);
  const owners = createTally(sizes.ofOwner);
  const all = createTally(sizes.ofAll);

  return {
    /** Takes one more request into account, called in its transaction; tells where there are as many as may be. */
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
    /** Something was decided, or a request that was admitted was not filed: there may be room again. */
    loosen(): void {
      for (const tally of [sessions, owners, all]) tally.loosen();
    },
  };
}

/** An owner has no more than is left for all others, so that there is always something left. */
function refusal({ ofSession, ofOwner, inAll }: Undecided, limits: PendingLimits): TooMany | undefined {
  const tooMany = (bound: TooMany["bound"], size: PendingSize): TooMany => ({ outcome: "too_many", bound, size });
  if (ofSession.count >= limits.asksPerSession) return tooMany("session_count", ofSession);
  if (ofSession.bytes >= limits.bytesPerSession) return tooMany("session_bytes", ofSession);
  if (inAll.bytes >= limits.bytesInAll) return tooMany("all_bytes", inAll);
  if (inAll.bytes + ofOwner.bytes >= limits.bytesInAll) return tooMany("owner_bytes", ofOwner);
  return undefined;
}
