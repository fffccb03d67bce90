import { useSignal } from "@preact/signals";
import { useEffect, useLayoutEffect, useRef } from "preact/hooks";
import { decidedBy, decidedByWords } from "../../client/words/decided-by.ts";
import { type Approval, ApprovalFilter } from "../../contract/approvals/approval.ts";
import { duration } from "../../contract/text/duration.ts";
import { MAX_SEARCH_CHARS } from "../../contract/values.ts";
import { summaryOfRun } from "../../review/kinds.ts";
import { usePage, useUser } from "../context.ts";
import { moment } from "../shared/clock.ts";
import { Scrollable } from "../shared/elements/scrollable.tsx";
import { StatusBadge } from "../shared/elements/status-badge.tsx";
import { useVirtual } from "../shared/elements/virtual.ts";
import { visibleText } from "../shared/elements/visible.tsx";
import { linkTo } from "../shared/route.ts";
import { DecisionDialog, LinkedDecision } from "./decision-dialog.tsx";

const ROW_PX = { comfortable: 52, compact: 38 };
const TYPING_MS = 250;
const OUTCOMES = ApprovalFilter.options.filter((option) => option !== "pending");

/** The page with past decisions: what, by whom, when and how fast. */
export function HistoryPage() {
  const { watch, decisions, isComplete, exportAll } = useUser().history;
  useEffect(watch, []);
  const opened = useSignal<Approval | undefined>(undefined);
  const here = usePage().router.route.value;
  const linked = here.page === "history" ? here.id : undefined;
  return (
    <main class="page history">
      <header class="page-head">
        <h1>History</h1>
        <button type="button" class="button" onClick={() => void exportAll()}>
          Export
        </button>
      </header>
      <Filters />
      <Progress />
      {isComplete.value && decisions.value.length === 0 ? (
        <Nothing />
      ) : (
        <Decisions onOpen={(approval) => (opened.value = approval)} />
      )}
      {linked && <LinkedDecision key={linked} id={linked} onClose={() => (location.hash = linkTo.history)} />}
      {opened.value && <DecisionDialog listed={opened.value} onClose={() => (opened.value = undefined)} />}
    </main>
  );
}

/** How far a long search has come. Results appear as they are found. */
function Progress() {
  const { isReading, searchedBackTo } = useUser().history;
  const to = searchedBackTo.value;
  if (!isReading.value || to === undefined) return null;
  return (
    <p class="note" role="status">
      Searching… everything since {moment(to)} is searched.
    </p>
  );
}

function Nothing() {
  const { filter, clearFilter } = useUser().history;
  const { search, from, to, tool, session, status } = filter.value;
  const isFiltered = [search, from, to, tool, session].some((one) => one !== "") || status !== "resolved";
  return (
    <div class="nothing">
      <p>No matching decisions</p>
      {isFiltered && (
        <button type="button" class="button small" onClick={clearFilter}>
          Clear the filters
        </button>
      )}
    </div>
  );
}

/** Searches after a short pause in the typing. */
function SearchField() {
  const { filter, setFilter } = useUser().history;
  const timer = useRef<ReturnType<typeof setTimeout>>(undefined);
  useEffect(() => () => clearTimeout(timer.current), []);
  return (
    <input
      type="text"
      data-filter
      class="search"
      aria-label="Search all decisions"
      placeholder="Search all decisions"
      maxLength={MAX_SEARCH_CHARS}
      value={filter.value.search}
      onInput={({ currentTarget: { value } }) => {
        clearTimeout(timer.current);
        timer.current = setTimeout(() => setFilter({ search: value.trim() }), TYPING_MS);
      }}
    />
  );
}

function Filters() {
  const { filter, setFilter: set, seenTools, seenSessions } = useUser().history;
  const { status, tool, session, builtin, from, to } = filter.value;
  return (
    <div class="filters">
      <SearchField />
      <input
        type="date"
        aria-label="From this day"
        title="From this day"
        value={from}
        onChange={({ currentTarget }) => set({ from: currentTarget.value })}
      />
      <input
        type="date"
        aria-label="To this day"
        title="To this day"
        value={to}
        onChange={({ currentTarget }) => set({ to: currentTarget.value })}
      />
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
  const rowPx = ROW_PX[usePage().preferences.density.value];
  const list = decisions.value;
  const rows = useVirtual({
    count: list.length,
    getScrollElement: () => scroller.current,
    estimateSize: () => rowPx,
    getItemKey: (at) => list[at]?.id ?? at,
    overscan: 8,
  });
  useKeptPlace(scroller, list, rowPx);
  useLayoutEffect(() => rows.measure(), [rowPx]);
  const shown = rows.getVirtualItems();
  const last = shown.at(-1)?.index ?? 0;
  useEffect(() => {
    if (list.length > 0 && last >= list.length - 10) void loadMore();
  }, [last, list.length]);
  return (
    <Scrollable class="decision-list" scroller={scroller} label="Decisions, the last first">
      <ul style={{ height: `${rows.getTotalSize()}px` }}>
        {shown.map(({ index, start, key }) => {
          const approval = list[index];
          return approval && <Row key={key} approval={approval} top={start} height={rowPx} onOpen={onOpen} />;
        })}
      </ul>
    </Scrollable>
  );
}

/** Keeps the scroll position when new rows arrive above. A new filter starts at the top. */
function useKeptPlace(scroller: { current: HTMLElement | null }, list: Approval[], rowPx: number): void {
  const before = useRef(list);
  const { value: filtered } = useUser().history.filter;
  useLayoutEffect(() => {
    const top = Math.floor((scroller.current?.scrollTop ?? 0) / rowPx);
    const id = before.current[top]?.id;
    const at = list.findIndex((one) => one.id === id);
    if (scroller.current && scroller.current.scrollTop > 0 && at >= 0) scroller.current.scrollTop += (at - top) * rowPx;
    before.current = list;
  }, [list]);
  useLayoutEffect(() => scroller.current?.scrollTo(0, 0), [filtered]);
}

type RowProps = { approval: Approval; top: number; height: number; onOpen: (approval: Approval) => void };

function Row({ approval, top, height, onOpen }: RowProps) {
  const { created_at: requested, resolved_at: decided } = approval;
  return (
    <li class="row" style={{ height: `${height}px`, transform: `translateY(${top}px)` }}>
      <button type="button" class="row-open decision" onClick={() => onOpen(approval)}>
        <StatusBadge status={approval.status} />
        <b>{visibleText(approval.tool_name)}</b>
        <code class="summary">{visibleText(summaryOfRun(approval).slice(0, 160)).replaceAll("\n", " ⏎ ")}</code>
        <span class="who session">{approval.session_name}</span>
        <span class="who by">{decidedByWords(decidedBy(approval.resolved_by ?? ""))}</span>
        {decided && (
          <span class="age">
            {moment(decided)}
            <span class="took">, after {duration(decided - requested)}</span>
          </span>
        )}
      </button>
    </li>
  );
}
