import { useEffect } from "preact/hooks";
import { costText } from "../../client/words/words.ts";
import type { SessionSummary } from "../../contract/sessions/session-view.ts";
import { useUser } from "../context.ts";
import { SessionBadge } from "../sessions/status.tsx";
import { Visible } from "../shared/elements/visible.tsx";
import { linkTo } from "../shared/route.ts";

/** The listed sessions as a tree: which session made or forked which. */
export function SessionTree() {
  const { sessions, watch } = useUser().sessions;
  useEffect(watch, []);
  const all = sessions.value;
  if (all.length === 0) return null;
  const ids = new Set(all.map(({ id }) => id));
  const roots = all.filter((session) => !ids.has(parentOf(session) ?? ""));
  const owners = [...new Set(roots.map(({ owner }) => owner))];
  return (
    <section class="session-tree" aria-label="Parents, sessions and forks">
      <h2>Parents, sessions and forks</h2>
      <ul>
        {owners.map((owner) => (
          <li key={owner}>
            <b>
              <Visible text={owner} />
            </b>
            <Branches sessions={roots.filter((session) => session.owner === owner)} all={all} />
          </li>
        ))}
      </ul>
    </section>
  );
}

function Branches({ sessions, all }: { sessions: SessionSummary[]; all: SessionSummary[] }) {
  if (sessions.length === 0) return null;
  return (
    <ul>
      {sessions.map((session) => (
        <li key={session.id}>
          <a href={linkTo.session(session.id)}>
            <Visible text={session.name} />
          </a>{" "}
          <SessionBadge status={session.status} /> <span class="note">{costText(session.cost_usd)}</span>
          <Branches sessions={all.filter((one) => parentOf(one) === session.id)} all={all} />
        </li>
      ))}
    </ul>
  );
}

/** The session from which this one was forked, or of which it is a child. */
function parentOf({ origin_id, owner }: SessionSummary): string | undefined {
  return origin_id ?? /^session:(.+)$/.exec(owner)?.[1];
}
