import type { AuditChain } from "../../contract/audit.ts";
import type { Storage } from "../../storage/storage.ts";

export type AuditUpkeep = ReturnType<typeof createAuditUpkeep>;

type AuditUpkeepNeed = { storage: Pick<Storage, "audit">; now: () => number; onError: (cause: unknown) => void };

/** How what was decided is forgotten, and how large inputs are removed, with the hash chains telling of it. */
export function createAuditUpkeep({ storage, now, onError }: AuditUpkeepNeed) {
  const told = new Map<AuditChain, string>();

  /** What does not verify is evidence: it stays, and that is told once. */
  function tell(chain: AuditChain, problem: string): void {
    const message = `The audit chain ${chain} was tampered with, or is damaged: ${problem}. Nothing is forgotten from there on: run \`plexus audit verify\`.`;
    if (told.get(chain) !== message) onError(new Error(message));
    told.set(chain, message);
  }

  return {
    /** Forgets what is older, as far as it verifies; returns how many entries went. */
    async forgetBefore(chain: AuditChain, before: number, limit: number): Promise<number> {
      const { count, problem } = await storage.audit.forgetBefore(chain, before, limit, now());
      if (problem !== undefined) tell(chain, problem);
      return count;
    },
    /** Removes the large inputs of what one owner's children asked, the oldest first, where it is over; returns how many. */
    cutInputs: (owner: string, before: number, limit: number): Promise<number> =>
      storage.audit.cutInputs(owner, before, limit, now()),
  };
}
