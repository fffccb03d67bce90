import { AppError } from "../../contract/errors.ts";
import type { JsonObject } from "../../contract/values.ts";
import type { PendingSize } from "../../storage/sqlite/approvals/pending-sizes.ts";
import type { Storage } from "../../storage/sqlite/database.ts";
import type { Session } from "../sessions/sessions.ts";

const MEGABYTE = 1024 * 1024;
/** So many sessions or owners are remembered before all are counted anew. */
const MAX_REMEMBERED = 10_000;

export type PendingBounds = ReturnType<typeof createPendingBounds>;
export type PendingLimits = { asksPerSession: number; bytesPerSession: number; bytesInAll: number };

/** More undecided asks than this are no work but a flood; whoever reaches a bound with one ask has that one taken. */
const LIMITS: PendingLimits = {
  asksPerSession: 20_000,
  bytesPerSession: 256 * MEGABYTE,
  bytesInAll: 1024 * MEGABYTE,
};

/** What is undecided of the session that asks, of its owner, and in all. */
type Undecided = { ofSession: PendingSize; ofOwner: PendingSize; inAll: PendingSize };

/**
 * Bounds what is undecided. What was asked since the last count is added up here, decided or not; only when that reaches
 * a bound is it counted what is really pending, and that once until something was decided: whoever floods at the bound
 * costs no more than a refusal.
 */
export function createPendingBounds(
  { pendingSizes }: Pick<Storage, "pendingSizes">,
  { asksPerSession, bytesPerSession, bytesInAll }: PendingLimits = LIMITS,
) {
  let changes = 0;
  const sessions = createTally(pendingSizes.ofSession);
  const owners = createTally(pendingSizes.ofOwner);
  const all = createTally(pendingSizes.ofAll);

  /** An owner has no more than is left for all others, so that there is always something left. */
  function refusalOf({ ofSession, ofOwner, inAll }: Undecided): AppError | undefined {
    if (ofSession.count >= asksPerSession) return tooMuch("This session has", `${asksPerSession} undecided asks`);
    if (ofSession.bytes >= bytesPerSession)
      return tooMuch("This session has", `${megabytes(bytesPerSession)} of undecided asks`);
    if (inAll.bytes >= bytesInAll)
      return tooMuch("All sessions together have", `${megabytes(bytesInAll)} of undecided asks`);
    if (inAll.bytes + ofOwner.bytes >= bytesInAll)
      return tooMuch("The sessions of this owner have", `${megabytes(ofOwner.bytes)} of undecided asks`);
    return undefined;
  }

  /** Never less than what is pending under a key; exact where it was counted, but for what was asked since. */
  function createTally(count: (key: string) => PendingSize) {
    const most = new Map<string, PendingSize & { countedAt: number }>();
    function recount(key: string) {
      const counted = { ...count(key), countedAt: changes };
      if (most.size >= MAX_REMEMBERED) most.clear();
      most.set(key, counted);
      return counted;
    }
    return {
      atMost: (key: string): PendingSize => most.get(key) ?? recount(key),
      counted(key: string): PendingSize {
        const known = most.get(key);
        return known?.countedAt === changes ? known : recount(key);
      },
      add(key: string, bytes: number): void {
        const known = most.get(key) ?? recount(key);
        known.count += 1;
        known.bytes += bytes;
      },
    };
  }

  return {
    /** Takes one more ask of a session into account; throws where there are as many as may be. */
    admit({ id, owner }: Pick<Session, "id" | "owner">, input: JsonObject): void {
      const mightRefuse = refusalOf({
        ofSession: sessions.atMost(id),
        ofOwner: owners.atMost(owner),
        inAll: all.atMost(""),
      });
      const refusal =
        mightRefuse &&
        refusalOf({ ofSession: sessions.counted(id), ofOwner: owners.counted(owner), inAll: all.counted("") });
      if (refusal) throw refusal;
      const bytes = Buffer.byteLength(JSON.stringify(input));
      sessions.add(id, bytes);
      owners.add(owner, bytes);
      all.add("", bytes);
    },
    /** Something was decided, or an ask that was admitted was undone: there may be room again. */
    loosen(): void {
      changes++;
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
