import { useSignal } from "@preact/signals";
import { startDemo } from "../../contract/routes/demo.ts";
import { usePage } from "../context.ts";
import { reasonOf } from "../shared/reason.ts";
import { linkTo } from "../shared/route.ts";

/** Starts a demo. Its request appears in the inbox by itself. */
export function TryDemo() {
  const { api, announcer } = usePage();
  const isStarting = useSignal(false);
  const start = async () => {
    isStarting.value = true;
    try {
      const { session_id, name, kept_secs } = await api.call(startDemo);
      const minutes = Math.ceil(kept_secs / 60);
      announcer.note({
        text: `${name} starts. It is removed ${minutes} minutes after its end; your decision stays in the history.`,
        link: { to: linkTo.session(session_id), name: "Its session" },
      });
    } catch (cause) {
      announcer.complain(`No demo could be started: ${reasonOf(cause)}`);
      isStarting.value = false;
    }
  };
  return (
    <button type="button" class="button small" disabled={isStarting.value} onClick={() => void start()}>
      {isStarting.value ? "Starting…" : "Try a demo request"}
    </button>
  );
}
