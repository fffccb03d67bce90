import { useSignal } from "@preact/signals";
import { useEffect, useLayoutEffect, useRef } from "preact/hooks";
import { type Approval, ApprovalFilter } from "../../contract/approvals/approval.ts";
import { duration } from "../../contract/duration.ts";
import { summaryOf } from "../../review/kinds.ts";
import { useUser } from "../context.ts";
import { moment } from "../shared/clock.ts";
import { Scrollable } from "../shared/elements/scrollable.tsx";
import { StatusBadge } from "../shared/elements/status-badge.tsx";
import { useVirtual } from "../shared/elements/virtual.ts";
import { visibleText } from "../shared/elements/visible.tsx";
import { DecisionDialog } from "./decision-dialog.tsx";

const ROW_PX = 52;
const OUTCOMES = ApprovalFilter.options.filter((option) => option !== "pending");

/** What was decided, by whom, when and how fast. */
export function HistoryPage() {
  const { watch, decisions, isComplete, exportAll } = useUser().history;
  useEffect(watch, []);
  const opened = useSignal<Approval | undefined>(undefined);
  return (
    <main class="page history">
      <header class="page-head">
        <h1>History</h1>
        <Filters />
        <button type="button" class="button" onClick={() => void exportAll()}>
          Export
        </button>
      </header>
      {isComplete.value && decisions.value.length === 0 ? (
        <p class="nothing">No matching decisions</p>
      ) : (
        <Decisions onOpen={(approval) => (opened.value = approval)} />
      )}
      {opened.value && <DecisionDialog listed={opened.value} onClose={() => (opened.value = undefined)} />}
    </main>
  );
}

function Filters() {
  const { filter, setFilter: set, seenTools, seenSessions } = useUser().history;
  const { status, tool, session, builtin } = filter.value;
  return (
    <div class="filters">
      <select
        aria-label="Outcome"
        value={status}
        onChange={({ currentTarget }) => set({ status: ApprovalFilter.parse(currentTarget.value) })}
      >
        {OUTCOMES.map((option) => (
          <option key={option} value={option}>
            {option === "resolved" ? "every outcome" : option.replace("_", " ")}
          </option>
        ))}
      </select>
      <select aria-label="Tool" value={tool} onChange={({ currentTarget }) => set({ tool: currentTarget.value })}>
        <option value="">every tool</option>
        {[...seenTools.value].sort().map((name) => (
          <option key={name} value={name}>
            {visibleText(name)}
          </option>
        ))}
      </select>
      <select
        aria-label="Session"
        value={session}
        onChange={({ currentTarget }) => set({ session: currentTarget.value })}
      >
        <option value="">every session</option>
        {[...seenSessions.value].map(([id, name]) => (
          <option key={id} value={id}>
            {name}
          </option>
        ))}
      </select>
      <label class="check">
        <input
          type="checkbox"
          checked={builtin}
          onChange={({ currentTarget }) => set({ builtin: currentTarget.checked })}
        />
        built-in rules
      </label>
    </div>
  );
}

function Decisions({ onOpen }: { onOpen: (approval: Approval) => void }) {
  const { decisions, loadMore } = useUser().history;
  const scroller = useRef<HTMLElement>(null);
  const list = decisions.value;
  const rows = useVirtual({
    count: list.length,
    getScrollElement: () => scroller.current,
    estimateSize: () => ROW_PX,
    getItemKey: (at) => list[at]?.id ?? at,
    overscan: 8,
  });
  useKeptPlace(scroller, list);
  const shown = rows.getVirtualItems();
  const last = shown.at(-1)?.index ?? 0;
  useEffect(() => {
    if (list.length > 0 && last >= list.length - 10) void loadMore();
  }, [last, list.length]);
  return (
    <Scrollable class="decision-list" scroller={scroller} label="Decisions, newest first">
      <ul style={{ height: `${rows.getTotalSize()}px` }}>
        {shown.map(({ index, start, key }) => {
          const approval = list[index];
          return approval && <Row key={key} approval={approval} top={start} onOpen={onOpen} />;
        })}
      </ul>
    </Scrollable>
  );
}

/** What comes in above moves nothing of what somebody reads further down; another filter begins at the top. */
function useKeptPlace(scroller: { current: HTMLElement | null }, list: Approval[]): void {
  const before = useRef(list);
  const { value: filtered } = useUser().history.filter;
  useLayoutEffect(() => {
    const top = Math.floor((scroller.current?.scrollTop ?? 0) / ROW_PX);
    const id = before.current[top]?.id;
    const at = list.findIndex((one) => one.id === id);
    if (scroller.current && scroller.current.scrollTop > 0 && at >= 0)
      scroller.current.scrollTop += (at - top) * ROW_PX;
    before.current = list;
  }, [list]);
  useLayoutEffect(() => scroller.current?.scrollTo(0, 0), [filtered]);
}

type RowProps = { approval: Approval; top: number; onOpen: (approval: Approval) => void };

function Row({ approval, top, onOpen }: RowProps) {
  const { created_at: requested, resolved_at: decided } = approval;
  return (
    <li class="row" style={{ height: `${ROW_PX}px`, transform: `translateY(${top}px)` }}>
      <button type="button" class="row-open decision" onClick={() => onOpen(approval)}>
        <StatusBadge status={approval.status} />
        <b>{visibleText(approval.tool_name)}</b>
        <code class="summary">{visibleText(summaryOf(approval).slice(0, 160)).replaceAll("\n", " ⏎ ")}</code>
        <span class="who session">{approval.session_name}</span>
        <span class="who by">{approval.resolved_by}</span>
        {decided !== null && (
          <span class="age">
            {moment(decided)}
            <span class="took">, after {duration(decided - requested)}</span>
          </span>
        )}
      </button>
    </li>
  );
}
