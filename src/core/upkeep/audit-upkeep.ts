import type { AuditChain } from "../../contract/audit.ts";
import type { Storage } from "../../storage/storage.ts";

export type AuditUpkeep = ReturnType<typeof createAuditUpkeep>;

type AuditUpkeepNeed = { storage: Pick<Storage, "audit">; now: () => number; onError: (cause: unknown) => void };

/** Removes old decisions and cuts large inputs; the hash chain records both. */
export function createAuditUpkeep({ storage, now, onError }: AuditUpkeepNeed) {
  const told = new Map<AuditChain, string>();

  /** Entries that fail verification are evidence: they stay, and the problem is reported once. */
  function tell(chain: AuditChain, problem: string): void {
    const message = `The audit chain ${chain} was tampered with, or is damaged: ${problem}. Nothing is forgotten from there on: run \`plexus audit verify\`.`;
    if (told.get(chain) !== message) onError(new Error(message));
    told.set(chain, message);
  }

  return {
    /** Removes older entries as far as they verify; returns how many. */
    async forgetBefore(chain: AuditChain, before: number, limit: number): Promise<number> {
      const { count, problem } = await storage.audit.forgetBefore(chain, before, limit, now());
      if (problem !== undefined) tell(chain, problem);
      return count;
    },
    /** Cuts the large inputs of one owner's decided requests, oldest first; returns how many. */
    cutInputs: (owner: string, before: number, limit: number): Promise<number> =>
      storage.audit.cutInputs(owner, before, limit, now()),
  };
}
