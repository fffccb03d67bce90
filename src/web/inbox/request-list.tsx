import { useEffect, useLayoutEffect, useRef } from "preact/hooks";
import type { GroupHead } from "../../client/arrangement.ts";
import { type InboxItem, isOpen } from "../../client/inbox.ts";
import { shortDuration } from "../../contract/text/duration.ts";
import { summaryOf } from "../../review/kinds.ts";
import { usePage, useUser } from "../context.ts";
import { Icon } from "../shared/elements/icons.tsx";
import { Scrollable } from "../shared/elements/scrollable.tsx";
import { StatusBadge } from "../shared/elements/status-badge.tsx";
import { useVirtual } from "../shared/elements/virtual.ts";
import { visibleText } from "../shared/elements/visible.tsx";
import { isDangerous } from "./listed-dangers.ts";

const ROW_PX = { comfortable: 66, compact: 46 };
const GROUP_PX = 34;
const SUMMARY_CHARS = 200;
const URGENT_SECS = 30;

/** The list of requests, grouped if wanted. Only rows on the screen are drawn, even with thousands of requests. */
export function RequestList() {
  const { requests, arrangement } = useUser();
  const rowPx = ROW_PX[usePage().preferences.density.value];
  const scroller = useRef<HTMLElement>(null);
  const items = requests.list.value;
  const list = arrangement.rows.value;
  const heightAt = (at: number) => (list[at] && "group" in list[at] ? GROUP_PX : rowPx);
  const rows = useVirtual({
    count: list.length,
    getScrollElement: () => scroller.current,
    estimateSize: heightAt,
    getItemKey: (at) => {
      const row = list[at];
      if (!row) return at;
      return "group" in row ? `group ${row.group}` : row.item.approval.id;
    },
    overscan: 6,
  });
  // Group rows and request rows differ in height, and their positions change.
  useLayoutEffect(() => rows.measure(), [arrangement.isGrouped.value, list.length, rowPx]);
  const at = list.findIndex((row) => "item" in row && row.item.approval.id === requests.selected.value?.approval.id);
  useEffect(() => {
    if (at >= 0) rows.scrollToIndex(at, { align: "auto" });
  }, [at, rows]);
  return (
    <Scrollable class="request-list" scroller={scroller} label="Requests">
      <ul style={{ height: `${rows.getTotalSize()}px` }}>
        {rows.getVirtualItems().map(({ index, start, key }) => {
          const row = list[index];
          if (!row) return null;
          if ("group" in row) return <GroupRow key={key} group={row} top={start} />;
          return <Row key={key} item={row.item} top={start} height={rowPx} place={row.place} of={items.length} />;
        })}
      </ul>
    </Scrollable>
  );
}

/** The name of a group, with a checkbox that selects all of it. */
function GroupRow({ group: { group, ids }, top }: { group: GroupHead; top: number }) {
  const { inbox, checkedIds } = useUser().requests;
  const checked = ids.filter((id) => checkedIds.value.has(id)).length;
  return (
    <li class="row group" style={{ height: `${GROUP_PX}px`, transform: `translateY(${top}px)` }}>
      <input
        type="checkbox"
        aria-label={`Select all of ${visibleText(group)}`}
        disabled={ids.length === 0}
        checked={checked > 0 && checked === ids.length}
        indeterminate={checked > 0 && checked < ids.length}
        onChange={() => inbox.setChecked(ids, checked === 0)}
      />
      <b>{visibleText(group)}</b>
      <span class="age">{ids.length.toLocaleString()}</span>
    </li>
  );
}

type RowProps = { item: InboxItem; top: number; height: number; place: number; of: number };

function Row({ item, top, height, place, of }: RowProps) {
  const { approval, outcome, isHeld } = item;
  const { now } = usePage();
  const { inbox, selected, checkedIds, openCard } = useUser().requests;
  const isSelected = selected.value?.approval.id === approval.id;
  const isChecked = checkedIds.value.has(approval.id);
  const left = approval.expires_at - now.value;
  const summary = visibleText(summaryOf(approval).slice(0, SUMMARY_CHARS)).replaceAll("\n", " ⏎ ");
  const button = useRef<HTMLButtonElement>(null);
  useLayoutEffect(() => {
    // Otherwise Enter would open the row that had the focus before.
    if (isSelected && document.activeElement?.matches(".request-list .row-open")) button.current?.focus();
  }, [isSelected]);
  return (
    <li
      class={`row${isSelected ? " selected" : ""}${isOpen(item) ? "" : " settled"}`}
      style={{ height: `${height}px`, transform: `translateY(${top}px)` }}
      aria-setsize={of}
      aria-posinset={place}
    >
      <input
        type="checkbox"
        checked={isChecked}
        disabled={!isOpen(item)}
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
          {isOpen(item) && isDangerous(approval) && (
            <span class="danger-mark" title="Look twice: it is dangerous">
              <Icon name="warning" />
              <span class="unseen">dangerous</span>
            </span>
          )}
          <b>{visibleText(approval.tool_name)}</b>
          <span class="who">{approval.session_name}</span>
          {outcome && <StatusBadge status={outcome.status} />}
          {isHeld && <span class="badge denied">denying…</span>}
          {isOpen(item) && (
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
