import type { ApprovalStatus } from "../contract/approvals/approval.ts";

/** A past request, without its input. */
export type PastRequest = {
  id: string;
  sessionId: string;
  toolName: string;
  status: ApprovalStatus;
  resolvedBy: string | null;
  /** What rules look at in it, where that was kept; null of a request that has to be read as a whole. */
  outline: string | null;
  /** For which matcher and which place the outline holds; null where none was kept. */
  outlineKey: string | null;
};
export type PastQuery = {
  owner?: string | undefined;
  sessionId?: string | undefined;
  /** Only calls of this tool. */
  toolName?: string | undefined;
  /** Those that are pending, and those whose input was cut, too. */
  withAll?: boolean;
  /** Only what stands before it, newest first. */
  before?: string | undefined;
  limit: number;
};
/** Its input as JSON. */
export type PastInput = { id: string; inputText: string };
export type NewOutline = { id: string; outlineKey: string; outline: string | null };

/** What was asked before, for rules that are tried on it. */
export type PastStorage = {
  /** Requests that were decided, or given up, newest first; without those that built-in rules decided, and cut inputs. */
  list(query: PastQuery): Promise<PastRequest[]>;
  /** Of those that are still there. */
  inputs(ids: string[]): Promise<PastInput[]>;
  /** Each takes the place of an earlier one, and goes with its request, or with its input. */
  keepOutlines(outlines: NewOutline[]): Promise<void>;
};
