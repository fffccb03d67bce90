import { useSignal } from "@preact/signals";
import { chat, createSession } from "../../contract/routes/sessions.ts";
import { SUPERVISION_MEANING, Supervision } from "../../contract/sessions/supervision.ts";
import { MAX_NAME_CHARS } from "../../contract/values.ts";
import { usePage } from "../context.ts";
import { Dialog } from "../shared/elements/dialog.tsx";
import { reasonOf } from "../shared/reason.ts";
import { linkTo } from "../shared/route.ts";

/** Makes a session, and gives it its first work. */
export function StartDialog({ onClose }: { onClose: () => void }) {
  const { api } = usePage();
  const problem = useSignal("");
  const isBusy = useSignal(false);
  const submit = async (event: SubmitEvent) => {
    event.preventDefault();
    if (!(event.currentTarget instanceof HTMLFormElement)) return;
    const form = new FormData(event.currentTarget);
    const field = (name: string) => String(form.get(name) ?? "").trim();
    isBusy.value = true;
    problem.value = "";
    try {
      const { id } = await api.call(createSession, {
        body: {
          name: field("name"),
          working_dir: field("working_dir") || null,
          model: field("model") || null,
          supervision: Supervision.parse(field("supervision")),
        },
      });
      const prompt = field("prompt");
      if (prompt) await api.call(chat, { params: { key: id }, body: { prompt } });
      location.hash = linkTo.session(id);
      onClose();
    } catch (cause) {
      problem.value = reasonOf(cause);
    } finally {
      isBusy.value = false;
    }
  };
  return (
    <Dialog title="New session" onClose={onClose}>
      <form onSubmit={submit}>
        <label for="name">Name</label>
        <input id="name" name="name" type="text" required maxLength={MAX_NAME_CHARS} autocomplete="off" />
        <label for="working_dir">Working directory (else where the server was started)</label>
        <input id="working_dir" name="working_dir" type="text" autocomplete="off" spellcheck={false} />
        <label for="model">Model (else Claude Code's own choice)</label>
        <input id="model" name="model" type="text" autocomplete="off" spellcheck={false} />
        <label for="supervision">Supervision</label>
        <select id="supervision" name="supervision" defaultValue="default">
          {Supervision.options.map((option) => (
            <option key={option} value={option} selected={option === "default"}>
              {`${option}: ${SUPERVISION_MEANING[option]}`}
            </option>
          ))}
        </select>
        <label for="prompt">First prompt</label>
        <textarea id="prompt" name="prompt" rows={4} />
        <p class="problem" role="alert">
          {problem}
        </p>
        <div class="dialog-actions">
          <button type="submit" class="button primary" disabled={isBusy}>
            Start
          </button>
          <button type="button" class="button" onClick={onClose}>
            Cancel
          </button>
        </div>
      </form>
    </Dialog>
  );
}
