import type { App, Session } from "../../../app.ts";
import { followSession, getTurn, listTurnEvents, listTurns, searchSession } from "../../../contract/routes/turns.ts";
import { ASKED_AT, SESSION_ID, TURN_ID } from "../../../contract/samples.ts";
import type { TurnSummary } from "../../../contract/sessions/session-view.ts";
import type { TranscriptHit } from "../../../contract/sessions/transcript-hit.ts";
import { seconds } from "../../../contract/values.ts";
import { type Served, serve } from "../../serve.ts";
import { eventsFrom, unknownEventId } from "../../streams/events.ts";
import { lastPage, pageOf } from "../paging.ts";
import { sessionParams } from "./session-params.ts";

export type TurnsApp = Pick<App, "sessions" | "sessionViews" | "sessionStream" | "promptOf" | "transcriptSearch">;

const params = { turn_id: "The turn's id" };
const EXAMPLE: TurnSummary = {
  turn_id: TURN_ID,
  session_id: SESSION_ID,
  status: "complete",
  event_count: 12,
  started_at: ASKED_AT - 1,
  ended_at: ASKED_AT + 1,
  error: null,
  usage: { input_tokens: 1200, output_tokens: 340, cost_usd: 0.021, num_turns: 3 },
  unasked: 0,
  ephemeral: false,
};

const HIT: TranscriptHit = {
  turn_id: TURN_ID,
  seq: 4,
  at: ASKED_AT,
  type: "content",
  excerpt: "hello.txt is there.",
};

/** Turns, and all their events. */
export function turnRoutes({ sessions, sessionViews, sessionStream, promptOf, transcriptSearch }: TurnsApp): Served[] {
  return [
    serve(listTurns, {
      tag: "Sessions",
      summary: "The turns of a session, newest first",
      params: sessionParams,
      answer: { says: "A page of them.", example: { type: "ok", turns: [EXAMPLE], ...lastPage } },
    }).by(async ({ principal, params, query }) => {
      const session = await sessions.require(principal, params.key);
      const found = await sessionViews.turns(session, query);
      return { type: "ok", turns: found.turns, ...pageOf(found) };
    }),
    serve(searchSession, {
      tag: "Sessions",
      summary: "Searches all turns of a session, the newest event first",
      params: sessionParams,
      details:
        "A literal text, in any case, in prompts, messages, thinking, calls, results, decisions and errors; not in what the CLI " +
        "says of itself. A text that came in pieces is one. An answer takes no longer than about half a second: it may have " +
        "fewer hits than `limit`, or none, while `has_more` is true. Go on with its `cursor`. `excerpt` is untrusted text of a child.",
      answer: { says: "Where it was found.", example: { type: "ok", hits: [HIT], ...lastPage } },
    }).by(async ({ principal, params, query }) => {
      const session = await sessions.require(principal, params.key);
      const { hits, cursor, searchedBackTo } = await transcriptSearch(session, query);
      const searched_back_to = searchedBackTo === undefined ? undefined : seconds(searchedBackTo);
      return {
        type: "ok",
        hits,
        ...pageOf({ cursor }),
        ...(searched_back_to !== undefined && { searched_back_to }),
      };
    }),
    serve(followSession, {
      tag: "Events",
      summary: "What one session does, turn after turn",
      params: sessionParams,
      details: "`Last-Event-ID` (or `last_event_id`) goes on right behind it, without a gap.",
      events: {
        says: "Server-sent events.",
        example: {
          id: `${TURN_ID}~4`,
          type: "content",
          data: { turn_id: TURN_ID, seq: 4, at: ASKED_AT, event: { type: "content", text: "hello.txt is there." } },
        },
      },
    }).by(async ({ principal, params, query, c }) => {
      const session = await sessions.require(principal, params.key);
      const last = c.req.header("last-event-id") || query.last_event_id;
      const from = last ? await positionBehind(session, last) : await sessionStream.beginning(session, query.turn_id);
      return eventsFrom({
        stream: "session",
        follow: (signal) => sessionStream.follow(session, from, { isLive: query.follow === "true", signal }),
        sent: (event) => ({ id: `${event.turn_id}~${event.seq}`, type: event.event.type, data: event }),
      });
    }),
    serve(getTurn, {
      tag: "Turns",
      summary: "One turn, with its prompt",
      params,
      answer: { says: "The turn.", example: { type: "ok", turn: EXAMPLE, prompt: "Make hello.txt" } },
    }).by(async ({ principal, params }) => {
      const turn = await sessionStream.requireTurn(principal, params.turn_id);
      return { type: "ok", turn: await sessionViews.turn(turn), prompt: (await promptOf(turn.id)) ?? null };
    }),
    serve(listTurnEvents, {
      tag: "Turns",
      summary: "The events of a turn, whole, in order",
      params,
      answer: {
        says: "A page of them.",
        example: {
          type: "ok",
          turn_id: TURN_ID,
          status: "complete",
          events: [{ seq: 4, at: ASKED_AT, event: { type: "content", text: "hello.txt is there." } }],
          total_events: 12,
          has_more: true,
        },
      },
    }).by(async ({ principal, params, query }) => {
      const turn = await sessionStream.requireTurn(principal, params.turn_id);
      const events = await sessionStream.page(turn, query.from_seq, query.limit);
      const { status, event_count } = await sessionViews.turn(turn);
      const has_more = (events.at(-1)?.seq ?? event_count) + 1 < event_count;
      return { type: "ok", turn_id: turn.id, status, events, total_events: event_count, has_more };
    }),
  ];

  async function positionBehind(session: Session, lastEventId: string) {
    const [, turnId = "", seq] = /^([^~]{1,64})~(\d{1,15})$/.exec(lastEventId) ?? [];
    const position = await sessionStream.behind(session, { turnId, seq: Number(seq) });
    if (position) return position;
    throw unknownEventId();
  }
}
