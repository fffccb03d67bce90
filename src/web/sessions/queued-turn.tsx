import { useEffect } from "preact/hooks";
import type { SessionDetail } from "../../contract/sessions/session-view.ts";
import { useUser } from "../context.ts";
import { Fold } from "../shared/elements/fold.tsx";
import { Markdown } from "../shared/markdown/markdown.tsx";
import type { Transcript } from "./transcript/transcript.ts";

/** Look again at this interval: the place may change with turns that this person does not see. */
const LOOK_AGAIN_MS = 5_000;

/** A queued turn with its place in the queue and its prompt. */
export function QueuedTurn({ transcript, session }: { transcript: Transcript; session: SessionDetail }) {
  const { turnChanges } = useUser().live;
  const changes = turnChanges.value;
  const turnId = transcript.turns.value.at(-1)?.turn_id;
  useEffect(() => void transcript.refresh(), [changes]);
  useEffect(() => {
    const timer = setInterval(() => void transcript.refresh(), LOOK_AGAIN_MS);
    return () => clearInterval(timer);
  }, []);
  const prompt = turnId && transcript.promptOf(turnId).value;
  return (
    <div class="queued">
      <p role="status">{placeWords(session.place)}</p>
      {prompt && (
        <Fold class="queued-prompt" summary="Its prompt">
          {() => <Markdown text={prompt} label="Prompt" />}
        </Fold>
      )}
    </div>
  );
}

function placeWords(place: number | undefined): string {
  if (place === 1) return "Queued: it starts next, as soon as a child that runs has ended.";
  return `Queued, in place ${place ?? "…"}: it starts by itself when children that run have ended.`;
}
