import { useSignal } from "@preact/signals";
import { deleteSession, forkSession } from "../../contract/routes/sessions.ts";
import type { SessionDetail } from "../../contract/sessions/session-view.ts";
import { MAX_NAME_CHARS } from "../../contract/values.ts";
import { usePage } from "../context.ts";
import { Dialog } from "../shared/elements/dialog.tsx";
import { reasonOf } from "../shared/reason.ts";
import { linkTo } from "../shared/route.ts";

type Props = { session: SessionDetail; onClose: () => void };

/** Forks the session. */
export function ForkDialog({ session, onClose }: Props) {
  const { api } = usePage();
  const name = useSignal(`${session.name} fork`);
  const problem = useSignal("");
  const submit = async (event: Event) => {
    event.preventDefault();
    try {
      const body = { new_name: name.value.trim() };
      const { id } = await api.call(forkSession, { params: { key: session.id }, body });
      onClose();
      location.hash = linkTo.session(id);
    } catch (cause) {
      problem.value = reasonOf(cause);
    }
  };
  return (
    <Dialog title={`Fork ${session.name}`} onClose={onClose}>
      <form onSubmit={submit}>
        <label for="fork-name">Name of the new session; it has the whole conversation so far</label>
        <input
          id="fork-name"
          type="text"
          required
          maxLength={MAX_NAME_CHARS}
          value={name}
          onInput={({ currentTarget }) => (name.value = currentTarget.value)}
        />
        <Buttons action="Fork" kind="primary" problem={problem.value} onClose={onClose} />
      </form>
    </Dialog>
  );
}

export function DeleteDialog({ session, onClose }: Props) {
  const { api } = usePage();
  const problem = useSignal("");
  const submit = async (event: Event) => {
    event.preventDefault();
    try {
      await api.call(deleteSession, { params: { key: session.id } });
      onClose();
      location.hash = linkTo.sessions;
    } catch (cause) {
      problem.value = reasonOf(cause);
    }
  };
  return (
    <Dialog title={`Delete ${session.name}?`} onClose={onClose}>
      <form onSubmit={submit}>
        <p>What runs in it ends, and its conversation is forgotten. The decisions stay on record.</p>
        <Buttons action="Delete" kind="danger" problem={problem.value} onClose={onClose} />
      </form>
    </Dialog>
  );
}

type ButtonsProps = { action: string; kind: "primary" | "danger"; problem: string; onClose: () => void };

function Buttons({ action, kind, problem, onClose }: ButtonsProps) {
  return (
    <>
      <p class="problem" role="alert">
        {problem}
      </p>
      <div class="dialog-actions">
        <button type="submit" class={`button ${kind}`}>
          {action}
        </button>
        <button type="button" class="button" onClick={onClose}>
          Cancel
        </button>
      </div>
    </>
  );
}
