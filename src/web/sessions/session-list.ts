import type { Api } from "../../client/api.ts";
import { createSessionList as createClientSessionList } from "../../client/session-list.ts";
import type { Announcer } from "../shared/announcer.tsx";
import { followed } from "../shared/followed.ts";
import { reasonOf } from "../shared/reason.ts";

export type SessionList = ReturnType<typeof createSessionList>;

/** All sessions, newest first. */
export function createSessionList({ api, announcer, signal }: { api: Api; announcer: Announcer; signal: AbortSignal }) {
  const onFailure = (cause: unknown) => announcer.complain(`The sessions can't be listed: ${reasonOf(cause)}`);
  const list = createClientSessionList({ api, onFailure, signal });
  return {
    sessions: followed(list.items, list),
    isListed: followed(list.isRead, list),
    hasMore: followed(list.hasMore, list),
    watch: list.watch,
    loadMore: list.loadMore,
    changed: list.changed,
  };
}
