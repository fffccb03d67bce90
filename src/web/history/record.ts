import { signal } from "@preact/signals";
import type { Api } from "../../client/api.ts";
import { LISTED_CHARS } from "../../client/inbox.ts";
import { createPagedList, pagedItems } from "../../client/paging.ts";
import { createReload } from "../../client/reload.ts";
import type { Approval, ApprovalFilter } from "../../contract/approvals/approval.ts";
import type { ChangeEvent } from "../../contract/change.ts";
import { listApprovals } from "../../contract/routes/approvals.ts";
import type { Announcer } from "../shared/announcer.tsx";
import { followed } from "../shared/followed.ts";
import { reasonOf } from "../shared/reason.ts";

const PAGE = 100;
const LARGEST_PAGE = 1000;
const RELOAD_AFTER_MS = 500;

type HistoryFilter = {
  status: ApprovalFilter;
  tool: string;
  session: string;
  builtin: boolean;
  search: string;
  /** Days such as 2026-01-31, both inclusive; empty for no bound. */
  from: string;
  to: string;
};
const NO_FILTER: HistoryFilter = {
  status: "resolved",
  tool: "",
  session: "",
  builtin: false,
  search: "",
  from: "",
  to: "",
};
export type History = ReturnType<typeof createHistory>;

type HistoryNeed = { api: Api; announcer: Announcer; signal: AbortSignal };

/** Past decisions, newest first. */
export function createHistory({ api, announcer, signal: whileSignedIn }: HistoryNeed) {
  const filter = signal(NO_FILTER);
  /** During a search: how far back the decisions were searched, in Unix seconds. */
  const searchedBackTo = signal<number | undefined>(undefined);
  /** The tools and sessions seen so far, as choices for the filter. Sessions by id, with their names. */
  const seenTools = signal<ReadonlySet<string>>(new Set());
  const seenSessions = signal<ReadonlyMap<string, string>>(new Map());

  async function read(at: { cursor: string | undefined; limit: number }, max_chars: number | undefined) {
    const wanted = filter.peek();
    const { status, tool, session, builtin, search, from, to } = wanted;
    const chosen = { tool_name: tool || undefined, session_id: session || undefined, search: search || undefined };
    const time = { since: startOf(from), until: startOf(to, 1) };
    const query = { status, ...chosen, ...time, builtin: builtin ? "true" : undefined, max_chars, ...at };
    const page = await api.call(listApprovals, { query });
    if (wanted === filter.peek()) searchedBackTo.value = page.searched_back_to;
    return { items: page.approvals, cursor: page.cursor };
  }

  function remember(approvals: Approval[]): void {
    seenTools.value = new Set([...seenTools.peek(), ...approvals.map((one) => one.tool_name)]);
    const sessions = approvals.map((one) => [one.session_id, one.session_name] as const);
    seenSessions.value = new Map([...seenSessions.peek(), ...sessions]);
  }

  const list = createPagedList({
    read: async (at) => {
      const page = await read(at, LISTED_CHARS);
      remember(page.items);
      return page;
    },
    pageSize: PAGE,
    largestPageSize: LARGEST_PAGE,
    onFailure: (cause) => announcer.complain(`The history can't be read: ${reasonOf(cause)}`),
    isBehind: (one, other) => (one.resolved_at ?? 0) < (other.resolved_at ?? 0),
  });
  const reload = createReload({ list, afterMs: RELOAD_AFTER_MS, signal: whileSignedIn });

  return {
    filter,
    searchedBackTo,
    isReading: followed(() => !list.isRead(), list),
    clearFilter(): void {
      filter.value = NO_FILTER;
      void list.reload();
    },
    seenTools,
    seenSessions,
    decisions: followed(list.items, list),
    isComplete: followed(() => list.isRead() && !list.hasMore(), list),
    watch: reload.watch,
    loadMore: list.loadMore,
    setFilter(change: Partial<HistoryFilter>): void {
      filter.value = { ...filter.peek(), ...change };
      searchedBackTo.value = undefined;
      void list.reload();
    },
    /** Call this when something was decided, or may have been. */
    changed(event?: ChangeEvent): void {
      if (!event || event.type === "approval_resolved") reload.soon();
    },

    /** Exports every decision that passes the filter in full, one JSON object on each line. */
    async exportAll(): Promise<void> {
      try {
        const parts: string[] = [];
        const all = pagedItems(LARGEST_PAGE, (at) => read(at, undefined));
        for await (const approval of all) parts.push(`${JSON.stringify(approval)}\n`);
        save(new Blob(parts, { type: "application/jsonl" }), "plexus-history.jsonl");
      } catch (cause) {
        announcer.complain(`The history can't be exported: ${reasonOf(cause)}`);
      }
    },
  };
}

function save(blob: Blob, name: string): void {
  const link = document.createElement("a");
  link.href = URL.createObjectURL(blob);
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 10_000);
}

/** The local start of the day, or of the day so many days later, in Unix seconds. */
function startOf(day: string, later = 0): number | undefined {
  const [year, month, date] = day.split("-").map(Number);
  if (!year || !month || !date) return undefined;
  return Math.max(0, Math.floor(new Date(year, month - 1, date + later).getTime() / 1000));
}
