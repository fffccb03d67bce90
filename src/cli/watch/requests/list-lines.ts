import type { ListedRow } from "../../../client/arrangement.ts";
import type { InboxItem } from "../../../client/inbox.ts";
import { duration } from "../../../contract/text/duration.ts";
import { summaryOf } from "../../../review/kinds.ts";
import { APPROVAL_OUTCOMES } from "../../terminal/event-text.ts";
import { type Line, type Span, span } from "../../terminal/lines.ts";
import { inColumns, windowFrom } from "../screen/columns.ts";
import { ruled } from "../screen/rule.ts";

const MOST_LISTED = 12;
const NARROW = 60;

/** The rows for the list and for the selected request, with a rule between them. */
export function layoutOf(rows: number, listed: number): { list: number; detail: number } {
  const room = Math.max(2, rows - 1);
  const list = Math.max(1, Math.min(listed, MOST_LISTED, Math.floor(room / 3)));
  return { list, detail: Math.max(0, room - list) };
}

type Listed = { rows: ListedRow[]; selectedId: string | undefined; now: number; columns: number };

/** The part of the list around the selected request. */
export function listLines({ rows, selectedId, now, columns }: Listed, height: number): Line[] {
  const at = rows.findIndex((row) => "item" in row && row.item.approval.id === selectedId);
  const from = windowFrom(rows.length, height, at);
  const window = rows.slice(from, from + height);
  const isNarrow = columns < NARROW;
  const limits = isNarrow ? [10, 8, 7, 7] : [18, 16, 7, 7];
  const cells = window.map((row) => {
    if ("group" in row) return [];
    const { approval, outcome } = row.item;
    const left = outcome ? APPROVAL_OUTCOMES[outcome.status].mark : duration(approval.expires_at - now);
    return [approval.session_name, approval.tool_name, duration(now - approval.created_at), left];
  });
  const texts = inColumns(cells, limits);
  return window.map((row, index): Line => {
    if ("group" in row) return [span(row.group, "cyan"), { text: ` (${row.ids.length})`, style: "dim" }];
    const { approval, outcome } = row.item;
    const isSelected = from + index === at;
    const style = outcome ? "dim" : isSelected ? "bold" : undefined;
    const mark: Span = { text: isSelected ? "▸ " : "  ", style: isSelected ? "cyan" : undefined };
    return [
      mark,
      { text: texts[index] ?? "", style },
      { text: "  " },
      span(summaryOf(approval).slice(0, columns), style),
    ];
  });
}

type Shown = { item: InboxItem | undefined; place: string; now: number; columns: number };

/** The rule between the list and the selected request: its title, and which part of it is in view. */
export function ruleLine({ item, place, now, columns }: Shown): Line {
  if (!item) return [{ text: "─".repeat(columns), style: "dim" }];
  const { session_name, tool_name, created_at, expires_at } = item.approval;
  const left = item.outcome ? "no longer pending" : `${duration(expires_at - now)} left`;
  const times = `requested ${duration(now - created_at)} ago, ${left}`;
  const title: Line = [span(`${tool_name} of ${session_name}`, "bold"), { text: `  ${times} `, style: "dim" }];
  return ruled(title, place, columns);
}
