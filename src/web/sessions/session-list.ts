import type { Api } from "../../client/api.ts";
import { createPagedList } from "../../client/paging.ts";
import { listSessions } from "../../contract/routes/sessions.ts";
import type { Announcer } from "../shared/announcer.tsx";
import { followed } from "../shared/followed.ts";
import { reasonOf } from "../shared/reason.ts";
import { createReload } from "../shared/reload.ts";

const PAGE = 200;
const LARGEST_PAGE = 1000;
const RELOAD_AFTER_MS = 300;

export type SessionList = ReturnType<typeof createSessionList>;

/** Every session, the newest first. */
export function createSessionList({ api, announcer, signal }: { api: Api; announcer: Announcer; signal: AbortSignal }) {
  const list = createPagedList({
    read: async (at) => {
      const page = await api.call(listSessions, { query: at });
      return { items: page.sessions, cursor: page.cursor };
    },
    pageSize: PAGE,
    largestPageSize: LARGEST_PAGE,
    onFailure: (cause) => announcer.complain(`The sessions can't be listed: ${reasonOf(cause)}`),
  });
  const reload = createReload({ list, afterMs: RELOAD_AFTER_MS, signal });
  return {
    sessions: followed(list.items, list),
    isListed: followed(list.isRead, list),
    hasMore: followed(list.hasMore, list),
    watch: reload.watch,
    loadMore: list.loadMore,
    /** Something began, ended or was decided. */
    changed: reload.soon,
  };
}
