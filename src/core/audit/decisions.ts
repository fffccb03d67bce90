import type { AuditChain, AuditMark, AuditProblem, DecidedEntry } from "../../contract/audit.ts";
import { AppError } from "../../contract/refusals/errors.ts";
import { isJsonObject } from "../../contract/values.ts";
import type { ApprovalRow } from "../../storage/approvals.ts";
import { chainOf, decidedEntry, entryIn, hashOfUpdate } from "../../storage/record/audit-entry.ts";
import type { Storage } from "../../storage/storage.ts";
import { hashOf } from "../approvals/request-hash.ts";
import { TWICE, UNKNOWN } from "./deliveries.ts";

const PAGE = 200;

type Report = (problem: AuditProblem) => void;
/** Per chain, the entry after which it was checked. */
type Begins = Record<AuditChain, number>;

/** Compares a stored decision with its entry; returns the problem, if any. */
export function problemOfDecision(
  decision: ApprovalRow | "unreadable" | undefined,
  entry: DecidedEntry,
  chain: AuditChain,
  seq: number,
): string | undefined {
  if (!decision) return "this decision was removed";
  return decision === "unreadable" ? changed("its input is no JSON") : changeIn(decision, entry, chain, seq);
}

/** Reads a stored decision, which an attacker may have changed in any way. */
export async function readDecision(
  storage: Pick<Storage, "approvals">,
  approvalId: string,
): Promise<ApprovalRow | "unreadable" | undefined> {
  try {
    return await storage.approvals.get(approvalId);
  } catch (cause) {
    if (cause instanceof AppError && cause.cause instanceof SyntaxError) return "unreadable";
    throw cause;
  }
}

/** The difference between a stored decision and its entry. */
function changeIn(row: ApprovalRow, entry: DecidedEntry, chain: AuditChain, seq: number): string | undefined {
  const { status, resolvedAt, resolvedBy } = row;
  if (status === "pending" || resolvedAt === null || resolvedBy === null) return "this decision was taken back";
  if (chainOf(row) !== chain) return changed("is_builtin");
  if (row.auditSeq !== seq) return "this decision names another place in the chain";
  if (row.askHash !== entry.ask_hash) return changed("ask_hash");
  const deliveredAt = entry.delivered_at === null ? null : row.deliveredAt;
  const isCut =
    row.inputCutAt !== null && isEmpty(row.input) && (row.updatedInput === null || isEmpty(row.updatedInput));
  const isEdited = row.updatedInput !== null;
  const now = decidedEntry(
    { ...row, deliveredAt, askHash: isCut ? row.askHash : hashOf(row.toolName, row.input) },
    { ...row, status, resolvedAt, resolvedBy },
    isCut && isEdited ? (entry.updated_input_hash ?? "") : hashOfUpdate(row.updatedInput),
  );
  const different = Object.entries(now).filter(([key, value]) => !Bun.deepEquals(value, Object(entry)[key]));
  return different.length === 0 ? undefined : changed(...different.map(([key]) => key));
}

/** The problem of a delivery for which the entries before it show no waiting decision. */
export async function problemOfDelivery(
  storage: Pick<Storage, "audit">,
  chain: AuditChain,
  approvalId: string,
  mayBeForgotten: boolean,
): Promise<string | undefined> {
  const place = await storage.audit.placeOf(chain, approvalId);
  if (!place) return mayBeForgotten ? undefined : UNKNOWN;
  // The decision is older than the chain.
  if (place.auditSeq === null) return undefined;
  const entry = entryIn(place.entry ?? "");
  if (entry?.kind !== "decided" || entry.approval_id !== approvalId) return UNKNOWN;
  return entry.delivered_at === null ? "it was delivered before it was decided" : TWICE;
}

/** Reports stored decisions that are in no chain. */
export async function checkRows(
  storage: Pick<Storage, "audit">,
  begins: Begins,
  mark: Pick<AuditMark, "chained_since" | "unchained"> = { chained_since: Number.POSITIVE_INFINITY, unchained: 0 },
  report: Report,
): Promise<void> {
  let older = 0;
  for (let after: string | undefined; ; ) {
    const page = await storage.audit.decided(after, PAGE);
    for (const { id, chain, auditSeq, at, entry, oddColumn } of page) {
      const named = chain && auditSeq !== null && auditSeq > begins[chain] ? entryIn(entry ?? "") : undefined;
      const isOlder = auditSeq === null && at !== null && at <= mark.chained_since;
      if (isOlder) older++;
      if (oddColumn) report(rowProblem(id, changed(oddColumn)));
      else if (!isOlder && !(named?.kind === "decided" && named.approval_id === id))
        report(rowProblem(id, "this decision is in no chain: it was inserted"));
    }
    after = page.at(-1)?.id;
    if (page.length < PAGE) break;
    await new Promise(setImmediate);
  }
  if (older > mark.unchained) {
    const were = `${mark.unchained} decisions from before the chain began were on record, and now there are ${older}`;
    report(rowProblem(null, `${were}: some were inserted`));
  }
}

function isEmpty(input: unknown): boolean {
  return isJsonObject(input) && Object.keys(input).length === 0;
}

function changed(...fields: string[]): string {
  return `this decision was changed: ${fields.join(", ")}`;
}

function rowProblem(approvalId: string | null, problem: string): AuditProblem {
  return { chain: "decisions", seq: null, approval_id: approvalId === null ? null : String(approvalId), problem };
}
