import { useSignal } from "@preact/signals";
import { chat } from "../../contract/routes/sessions.ts";
import { usePage } from "../context.ts";
import { reasonOf } from "../shared/reason.ts";

type Props = { id: string; isRunning: boolean; isQueued: boolean; onSent: () => Promise<void> };

/** Sends the next prompt to a session; one turn at a time. */
export function ChatBox({ id, isRunning, isQueued, onSent }: Props) {
  const { api, announcer } = usePage();
  const prompt = useSignal("");
  const isBusy = useSignal(false);
  const submit = async (event: Event) => {
    event.preventDefault();
    if (prompt.value.trim() === "" || isRunning || isBusy.value) return;
    isBusy.value = true;
    try {
      await api.call(chat, { params: { key: id }, body: { prompt: prompt.value } });
      prompt.value = "";
      await onSent();
    } catch (cause) {
      announcer.complain(reasonOf(cause));
    } finally {
      isBusy.value = false;
    }
  };
  const onKey = (event: KeyboardEvent) => {
    if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) void submit(event);
  };
  const inTheWay = isQueued ? "A turn is queued…" : "A turn is running…";
  const placeholder = isRunning ? inTheWay : "What to do next (Ctrl+Enter sends)";
  return (
    <form class="chat-box" onSubmit={submit}>
      <label class="unseen" for="chat">
        Prompt
      </label>
      <textarea
        id="chat"
        rows={2}
        placeholder={placeholder}
        value={prompt}
        onInput={({ currentTarget }) => (prompt.value = currentTarget.value)}
        onKeyDown={onKey}
      />
      <button type="submit" class="button primary" disabled={isRunning || isBusy.value}>
        Send
      </button>
    </form>
  );
}
