import { useEffect, useLayoutEffect, useRef } from "preact/hooks";
import { summaryOf } from "../../review/kinds.ts";
import { now, shortSpan } from "../clock.ts";
import { StatusBadge } from "../parts/outcome.tsx";
import { Scrollable } from "../parts/scrollable.tsx";
import { useVirtual } from "../parts/virtual.ts";
import { visibleText } from "../text/visible.tsx";
import { type Ask, asks, checkedIds, openCard, selectedId, toggleChecked } from "./asks.ts";

const ROW_PX = 66;
const SUMMARY_CHARS = 200;
const URGENT_SECS = 30;

/** Every ask, the oldest first; of thousands only those on the screen are drawn. */
export function AskList() {
  const scroller = useRef<HTMLElement>(null);
  const list = asks.value;
  const rows = useVirtual({
    count: list.length,
    getScrollElement: () => scroller.current,
    estimateSize: () => ROW_PX,
    getItemKey: (at) => list[at]?.approval.id ?? at,
    overscan: 6,
  });
  const at = list.findIndex(({ approval }) => approval.id === selectedId.value);
  useEffect(() => {
    if (at >= 0) rows.scrollToIndex(at, { align: "auto" });
  }, [at, rows]);
  return (
    <Scrollable class="ask-list" scroller={scroller} label="Asks, the oldest first">
      <ul style={{ height: `${rows.getTotalSize()}px` }}>
        {rows.getVirtualItems().map(({ index, start, key }) => {
          const ask = list[index];
          return ask && <Row key={key} ask={ask} top={start} place={index + 1} of={list.length} />;
        })}
      </ul>
    </Scrollable>
  );
}

type RowProps = { ask: Ask; top: number; place: number; of: number };

function Row({ ask: { approval, outcome }, top, place, of }: RowProps) {
  const isSelected = selectedId.value === approval.id;
  const left = approval.expires_at - now.value;
  const summary = visibleText(summaryOf(approval).slice(0, SUMMARY_CHARS)).replaceAll("\n", " ⏎ ");
  const button = useRef<HTMLButtonElement>(null);
  useLayoutEffect(() => {
    // Else Enter would open the row that the keys have left.
    if (isSelected && document.activeElement?.matches(".ask-list .row-open")) button.current?.focus();
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
        checked={checkedIds.value.has(approval.id)}
        disabled={outcome !== undefined}
        aria-label={`Select ${visibleText(approval.tool_name)} of ${approval.session_name}`}
        onChange={() => toggleChecked(approval.id)}
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
            <span class={left < URGENT_SECS ? "age urgent" : "age"}>{shortSpan(now.value - approval.created_at)}</span>
          )}
        </span>
        <code class="summary">{summary}</code>
      </button>
    </li>
  );
}
