import type { App } from "../../app.ts";
import { followEvents } from "../../contract/routes/events.ts";
import { PENDING } from "../../contract/samples.ts";
import { cutChange } from "../../contract/text/cut.ts";
import { type Served, serve } from "../serve.ts";
import { eventsFrom, unknownEventId } from "../streams/events.ts";

export type EventsApp = Pick<App, "eventFeed" | "approvalViews">;

/** Numbered server-sent events; with `Last-Event-ID`, a reader continues where it stopped. */
export function eventRoutes({ eventFeed, approvalViews }: EventsApp): Served[] {
  return [
    serve(followEvents, {
      tag: "Events",
      summary: "Asks, decisions, and the beginning and end of turns",
      details:
        "`Last-Event-ID` (or `last_event_id`) goes on behind that id, without a gap. Webhooks are told the same.",
      events: {
        says: "Server-sent events.",
        example: {
          id: 7,
          type: "approval_requested",
          data: {
            type: "approval_requested",
            approval_id: PENDING.id,
            session_name: PENDING.session_name,
            tool_name: PENDING.tool_name,
            tool_use_id: PENDING.tool_use_id,
            tool_input: PENDING.input,
            session_id: PENDING.session_id,
            created_at: PENDING.created_at,
            expires_at: PENDING.expires_at,
            cwd: PENDING.cwd,
            said: PENDING.said,
          },
        },
      },
    }).by(async ({ principal, query, c }) => {
      const after = readEventId(c.req.header("last-event-id") ?? query.last_event_id);
      return eventsFrom({
        stream: "events",
        async *follow(signal) {
          for await (const { id, event } of eventFeed.follow(principal, after, signal))
            yield { id, event: await approvalViews.withContext(event) };
        },
        sent: ({ id, event }) => ({ id, type: event.type, data: cutChange(event) }),
      });
    }),
  ];
}

function readEventId(given: string | undefined): number | undefined {
  if (given === undefined || given === "") return undefined;
  const id = /^\d+$/.test(given) ? Number(given) : undefined;
  if (!Number.isSafeInteger(id)) throw unknownEventId();
  return id;
}
