import type { AuditChain } from "../contract/audit.ts";
import type { ApprovalRow } from "./approvals.ts";

export type AuditRow = {
  chain: AuditChain;
  seq: number;
  /** The decision that the entry records; null for an entry about the chain itself. */
  approvalId: string | null;
  at: number;
  /** JSON, exactly as it was hashed. */
  entry: string;
  hash: string;
};
/** An entry's position in its chain, and its hash. */
export type AuditLink = Pick<AuditRow, "seq" | "hash">;
/** The last deleted entry of a chain: the first remaining entry builds on this hash. */
export type AuditCheckpoint = AuditLink & { chain: AuditChain; chainedSince: number };
/** A stored decision, and the text of the chain entry at the position that its row names. */
export type DecidedPlace = {
  id: string;
  chain: AuditChain | null;
  auditSeq: number | null;
  at: number | null;
  entry: string | null;
  /** The name of a column whose value Plexus never writes; null if there is none. */
  oddColumn: string | null;
};
/**
 * From an approval's row: its position in the chain, when it was delivered, and when its input was removed; and the
 * entry at that position.
 */
export type ApprovalPlace = Pick<ApprovalRow, "auditSeq" | "deliveredAt" | "inputCutAt"> & { entry: string | null };

/**
 * How many entries were deleted. `problem`: deletion stopped at an entry that doesn't verify, which is kept as
 * evidence.
 */
export type ForgottenAudit = { count: number; problem: string | undefined };

export type AuditStorage = {
  checkpoint(chain: AuditChain): Promise<AuditCheckpoint | undefined>;
  /** Returns entries in order, beginning after `after`; and the last entry deleted by then, or -1 if none was. */
  page(chain: AuditChain, after: number, limit: number): Promise<{ rows: AuditRow[]; forgottenThrough: number }>;
  /**
   * Returns when the first entry was made; `undefined` if a child still awaits its decision, or if the entry doesn't
   * verify.
   */
  oldestAt(chain: AuditChain): Promise<number | undefined>;
  /** Returns decided approvals by id, each with the entry at the position that it names. */
  decided(after: string | undefined, limit: number): Promise<DecidedPlace[]>;
  placeOf(chain: AuditChain, approvalId: string): Promise<ApprovalPlace | undefined>;
  /** Counts the entries of both chains, and the decisions that are in no chain. */
  size(): Promise<number>;

  /**
   * Begins the chain of decisions if there is none; from then on, a decision that is missing from the chain is
   * detected.
   */
  begin(now: number): Promise<void>;
  /**
   * Deletes decisions with their entries, oldest first, as far as the chain verifies, and records the last one deleted.
   */
  forgetBefore(chain: AuditChain, before: number, limit: number, now: number): Promise<ForgottenAudit>;
  /**
   * Removes the large inputs of one owner's decided requests, oldest first, and records which ones; returns how many.
   */
  cutInputs(owner: string, before: number, limit: number, now: number): Promise<number>;
};
