import { useSignal } from "@preact/signals";
import { signOutPages } from "../../contract/routes/tokens.ts";
import { usePage, useUser } from "../context.ts";
import { OPERATOR } from "../rules/rule-list.ts";
import { Dialog } from "../shared/elements/dialog.tsx";
import { reasonOf } from "../shared/reason.ts";

/** Signs out this page, or all pages. */
export function SignInSettings() {
  const { signOut } = usePage();
  const { caller } = useUser();
  const isAsking = useSignal(false);
  return (
    <section class="setting" aria-labelledby="sign-in">
      <h2 id="sign-in">Signed in as {caller.name}</h2>
      <div class="dialog-actions">
        <button type="button" class="button" onClick={() => void signOut()}>
          Sign this page out
        </button>
        {caller.name === OPERATOR && (
          <button type="button" class="button" onClick={() => (isAsking.value = true)}>
            Sign out everywhere…
          </button>
        )}
      </div>
      {isAsking.value && <EverywhereDialog onClose={() => (isAsking.value = false)} />}
    </section>
  );
}

function EverywhereDialog({ onClose }: { onClose: () => void }) {
  const { api, signOut } = usePage();
  const problem = useSignal("");
  const submit = async (event: Event) => {
    event.preventDefault();
    try {
      await api.call(signOutPages, { query: { kind: "web" } });
      await signOut();
    } catch (cause) {
      problem.value = reasonOf(cause);
    }
  };
  return (
    <Dialog title="Sign out everywhere?" onClose={onClose}>
      <form onSubmit={submit}>
        <p>Every page of everybody is signed out, this one too, and links that were not opened yet work no more.</p>
        <p class="problem" role="alert">
          {problem}
        </p>
        <div class="dialog-actions">
          <button type="submit" class="button danger">
            Sign out everywhere
          </button>
          <button type="button" class="button" onClick={onClose}>
            Cancel
          </button>
        </div>
      </form>
    </Dialog>
  );
}
