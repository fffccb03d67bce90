import { summaryOf } from "../review/kinds.ts";
import { type InboxItem, isOpen } from "./inbox.ts";

export const INBOX_ORDERS = ["oldest", "newest", "time_left"] as const;
export type InboxOrder = (typeof INBOX_ORDERS)[number];
export const INBOX_GROUPS = ["none", "session", "tool"] as const;
export type InboxGroups = (typeof INBOX_GROUPS)[number];

export type Arrangement = { filter: string; order: InboxOrder; groups: InboxGroups };

/** The head of a group, with the requests in it that can be decided. */
export type GroupHead = { group: string; ids: string[] };
export type ListedRow = GroupHead | { item: InboxItem; place: number };

/** Those that have the text of the filter, given the oldest first; groups stand in the order of their first request. */
export function arranged(items: InboxItem[], { filter, order, groups }: Arrangement): InboxItem[] {
  const wanted = filter.trim().toLowerCase();
  const found = ordered(wanted === "" ? items : items.filter((item) => textOf(item).includes(wanted)), order);
  return groups === "none" ? found : [...Map.groupBy(found, (item) => groupOf(item, groups)).values()].flat();
}

/** The rows of a list that is arranged: each request with its place among them, each group with its head. */
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
