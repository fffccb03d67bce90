import { useUser } from "../context.ts";
import { DenyDialog } from "./deny-dialog.tsx";
import { EditDialog } from "./edit-dialog.tsx";
import { RequestCard } from "./request-card.tsx";
import { RequestList } from "./request-list.tsx";

export function Inbox() {
  const { requests, deciding } = useUser();
  const { isCardOpen } = requests;
  const item = requests.selected.value;
  return (
    <main class={isCardOpen.value && item ? "inbox card-open" : "inbox"}>
      <h1 class="unseen">Inbox</h1>
      <section class="pane list-pane" aria-label="Requests that need approval">
        <ListHead />
        {requests.list.value.length > 0 && <RequestList />}
      </section>
      <section class="pane card-pane" aria-label="The selected request">
        {item ? <RequestCard item={item} onBack={() => (isCardOpen.value = false)} /> : <Nothing />}
      </section>
      {deciding.dialog.value === "deny" && <DenyDialog />}
      {deciding.dialog.value === "edit" && <EditDialog />}
    </main>
  );
}

function ListHead() {
  const { requests, deciding } = useUser();
  const { armed, dialog, allow } = deciding;
  const many = requests.checked.value.length;
  const count = requests.pendingCount.value;
  const checkAll = () => {
    const all = requests.inbox.pending().map(({ approval }) => approval.id);
    requests.inbox.setChecked(all, many === 0);
  };
  return (
    <header class="list-head">
      <input
        type="checkbox"
        aria-label="Select all"
        disabled={count === 0}
        checked={many > 0 && many === count}
        indeterminate={many > 0 && many < count}
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

function Nothing() {
  const { isLoaded } = useUser().requests;
  return (
    <div class="nothing">
      <p>{isLoaded.value ? "No pending requests" : "Loading…"}</p>
      {isLoaded.value && <small>New requests appear here by themselves.</small>}
    </div>
  );
}
