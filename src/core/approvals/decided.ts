import type { ApprovalFilter } from "../../contract/approvals/approval.ts";
import { AppError } from "../../contract/refusals/errors.ts";
import type { ApprovalRow, ApprovalScope, DecidedPlace } from "../../storage/approvals.ts";
import type { Storage } from "../../storage/storage.ts";
import { createSlices } from "../events/slices.ts";

/** Bounds of one answer; the caller continues with its cursor. */
const MAX_PAGE_BYTES = 4 * 1024 * 1024;
const SEARCH_MS = 400;
const CURSOR = /^(\d{1,16})~(.{1,64})$/;

export type DecidedFilter = {
  status: Exclude<ApprovalFilter, "pending">;
  toolName?: string | undefined;
  /** Unix seconds: decided at `since` or later, and before `until`. */
  since?: number | undefined;
  until?: number | undefined;
  search?: string | undefined;
  withBuiltin?: boolean | undefined;
  cursor?: string | undefined;
  limit: number;
};
/** `searchedBackTo`: the time in milliseconds up to which the list was searched; undefined at the end of the list. */
export type DecidedList = { rows: ApprovalRow[]; cursor: string | null; searchedBackTo: number | undefined };

/** Lists and searches decisions, last one first, in slices that leave the event loop free for other work. */
export function createDecidedList(storage: Pick<Storage, "approvals">) {
  const nextSlice = createSlices();

  return async (scope: ApprovalScope, filter: DecidedFilter): Promise<DecidedList> => {
    const { since, until, cursor, ...query } = filter;
    const bounds = { from: since && since * 1000, until: until && until * 1000 };
    const rows: ApprovalRow[] = [];
    const over = performance.now() + SEARCH_MS;
    let after = placeOf(cursor);
    let maxBytes = MAX_PAGE_BYTES;
    do {
      await nextSlice();
      const limit = filter.limit - rows.length;
      const page = await storage.approvals.listDecided(scope, { ...query, ...bounds, after, limit, maxBytes });
      rows.push(...page.rows);
      maxBytes -= page.bytes;
      after = page.reached;
    } while (after && rows.length < filter.limit && maxBytes > 0 && performance.now() < over);
    return { rows, cursor: after ? `${after.at}~${after.id}` : null, searchedBackTo: after?.at };
  };
}

function placeOf(cursor: string | undefined): DecidedPlace | undefined {
  if (cursor === undefined) return undefined;
  const [, at, id] = CURSOR.exec(cursor) ?? [];
  if (at !== undefined && id !== undefined) return { at: Number(at), id };
  throw new AppError("invalid_arguments", "cursor belongs to another list: take it from the answer before.");
}
