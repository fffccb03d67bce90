import { useEffect, useLayoutEffect, useRef } from "preact/hooks";
import type { InboxItem } from "../../client/inbox.ts";
import { shortDuration } from "../../contract/duration.ts";
import { summaryOf } from "../../review/kinds.ts";
import { usePage, useUser } from "../context.ts";
import { Scrollable } from "../shared/elements/scrollable.tsx";
import { StatusBadge } from "../shared/elements/status-badge.tsx";
import { useVirtual } from "../shared/elements/virtual.ts";
import { visibleText } from "../shared/elements/visible.tsx";

const ROW_PX = 66;
const SUMMARY_CHARS = 200;
const URGENT_SECS = 30;

/** Every request, the oldest first; of thousands only those on the screen are drawn. */
export function RequestList() {
  const { list: requests, selected } = useUser().requests;
  const scroller = useRef<HTMLElement>(null);
  const list = requests.value;
  const rows = useVirtual({
    count: list.length,
    getScrollElement: () => scroller.current,
    estimateSize: () => ROW_PX,
    getItemKey: (at) => list[at]?.approval.id ?? at,
    overscan: 6,
  });
  const at = list.findIndex(({ approval }) => approval.id === selected.value?.approval.id);
  useEffect(() => {
    if (at >= 0) rows.scrollToIndex(at, { align: "auto" });
  }, [at, rows]);
  return (
    <Scrollable class="request-list" scroller={scroller} label="Requests, oldest first">
      <ul style={{ height: `${rows.getTotalSize()}px` }}>
        {rows.getVirtualItems().map(({ index, start, key }) => {
          const item = list[index];
          return item && <Row key={key} item={item} top={start} place={index + 1} of={list.length} />;
        })}
      </ul>
    </Scrollable>
  );
}

type RowProps = { item: InboxItem; top: number; place: number; of: number };

function Row({ item: { approval, outcome }, top, place, of }: RowProps) {
  const { now } = usePage();
  const { inbox, selected, checkedIds, openCard } = useUser().requests;
  const isSelected = selected.value?.approval.id === approval.id;
  const isChecked = checkedIds.value.has(approval.id);
  const left = approval.expires_at - now.value;
  const summary = visibleText(summaryOf(approval).slice(0, SUMMARY_CHARS)).replaceAll("\n", " ⏎ ");
  const button = useRef<HTMLButtonElement>(null);
  useLayoutEffect(() => {
    // Else Enter would open the row that the keys have left.
    if (isSelected && document.activeElement?.matches(".request-list .row-open")) button.current?.focus();
  }, [isSelected]);
  return (
    <li
      class={`row${isSelected ? " selected" : ""}${outcome ? " settled" : ""}`}
      style={{ height: `${ROW_PX}px`, transform: `translateY(${top}px)` }}
      aria-setsize={of}
      aria-posinset={place}
    >
      <input
        type="checkbox"
        checked={isChecked}
        disabled={outcome !== undefined}
        aria-label={`Select ${visibleText(approval.tool_name)} of ${approval.session_name}`}
        onChange={() => inbox.setChecked([approval.id], !isChecked)}
      />
      <button
        type="button"
        class="row-open"
        ref={button}
        aria-current={isSelected}
        onClick={() => openCard(approval.id)}
      >
        <span class="row-top">
          <b>{visibleText(approval.tool_name)}</b>
          <span class="who">{approval.session_name}</span>
          {outcome ? (
            <StatusBadge status={outcome.status} />
          ) : (
            <span class={left < URGENT_SECS ? "age urgent" : "age"}>
              {shortDuration(now.value - approval.created_at)}
            </span>
          )}
        </span>
        <code class="summary">{summary}</code>
      </button>
    </li>
  );
}
