import { z } from "zod";
import { ChangeEvent } from "../contract/change.ts";
import { followEvents } from "../contract/routes/events.ts";
import { followSession } from "../contract/routes/turns.ts";
import { SessionEvent } from "../contract/sessions/session-view.ts";
import type { Api } from "./api.ts";
import { createEventStream, type EventStreamNeed } from "./event-stream.ts";

type Feed = Omit<EventStreamNeed, "open"> & { api: Api };

/** Yields the server's events; skips unknown events of a newer server. */
export async function* changesOf({ api, ...feed }: Feed): AsyncGenerator<ChangeEvent> {
  for await (const told of createEventStream({ ...feed, open: (options) => api.open(followEvents, {}, options) })) {
    const event = ChangeEvent.safeParse(told).data;
    if (event) yield event;
  }
}

/** An event of a session, of any type: a newer server may have more types. */
const SessionFeedEvent = SessionEvent.extend({ event: z.looseObject({ type: z.string() }) });
export type SessionFeedEvent = z.infer<typeof SessionFeedEvent>;

type SessionFeed = Feed & {
  /** The session's id or name. */
  session: string;
  turnId?: string | undefined;
  /** Whether to wait for further events. */
  isLive: boolean;
};

/** Yields a session's events; `undefined` for one that can't be parsed. */
export async function* sessionEvents(need: SessionFeed): AsyncGenerator<SessionFeedEvent | undefined> {
  const { api, session, turnId, isLive, ...feed } = need;
  const sent = { params: { key: session }, query: { turn_id: turnId, follow: isLive ? "true" : "false" } } as const;
  const open = (options: Parameters<EventStreamNeed["open"]>[0]) => api.open(followSession, sent, options);
  const told = createEventStream({ ...feed, endsWithResponse: !isLive, open });
  for await (const event of told) yield SessionFeedEvent.safeParse(event).data;
}
