import { useLayoutEffect } from "preact/hooks";
import { useUser } from "../context.ts";
import { DecisionDialogs } from "../inbox/decision-dialogs.tsx";
import { RequestCard } from "../inbox/request-card.tsx";

/** The pending requests of a session, one at a time, to decide beside its transcript. */
export function SessionRequests({ sessionId }: { sessionId: string }) {
  const { requests } = useUser();
  useLayoutEffect(() => requests.showSession(sessionId), [sessionId]);
  const item = requests.selected.value;
  // Before the first effect runs, a request of another session may be selected.
  if (item?.approval.session_id !== sessionId) return null;
  return (
    <section class="session-request" aria-label="Needs approval">
      <RequestCard item={item}>
        <Others />
      </RequestCard>
      <DecisionDialogs />
    </section>
  );
}

/** The position among several requests, with buttons to the others. */
function Others() {
  const { pendingHere, selected, move } = useUser().requests;
  const ids = pendingHere.value.map(({ approval }) => approval.id);
  const at = ids.indexOf(selected.value?.approval.id ?? "");
  if (ids.length < 2) return null;
  return (
    <span class="others">
      {at < 0 ? `${ids.length} more` : `${at + 1} of ${ids.length}`}
      <button type="button" class="button small" disabled={at === 0} onClick={() => move(-1)}>
        Previous <kbd>k</kbd>
      </button>
      <button type="button" class="button small" disabled={at === ids.length - 1} onClick={() => move(1)}>
        Next <kbd>j</kbd>
      </button>
    </span>
  );
}
