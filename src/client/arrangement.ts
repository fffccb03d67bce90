import { summaryOf } from "../review/kinds.ts";
import { type InboxItem, isOpen } from "./inbox.ts";

export const INBOX_ORDERS = ["oldest", "newest", "time_left"] as const;
export type InboxOrder = (typeof INBOX_ORDERS)[number];
export const INBOX_GROUPS = ["none", "session", "tool"] as const;
export type InboxGroups = (typeof INBOX_GROUPS)[number];

export type Arrangement = { filter: string; order: InboxOrder; groups: InboxGroups };

/** A group's header, with the ids of its decidable requests. */
export type GroupHead = { group: string; ids: string[] };
export type ListedRow = GroupHead | { item: InboxItem; place: number };

/**
 * Returns the requests that match the filter, in the chosen order; groups are ordered by their first request. Expects
 * the oldest first.
 */
export function arranged(items: InboxItem[], { filter, order, groups }: Arrangement): InboxItem[] {
  const wanted = filter.trim().toLowerCase();
  const found = ordered(wanted === "" ? items : items.filter((item) => textOf(item).includes(wanted)), order);
  return groups === "none" ? found : [...Map.groupBy(found, (item) => groupOf(item, groups)).values()].flat();
}

/** Returns the rows of an arranged list: each request with its position, each group with its header. */
export function listedRows(list: InboxItem[], groups: InboxGroups): ListedRow[] {
  const items = list.map((item, at) => ({ item, place: at + 1 }));
  if (groups === "none") return items;
  const rows: ListedRow[] = [];
  let head: GroupHead | undefined;
  for (const row of items) {
    const group = groupOf(row.item, groups);
    if (head?.group !== group) {
      head = { group, ids: [] };
      rows.push(head);
    }
    if (isOpen(row.item)) head.ids.push(row.item.approval.id);
    rows.push(row);
  }
  return rows;
}

function ordered(items: InboxItem[], order: InboxOrder): InboxItem[] {
  if (order === "newest") return items.toReversed();
  if (order === "oldest") return items;
  return items.toSorted((one, other) => one.approval.expires_at - other.approval.expires_at);
}

function groupOf({ approval }: InboxItem, groups: Exclude<InboxGroups, "none">): string {
  return groups === "session" ? approval.session_name : approval.tool_name;
}

function textOf({ approval }: InboxItem): string {
  return `${approval.tool_name} ${approval.session_name} ${summaryOf(approval)}`.toLowerCase();
}
