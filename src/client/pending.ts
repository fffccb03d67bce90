import type { Approval } from "../contract/approvals/approval.ts";
import { isUnreachable } from "../contract/refusals/refused.ts";
import { getApproval, listApprovals } from "../contract/routes/approvals.ts";
import type { Api } from "./api.ts";
import { type Inbox, LISTED_CHARS } from "./inbox.ts";
import { allItems } from "./paging.ts";
import { pause } from "./pause.ts";

const PAGE = 500;
const RETRY_MS = 1_000;

/** Returns all pending approvals, oldest first; the server lists the newest first. */
export async function allPending(api: Api, query: { max_chars?: number; context?: "false" } = {}): Promise<Approval[]> {
  const newestFirst = await allItems(PAGE, async (at) => {
    const page = await api.call(listApprovals, { query: { status: "pending", ...query, ...at } });
    return { items: page.approvals, cursor: page.cursor };
  });
  return newestFirst.reverse();
}

type Need = { api: Api; inbox: Inbox; signal: AbortSignal };

/** Fills the inbox with all pending requests, retrying while the server is unreachable. */
export function createPendingReader({ api, inbox, signal }: Need) {
  let underWay: Promise<void> | undefined;

  async function readAll(): Promise<void> {
    while (!signal.aborted) {
      try {
        inbox.beginReading();
        const approvals = await allPending(api, { max_chars: LISTED_CHARS, context: "false" });
        return inbox.load(approvals, await endOfSelected(approvals));
      } catch (cause) {
        if (!isUnreachable(cause)) throw cause;
        await pause(RETRY_MS, signal);
      }
    }
  }

  /** Reads the selected request again if it is no longer pending, to show how it ended. */
  async function endOfSelected(approvals: Approval[]) {
    const selected = inbox.selected();
    if (!selected || selected.outcome || approvals.some(({ id }) => id === selected.approval.id)) return undefined;
    const answer = await api.call(getApproval, { params: { id: selected.approval.id } }).catch(() => undefined);
    if (!answer?.approval.resolved_at) return undefined;
    const { status, resolved_by, resolved_at: at, response_message: message = null } = answer.approval;
    return { approval: answer.approval, outcome: { status, by: resolved_by ?? "", at, message, lost: false } };
  }

  return {
    read(): Promise<void> {
      underWay ??= readAll().finally(() => {
        underWay = undefined;
      });
      return underWay;
    },
  };
}
