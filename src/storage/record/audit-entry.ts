import { createHash } from "node:crypto";
import { type AuditChain, AuditEntry, type DecidedEntry } from "../../contract/audit.ts";
import type { ApprovalHead, ApprovalOutcome } from "../approvals.ts";
import type { AuditLink, AuditRow } from "../audit.ts";

/** The hash that the first entry of a chain builds on. */
export const NO_HASH = "0".repeat(64);
/** The position of a chain's first entry. */
export const CHAIN_BEGIN: AuditLink = { seq: 0, hash: NO_HASH };

/** Builds the row of an entry at the position of `link`, chained to the hash of `link`. */
export function auditRow(chain: AuditChain, link: AuditLink, said: AuditEntry): AuditRow {
  const entry = JSON.stringify(said);
  const hash = hashOfEntry(link.hash, entry);
  return { chain, seq: link.seq, approvalId: subjectOf(said), at: timeOf(said), entry, hash };
}

/** Returns the position after an entry, and the hash that the next entry builds on. */
export function linkBehind({ seq, hash }: AuditLink): AuditLink {
  return { seq: seq + 1, hash };
}

/** SHA-256 over the hash before it, a line feed, and the text of the entry. */
export function hashOfEntry(previous: string, entry: string): string {
  return createHash("sha256").update(`${previous}\n${entry}`).digest("hex");
}

/**
 * Parses an entry. Returns `undefined` unless this version would write exactly the same text, so that an entry has one
 * meaning only.
 */
export function entryIn(text: string): AuditEntry | undefined {
  try {
    const entry = AuditEntry.safeParse(JSON.parse(text)).data;
    return JSON.stringify(entry) === text ? entry : undefined;
  } catch {
    return undefined;
  }
}

/** Returns when an entry was made, by the clock of that moment. */
export function timeOf(entry: AuditEntry): number {
  switch (entry.kind) {
    case "decided":
      return entry.decided_at;
    case "delivered":
      return entry.delivered_at;
    case "begins":
    case "forgotten":
    case "cut":
      return entry.at;
  }
}

/** Returns the approval that an entry is about; null for an entry about the chain itself. */
export function subjectOf(entry: AuditEntry | undefined): string | null {
  return entry && "approval_id" in entry ? entry.approval_id : null;
}

export function chainOf({ isBuiltin }: Pick<ApprovalHead, "isBuiltin">): AuditChain {
  return isBuiltin ? "builtin" : "decisions";
}

/** Hashes an edited input's JSON as it is stored. */
export function hashOfUpdate(updatedInput: ApprovalOutcome["updatedInput"]): string | null {
  return updatedInput && createHash("sha256").update(JSON.stringify(updatedInput)).digest("hex");
}

/** Builds the chain entry of a decision; a row that nobody has changed gives the same entry again. */
export function decidedEntry(
  asked: Omit<ApprovalHead, "status" | "resolvedAt" | "resolvedBy">,
  outcome: Omit<ApprovalOutcome, "updatedInput">,
  updated_input_hash: string | null,
): DecidedEntry {
  return {
    kind: "decided",
    approval_id: asked.id,
    session_id: asked.sessionId,
    session_name: asked.sessionName,
    asked_in: asked.askedIn,
    owner: asked.owner,
    tool_name: asked.toolName,
    tool_use_id: asked.toolUseId,
    ask_hash: asked.askHash,
    asked_at: asked.createdAt,
    expires_at: asked.expiresAt,
    status: outcome.status,
    message: outcome.responseMessage,
    updated_input_hash,
    interrupt: outcome.interrupt,
    decided_at: outcome.resolvedAt,
    decided_by: outcome.resolvedBy,
    delivered_at: asked.deliveredAt,
  };
}
