import { computed, effect, signal } from "@preact/signals";
import { type Inbox, type InboxItem, isOpen } from "../../client/inbox.ts";
import { summaryOf } from "../../review/kinds.ts";
import { followed } from "../shared/followed.ts";
import type { Preferences } from "../shared/preferences.ts";

/** The head of a group, with the pending requests in it. */
export type GroupHead = { group: string; ids: string[] };
type ListedRow = GroupHead | { item: InboxItem; place: number };

/** Which requests are listed, in which order, and in which groups; order and groups are remembered by the browser. */
export function createArrangement(inbox: Inbox, preferences: Pick<Preferences, "inboxOrder" | "inboxGroups">) {
  const { inboxOrder, inboxGroups } = preferences;
  const filter = signal("");

  const groupOf = ({ approval }: InboxItem): string => {
    if (inboxGroups.value === "session") return approval.session_name;
    return inboxGroups.value === "tool" ? approval.tool_name : "";
  };

  effect(() => {
    const wanted = filter.value.trim().toLowerCase();
    const [order, grouping] = [inboxOrder.value, inboxGroups.value];
    inbox.arrange((all) => {
      const found = wanted === "" ? all : all.filter((item) => textOf(item).includes(wanted));
      return grouping === "none" ? ordered(found, order) : grouped(ordered(found, order), groupOf);
    });
  });

  const list = followed(inbox.list, inbox);
  return {
    filter,
    isGrouped: computed(() => inboxGroups.value !== "none"),
    rows: computed((): ListedRow[] => {
      const items = list.value.map((item, at) => ({ item, place: at + 1 }));
      if (inboxGroups.value === "none") return items;
      const rows: ListedRow[] = [];
      let head: GroupHead | undefined;
      for (const row of items) {
        const group = groupOf(row.item);
        if (head?.group !== group) {
          head = { group, ids: [] };
          rows.push(head);
        }
        if (isOpen(row.item)) head.ids.push(row.item.approval.id);
        rows.push(row);
      }
      return rows;
    }),
  };
}

/** Given the oldest first. */
function ordered(items: InboxItem[], order: Preferences["inboxOrder"]["value"]): InboxItem[] {
  if (order === "newest") return items.toReversed();
  if (order === "oldest") return items;
  return items.toSorted((one, other) => one.approval.expires_at - other.approval.expires_at);
}

/** Groups stand in the order of their first request. */
function grouped(items: InboxItem[], groupOf: (item: InboxItem) => string): InboxItem[] {
  return [...Map.groupBy(items, groupOf).values()].flat();
}

function textOf({ approval }: InboxItem): string {
  return `${approval.tool_name} ${approval.session_name} ${summaryOf(approval)}`.toLowerCase();
}
