import type { Disk } from "../ledger/disk.ts";
import type { Ledger } from "../ledger/ledger.ts";
import type { Verdicts } from "../ledger/verdicts.ts";
import type { Life, Victim } from "./victim.ts";

/** The parts that every actor uses. */
export type Setup = { victim: Victim; ledger: Ledger; verdicts: Verdicts; disk: Disk };

/** Counts a failure as the server's fault, unless we have killed it. */
export function expectKilled({ verdicts }: Setup, life: Life, what: string, cause: unknown): void {
  verdicts.check("up", life.isOver, () => `${what} failed: ${cause instanceof Error ? cause.message : String(cause)}`);
}
