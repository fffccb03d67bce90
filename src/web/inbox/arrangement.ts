import { computed, effect, signal } from "@preact/signals";
import { arranged, listedRows } from "../../client/arrangement.ts";
import type { Inbox } from "../../client/inbox.ts";
import { followed } from "../shared/followed.ts";
import type { Preferences } from "../shared/preferences.ts";

/** The filter, order and grouping of the inbox. The browser remembers order and groups. */
export function createArrangement(inbox: Inbox, preferences: Pick<Preferences, "inboxOrder" | "inboxGroups">) {
  const { inboxOrder, inboxGroups } = preferences;
  const filter = signal("");

  effect(() => {
    const how = { filter: filter.value, order: inboxOrder.value, groups: inboxGroups.value };
    inbox.arrange((all) => arranged(all, how));
  });

  const list = followed(inbox.list, inbox);
  return {
    filter,
    isGrouped: computed(() => inboxGroups.value !== "none"),
    rows: computed(() => listedRows(list.value, inboxGroups.value)),
  };
}
