import { type Aside, COMMENT, canResume, createAside, idEvent } from "../streams.ts";
import { callEventId } from "./event-id.ts";
import { toolCallIn } from "./tool-call.ts";

type Beginning = { first: string; aside?: Aside; onEventId?: (id: string) => void };

/** The beginning of an answer. For a tool call it contains an id by which another process can resume the call. */
export function beginAnswer(request: Request, message: unknown, retryMs: number): Beginning {
  const call = canResume(request) ? toolCallIn(message) : undefined;
  const eventId = call && callEventId(call);
  if (!eventId) return { first: COMMENT };
  const aside = createAside();
  return { first: idEvent(eventId, retryMs), aside, onEventId: (id) => aside.say(idEvent(id, retryMs)) };
}
