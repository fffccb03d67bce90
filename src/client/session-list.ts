import { listSessions } from "../contract/routes/sessions.ts";
import type { SessionSummary } from "../contract/sessions/session-view.ts";
import type { Api } from "./api.ts";
import { createPagedList } from "./paging.ts";
import { createReload } from "./reload.ts";

const PAGE = 200;
const LARGEST_PAGE = 1000;
const RELOAD_AFTER_MS = 300;

type SessionListNeed = { api: Api; onFailure: (cause: unknown) => void; signal: AbortSignal };

/** The sessions, newest first, read as far as needed. */
export function createSessionList({ api, onFailure, signal }: SessionListNeed) {
  const list = createPagedList({
    read: async (at) => {
      const page = await api.call(listSessions, { query: at });
      return { items: page.sessions, cursor: page.cursor };
    },
    pageSize: PAGE,
    largestPageSize: LARGEST_PAGE,
    onFailure,
  });
  const { watch, soon } = createReload({ list, afterMs: RELOAD_AFTER_MS, signal });
  return {
    ...list,
    watch,
    /** Call when something began, ended or was decided. */
    changed: soon,
  };
}

/**
 * The order of sessions: first those that need a person, then ongoing ones, then failed ones; equals are ordered by
 * last activity.
 */
const ATTENTION: Record<SessionSummary["status"], number> = {
  awaiting_permission: 0,
  running: 1,
  queued: 2,
  failed: 3,
  cancelled: 4,
  complete: 4,
  idle: 4,
};

export function byAttention(one: SessionSummary, other: SessionSummary): number {
  const rank = ({ pending, status }: SessionSummary) => (pending > 0 ? 0 : ATTENTION[status]);
  return rank(one) - rank(other) || other.last_activity_at - one.last_activity_at;
}
