import { useEffect } from "preact/hooks";
import { byAttention } from "../../client/session-list.ts";
import type { SessionSummary } from "../../contract/sessions/session-view.ts";
import { duration } from "../../contract/text/duration.ts";
import { usePage, useUser } from "../context.ts";
import { moment } from "../shared/clock.ts";
import { Scrollable } from "../shared/elements/scrollable.tsx";
import { visibleText } from "../shared/elements/visible.tsx";
import { linkTo } from "../shared/route.ts";
import { dollars, SessionBadge } from "./status.tsx";

/** The page with all sessions, those that need attention first. */
export function SessionsPage() {
  const { isStartOpen } = useUser();
  const { sessions, isListed, hasMore, loadMore, watch } = useUser().sessions;
  useEffect(watch, []);
  return (
    <main class="page">
      <header class="page-head">
        <h1>Sessions</h1>
        <button type="button" class="button primary" onClick={() => (isStartOpen.value = true)}>
          New session
        </button>
      </header>
      {isListed.value && sessions.value.length === 0 && (
        <p class="nothing">No session yet: start one here, or let an agent call claudecode_create.</p>
      )}
      {sessions.value.length > 0 && (
        <Scrollable class="table-scroll" label="Sessions">
          <table class="table">
            <thead>
              <tr>
                <th>Session</th>
                <th>Status</th>
                <th class="right wide">Pending</th>
                <th class="right">Cost</th>
                <th class="right">Last turn</th>
                <th class="wide">Parent</th>
                <th class="wide">Started</th>
              </tr>
            </thead>
            <tbody>
              {sessions.value.toSorted(byAttention).map((session) => (
                <Row key={session.id} session={session} />
              ))}
            </tbody>
          </table>
        </Scrollable>
      )}
      {hasMore.value && (
        <button type="button" class="button" onClick={() => void loadMore()}>
          More
        </button>
      )}
    </main>
  );
}

function Row({ session }: { session: SessionSummary }) {
  const { now } = usePage();
  const { last_turn: turn } = session;
  return (
    <tr>
      <td>
        <a href={linkTo.session(session.id)}>{session.name}</a>
        <small class="path">
          {session.kind === "by_hand" ? "started by hand" : visibleText(session.working_dir ?? "")}
        </small>
      </td>
      <td>
        <SessionBadge status={session.status} />
      </td>
      <td class="right wide">{session.pending || "–"}</td>
      <td class="right">{dollars(session.cost_usd)}</td>
      <td class="right">
        {turn ? (
          <a href={linkTo.turn(session.id, { id: turn.id, seq: 0 })}>
            {duration((turn.ended_at ?? now.value) - turn.started_at)}
          </a>
        ) : (
          "–"
        )}
      </td>
      <td class="wide">
        {session.owner}
        {session.forked_from && <small>a fork</small>}
      </td>
      <td class="wide">{moment(session.created_at)}</td>
    </tr>
  );
}
