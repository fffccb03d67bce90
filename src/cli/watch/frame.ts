import type { InboxItem } from "../../client/inbox.ts";
import { duration } from "../../contract/text/duration.ts";
import { kindOf, summaryOf } from "../../review/kinds.ts";
import { APPROVAL_OUTCOMES } from "../terminal/event-text.ts";
import type { Size } from "./full-screen.ts";
import { fitted, type Line, type Span, span, widthOf } from "./lines.ts";

/** All that the screen shows. */
type View = {
  size: Size;
  now: number;
  url: string;
  isLive: boolean;
  items: InboxItem[];
  /** Which of them is selected. */
  position: number;
  /** That one, in full. */
  detail: Line[];
  scroll: number;
  message: Line;
  /** Stands where the keys do otherwise. */
  below?: Line | undefined;
};

type Layout = { head: number; list: number; detail: number; foot: number };

const KEYS = "a allow  A remember  d deny  e edit  s next  j/k move  PgDn more  ? help  q quit";
const QUESTION_KEYS = "1-9 choose  Enter answer  a skip  d deny  e edit  s next  PgDn more  ? help  q quit";
const MOST_LISTED = 12;
const NARROW = 60;

/** How many rows each part has; the selected request goes before the list, and that before the rest. */
export function layoutOf({ rows }: Size, listed: number): Layout {
  const head = rows >= 10 ? 1 : 0;
  const foot = rows >= 6 ? 2 : 1;
  const room = Math.max(2, rows - head - foot - 1);
  const list = Math.max(1, Math.min(listed, MOST_LISTED, Math.floor(room / 3)));
  return { head, list, detail: Math.max(0, room - list), foot };
}

export function frameOf(view: View): Line[] {
  const { size, items, position } = view;
  const { head, list, detail, foot } = layoutOf(size, items.length);
  const shown = view.detail.slice(view.scroll, view.scroll + detail);
  const selected = items[position];
  const keys = selected && kindOf(selected.approval).kind === "questions" ? QUESTION_KEYS : KEYS;
  const lines: Line[] = [
    ...(head > 0 ? [headLine(view)] : []),
    ...listLines(view, list),
    ruleLine(view, detail),
    ...shown,
    ...Array.from({ length: detail - shown.length }, () => []),
    ...(foot > 1 ? [view.message] : []),
    foot > 1 || widthOf(view.message) === 0 ? (view.below ?? [{ text: keys, style: "dim" }]) : view.message,
  ];
  return lines.slice(0, size.rows);
}

function headLine({ size, url, isLive, items }: View): Line {
  const pending = items.filter(({ outcome }) => !outcome).length;
  const title: Line = [{ text: "Plexus", style: "bold" }, { text: `  ${pending} pending  ${url}` }];
  const state: Span = isLive
    ? { text: "● live", style: "green" }
    : { text: "○ no connection, trying again", style: "yellow" };
  const left = fitted(title, size.columns - Bun.stringWidth(state.text) - 2);
  const gap = Math.max(2, size.columns - widthOf(left) - Bun.stringWidth(state.text));
  return [...left, { text: " ".repeat(gap) }, state];
}

/** A window of the list around the selected request. */
function listLines({ items, position, now, size, isLive }: View, rows: number): Line[] {
  if (items.length === 0) return [[{ text: isLive ? "No pending requests" : "", style: "dim" }]];
  const from = Math.max(0, Math.min(position - Math.floor(rows / 2), items.length - rows));
  const window = items.slice(from, from + rows);
  const isNarrow = size.columns < NARROW;
  const cells = window.map(({ approval, outcome }) => [
    cell(approval.session_name, isNarrow ? 10 : 18),
    cell(approval.tool_name, isNarrow ? 8 : 16),
    cell(duration(now - approval.created_at), 7),
    cell(outcome ? APPROVAL_OUTCOMES[outcome.status].mark : duration(approval.expires_at - now), 7),
  ]);
  const widths = [0, 1, 2, 3].map((column) => Math.max(...cells.map((row) => Bun.stringWidth(row[column] ?? ""))));
  return window.map(({ approval, outcome }, index): Line => {
    const isSelected = from + index === position;
    const columns = (cells[index] ?? []).map(
      (text, column) => text + " ".repeat((widths[column] ?? 0) - Bun.stringWidth(text)),
    );
    const style = outcome ? "dim" : isSelected ? "bold" : undefined;
    const mark: Span = { text: isSelected ? "▸ " : "  ", style: isSelected ? "cyan" : undefined };
    return [
      mark,
      { text: columns.join("  "), style },
      { text: "  " },
      span(summaryOf(approval).slice(0, size.columns), style),
    ];
  });
}

/** Between the list and the selected request: which one it is, and how much of it is in view. */
function ruleLine({ size, items, position, detail, scroll, now }: View, rows: number): Line {
  const item = items[position];
  if (!item) return [{ text: "─".repeat(size.columns), style: "dim" }];
  const { session_name, tool_name, created_at, expires_at } = item.approval;
  const left = item.outcome ? "no longer pending" : `${duration(expires_at - now)} left`;
  const times = `requested ${duration(now - created_at)} ago, ${left}`;
  const title: Line = [
    { text: "── ", style: "dim" },
    span(`${tool_name} of ${session_name}`, "bold"),
    { text: `  ${times} `, style: "dim" },
  ];
  const last = Math.min(detail.length, scroll + rows);
  const part = detail.length > rows ? ` ${scroll + 1}-${last}/${detail.length}` : "";
  const where = `${part} request ${position + 1}/${items.length} ─`;
  const shown = fitted(title, size.columns - where.length);
  const rule = "─".repeat(Math.max(0, size.columns - widthOf(shown) - where.length));
  return [...shown, { text: `${rule}${where}`, style: "dim" }];
}

function cell(text: string, width: number): string {
  return fitted([span(text)], width)
    .map((part) => part.text)
    .join("");
}
