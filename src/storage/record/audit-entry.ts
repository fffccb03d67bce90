import { createHash } from "node:crypto";
import { type AuditChain, AuditEntry, type DecidedEntry } from "../../contract/audit.ts";
import type { ApprovalHead, ApprovalOutcome } from "../approvals.ts";
import type { AuditLink, AuditRow } from "../audit.ts";

/** What the first entry of a chain builds on. */
export const NO_HASH = "0".repeat(64);
/** Where the first entry of a chain stands. */
export const CHAIN_BEGIN: AuditLink = { seq: 0, hash: NO_HASH };

/** An entry at the place of `link`, which builds on the hash that `link` has. */
export function auditRow(chain: AuditChain, link: AuditLink, said: AuditEntry): AuditRow {
  const entry = JSON.stringify(said);
  const hash = hashOfEntry(link.hash, entry);
  return { chain, seq: link.seq, approvalId: subjectOf(said), at: timeOf(said), entry, hash };
}

/** The place behind an entry, and the hash that the next one builds on. */
export function linkBehind({ seq, hash }: AuditLink): AuditLink {
  return { seq: seq + 1, hash };
}

/** SHA-256 over the hash before it, a line feed, and the text of the entry. */
export function hashOfEntry(previous: string, entry: string): string {
  return createHash("sha256").update(`${previous}\n${entry}`).digest("hex");
}

/** What an entry says; `undefined` for a text that this version does not write, to the letter: it must mean one thing to all. */
export function entryIn(text: string): AuditEntry | undefined {
  try {
    const entry = AuditEntry.safeParse(JSON.parse(text)).data;
    return JSON.stringify(entry) === text ? entry : undefined;
  } catch {
    return undefined;
  }
}

/** When an entry was made, by the clock of that moment. */
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

/** The approval that an entry tells of; none for what concerns the chain itself. */
export function subjectOf(entry: AuditEntry | undefined): string | null {
  return entry && "approval_id" in entry ? entry.approval_id : null;
}

export function chainOf({ isBuiltin }: Pick<ApprovalHead, "isBuiltin">): AuditChain {
  return isBuiltin ? "builtin" : "decisions";
}

/** Of an edited input, as its JSON is stored. */
export function hashOfUpdate(updatedInput: ApprovalOutcome["updatedInput"]): string | null {
  return updatedInput && createHash("sha256").update(JSON.stringify(updatedInput)).digest("hex");
}

/** What the chain says of a decision; the same for a row that nobody has changed since. */
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
