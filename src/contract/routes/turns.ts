import { z } from "zod";
import { SessionEvent, TurnSummary } from "../sessions/session-view.ts";
import { TranscriptHit } from "../sessions/transcript-hit.ts";
import { TurnStatus } from "../sessions/turn.ts";
import { Id, MAX_SEARCH_CHARS, UnixSeconds } from "../values.ts";
import { PageQuery, page } from "./declaration/paging.ts";
import { queryNumber } from "./declaration/query.ts";
import { route } from "./declaration/route.ts";

const EventsQuery = PageQuery.omit({ cursor: true }).extend({
  from_seq: queryNumber().int().nonnegative().default(0),
});
const SearchQuery = z.strictObject({
  search: z.string().min(1).max(MAX_SEARCH_CHARS),
  ...PageQuery.shape,
});
const FollowQuery = z.strictObject({
  turn_id: Id.optional(),
  last_event_id: z.string().optional(),
  follow: z.enum(["true", "false"]).default("true"),
});
const { seq, at, event } = SessionEvent.shape;
const NumberedEvent = z.strictObject({ seq, at, event });

export const TurnList = z.object({ type: z.literal("ok"), turns: z.array(TurnSummary), ...page });
export const OneTurn = z.object({
  type: z.literal("ok"),
  turn: TurnSummary,
  /** The turn's prompt; null for an ephemeral turn that has begun. */
  prompt: z.string().nullable(),
});
export const TranscriptHits = z.object({
  type: z.literal("ok"),
  hits: z.array(TranscriptHit),
  ...page,
  /** For a search that continues: all turns that began after this time were searched. */
  searched_back_to: UnixSeconds.optional(),
});
export const TurnEvents = z.object({
  type: z.literal("ok"),
  turn_id: Id,
  status: TurnStatus,
  events: z.array(NumberedEvent),
  total_events: z.int(),
  has_more: z.boolean(),
});

export const listTurns = route("GET", "/api/v1/sessions/:key/turns", { query: PageQuery, answer: TurnList });
export const followSession = route("GET", "/api/v1/sessions/:key/events", { query: FollowQuery, events: SessionEvent });
export const searchSession = route("GET", "/api/v1/sessions/:key/search", {
  query: SearchQuery,
  answer: TranscriptHits,
});
export const getTurn = route("GET", "/api/v1/turns/:turn_id", { answer: OneTurn });
export const listTurnEvents = route("GET", "/api/v1/turns/:turn_id/events", { query: EventsQuery, answer: TurnEvents });
