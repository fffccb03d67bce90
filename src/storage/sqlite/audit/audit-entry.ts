import { createHash } from "node:crypto";
import { AuditEntry } from "../../../contract/audit.ts";

/** What the first entry of a chain builds on. */
export const NO_HASH = "0".repeat(64);

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
