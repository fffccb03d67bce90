import { signal } from "@preact/signals";
import type { Api } from "../../client/api.ts";
import { LISTED_CHARS } from "../../client/inbox.ts";
import { createPagedList, pagedItems } from "../../client/paging.ts";
import type { Approval, ApprovalFilter } from "../../contract/approvals/approval.ts";
import type { ChangeEvent } from "../../contract/change.ts";
import { listApprovals } from "../../contract/routes/approvals.ts";
import type { Announcer } from "../shared/announcer.tsx";
import { followed } from "../shared/followed.ts";
import { reasonOf } from "../shared/reason.ts";
import { createReload } from "../shared/reload.ts";

const PAGE = 100;
const LARGEST_PAGE = 1000;
const RELOAD_AFTER_MS = 500;

type HistoryFilter = { status: ApprovalFilter; tool: string; session: string; builtin: boolean };
export type History = ReturnType<typeof createHistory>;

type HistoryNeed = { api: Api; announcer: Announcer; signal: AbortSignal };

/** What was decided, the newest request first. */
export function createHistory({ api, announcer, signal: whileSignedIn }: HistoryNeed) {
  const filter = signal<HistoryFilter>({ status: "resolved", tool: "", session: "", builtin: false });
  /** What a decision was seen of, to choose from; sessions by id, with their names. */
  const seenTools = signal<ReadonlySet<string>>(new Set());
  const seenSessions = signal<ReadonlyMap<string, string>>(new Map());

  async function read(at: { cursor: string | undefined; limit: number }, max_chars: number | undefined) {
    const { status, tool, session, builtin } = filter.peek();
    const chosen = { tool_name: tool || undefined, session_id: session || undefined };
    const query = { status, ...chosen, builtin: builtin ? "true" : undefined, max_chars, ...at };
    const page = await api.call(listApprovals, { query });
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
  });
  const reload = createReload({ list, afterMs: RELOAD_AFTER_MS, signal: whileSignedIn });

  return {
    filter,
    seenTools,
    seenSessions,
    decisions: followed(list.items, list),
    isComplete: followed(() => list.isRead() && !list.hasMore(), list),
    watch: reload.watch,
    loadMore: list.loadMore,
    setFilter(change: Partial<HistoryFilter>): void {
      filter.value = { ...filter.peek(), ...change };
      void list.reload();
    },
    /** Something was decided, or may have been. */
    changed(event?: ChangeEvent): void {
      if (!event || event.type === "approval_resolved") reload.soon();
    },

    /** Everything that the filter lets through, whole, one JSON object a line. */
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
