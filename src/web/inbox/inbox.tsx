import { AskCard } from "./ask-card.tsx";
import { AskList } from "./ask-list.tsx";
import { asks, checked, checkedIds, isCardOpen, isLoaded, pendingCount, selected } from "./asks.ts";
import { allow, armed, dialog } from "./deciding.ts";
import { DenyDialog } from "./deny-dialog.tsx";
import { EditDialog } from "./edit-dialog.tsx";

export function Inbox() {
  const ask = selected.value;
  return (
    <main class={isCardOpen.value && ask ? "inbox card-open" : "inbox"}>
      <h1 class="unseen">Inbox</h1>
      <section class="pane list-pane" aria-label="What waits for a decision">
        <ListHead />
        {asks.value.length > 0 && <AskList />}
      </section>
      <section class="pane card-pane" aria-label="The selected ask">
        {ask ? <AskCard ask={ask} onBack={() => (isCardOpen.value = false)} /> : <Nothing />}
      </section>
      {dialog.value === "deny" && <DenyDialog />}
      {dialog.value === "edit" && <EditDialog />}
    </main>
  );
}

function ListHead() {
  const many = checked.value.length;
  const all = asks.value.filter(({ outcome }) => outcome === undefined).map(({ approval }) => approval.id);
  return (
    <header class="list-head">
      <input
        type="checkbox"
        aria-label="Select all"
        disabled={all.length === 0}
        checked={many > 0 && many === all.length}
        indeterminate={many > 0 && many < all.length}
        onChange={() => (checkedIds.value = new Set(many > 0 ? [] : all))}
      />
      {many === 0 ? (
        <span>{pendingCount.value === 1 ? "1 ask waits" : `${pendingCount.value.toLocaleString()} asks wait`}</span>
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
  return (
    <div class="nothing">
      <p>{isLoaded.value ? "Nothing waits for a decision." : "Looking…"}</p>
      {isLoaded.value && <small>New asks appear here by themselves.</small>}
    </div>
  );
}
