import type { AuditChain } from "../contract/audit.ts";
import type { ApprovalRow } from "./approvals.ts";

export type AuditRow = {
  chain: AuditChain;
  seq: number;
  /** The decision that it tells of; none for what concerns the chain itself. */
  approvalId: string | null;
  at: number;
  /** JSON, to the letter as it was hashed. */
  entry: string;
  hash: string;
};
/** An entry's place in its chain, and its hash. */
export type AuditLink = Pick<AuditRow, "seq" | "hash">;
/** Up to where a chain was forgotten: the entry behind it builds on this hash. */
export type AuditCheckpoint = AuditLink & { chain: AuditChain; chainedSince: number };
/** A decision on record, and the text of the entry that it names as its own. */
export type DecidedPlace = {
  id: string;
  chain: AuditChain | null;
  auditSeq: number | null;
  at: number | null;
  entry: string | null;
  /** A column that holds what Plexus never writes there. */
  oddColumn: string | null;
};
/** Which place in a chain an approval names, the text that stands there, and when its row says that it was delivered, and its input removed. */
export type ApprovalPlace = Pick<ApprovalRow, "auditSeq" | "deliveredAt" | "inputCutAt"> & { entry: string | null };

/** How many entries went, and why no more did: what does not verify is evidence, and stays. */
export type ForgottenAudit = { count: number; problem: string | undefined };

export type AuditStorage = {
  /** Up to where the chain was forgotten. */
  checkpoint(chain: AuditChain): Promise<AuditCheckpoint | undefined>;
  /** In order, beginning after `after`; and up to where the chain was forgotten at that moment, -1 if it never was. */
  page(chain: AuditChain, after: number, limit: number): Promise<{ rows: AuditRow[]; forgottenThrough: number }>;
  /** When the first entry was made, unless its decision is still awaited, or it does not verify. */
  oldestAt(chain: AuditChain): Promise<number | undefined>;
  /** Decided approvals in the order of their ids, each with the entry at the place that it names. */
  decided(after: string | undefined, limit: number): Promise<DecidedPlace[]>;
  placeOf(chain: AuditChain, approvalId: string): Promise<ApprovalPlace | undefined>;
  /** How many entries both chains hold, and how many decisions are on record that no chain has. */
  size(): Promise<number>;

  /** Begins the chain over decisions where there is none: whatever is decided without it from then on is found. */
  begin(now: number): Promise<void>;
  /** Forgets decisions with their entries, from the front of the chain as far as it verifies, and records up to where. */
  forgetBefore(chain: AuditChain, before: number, limit: number, now: number): Promise<ForgottenAudit>;
  /** Removes the large inputs of one owner's decided requests, the oldest first, and records whose; returns how many. */
  cutInputs(owner: string, before: number, limit: number, now: number): Promise<number>;
};
