import { useEffect } from "preact/hooks";
import { isOpen } from "../../client/inbox.ts";
import { usePage, useUser } from "../context.ts";
import { DecisionDialogs } from "./decision-dialogs.tsx";
import { RequestCard } from "./request-card.tsx";
import { RequestList } from "./request-list.tsx";
import { TryDemo } from "./try-demo.tsx";

export function Inbox() {
  const { requests } = useUser();
  const { isCardOpen } = requests;
  const item = requests.selected.value;
  return (
    <main class={isCardOpen.value && item ? "inbox card-open" : "inbox"}>
      <h1 class="unseen">Inbox</h1>
      <section class="pane list-pane" aria-label="Requests that need approval">
        <ListHead />
        <ListTools />
        {requests.list.value.length > 0 && <RequestList />}
      </section>
      <section class="pane card-pane" aria-label="The selected request">
        {item ? <RequestCard item={item} onBack={() => (isCardOpen.value = false)} /> : <Nothing />}
      </section>
      <DecisionDialogs />
    </main>
  );
}

function ListHead() {
  const { requests, deciding } = useUser();
  const { armed, dialog, allow } = deciding;
  const many = requests.checked.value.length;
  const count = requests.pendingCount.value;
  const listed = requests.list.value.filter(isOpen).length;
  const checkAll = () => {
    // Hidden requests are not selected.
    const listed = requests.inbox.list().filter(isOpen);
    const ids = (many === 0 ? listed : requests.inbox.pending()).map(({ approval }) => approval.id);
    requests.inbox.setChecked(ids, many === 0);
  };
  return (
    <header class="list-head">
      <input
        type="checkbox"
        aria-label="Select all"
        disabled={count === 0}
        checked={many > 0 && many === listed}
        indeterminate={many > 0 && many !== listed}
        onChange={checkAll}
      />
      {many === 0 ? (
        <span>{count === 1 ? "1 request needs approval" : `${count.toLocaleString()} requests need approval`}</span>
      ) : (
        <>
          <span>{many} selected</span>
          <button
            type="button"
            class={armed.value ? "button small danger" : "button small primary"}
            onClick={() => void allow()}
          >
            {armed.value ? "Allow anyway" : "Allow"}
          </button>
          <button type="button" class="button small" onClick={() => (dialog.value = "deny")}>
            Deny
          </button>
        </>
      )}
    </header>
  );
}

/** Filters, sorts and groups a long list of requests. */
function ListTools() {
  const { requests, arrangement } = useUser();
  const { inboxOrder, inboxGroups } = usePage().preferences;
  const { filter } = arrangement;
  if (requests.pendingCount.value < 2 && filter.value === "") return null;
  const listed = requests.list.value.length;
  return (
    <div class="list-tools">
      <input
        type="text"
        data-filter
        aria-label="Filter the requests"
        placeholder="Filter"
        value={filter}
        onInput={({ currentTarget }) => (filter.value = currentTarget.value)}
        onKeyDown={({ key, currentTarget }) => {
          if (key === "Escape") filter.value = "";
          if (key === "Escape" || key === "Enter") currentTarget.blur();
        }}
      />
      <select
        aria-label="Order"
        value={inboxOrder}
        onChange={({ currentTarget }) => {
          const chosen = ORDERS.find(([order]) => order === currentTarget.value);
          if (chosen) inboxOrder.value = chosen[0];
        }}
      >
        {ORDERS.map(([order, words]) => (
          <option key={order} value={order}>
            {words}
          </option>
        ))}
      </select>
      <select
        aria-label="Groups"
        value={inboxGroups}
        onChange={({ currentTarget }) => {
          const chosen = GROUPS.find(([group]) => group === currentTarget.value);
          if (chosen) inboxGroups.value = chosen[0];
        }}
      >
        {GROUPS.map(([group, words]) => (
          <option key={group} value={group}>
            {words}
          </option>
        ))}
      </select>
      {listed === 0 && (
        <p class="note" role="status">
          No request matches
        </p>
      )}
    </div>
  );
}

const ORDERS = [
  ["oldest", "oldest first"],
  ["newest", "newest first"],
  ["time_left", "least time left"],
] as const;
const GROUPS = [
  ["none", "not grouped"],
  ["session", "by session"],
  ["tool", "by tool"],
] as const;

/** An empty inbox explains how requests arrive. */
function Nothing() {
  const { requests, sessions, isStartOpen } = useUser();
  useEffect(sessions.watch, []);
  if (!requests.isLoaded.value)
    return (
      <div class="nothing">
        <p>Loading…</p>
      </div>
    );
  return (
    <div class="nothing teaching">
      <p>No pending requests</p>
      <small>New requests appear here by themselves.</small>
      {sessions.isListed.value && sessions.sessions.value.length === 0 && (
        <ul>
          <li>
            <TryDemo />
            <span>Claude Code asks once to write a greeting. No key is needed, and nothing of yours is changed.</span>
          </li>
          <li>
            <button type="button" class="button primary small" onClick={() => (isStartOpen.value = true)}>
              Start a session
            </button>
            <span>Claude Code works, and asks here before it runs anything.</span>
          </li>
          <li>
            <code>plexus connect claude</code>
            <span>An agent of yours starts sessions and decides on their requests; you can step in here.</span>
          </li>
          <li>
            <code>plexus configure</code>
            <span>A claude that you start yourself asks here too.</span>
          </li>
        </ul>
      )}
    </div>
  );
}
