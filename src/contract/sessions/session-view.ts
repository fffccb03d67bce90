import { z } from "zod";
import { Id, UnixSeconds } from "../values.ts";
import { SessionConfig, SessionKind } from "./session.ts";
import { Place, SessionStatus, TurnEvent, TurnStatus, Usage } from "./turn.ts";

const Head = z.strictObject({ tree_id: Id, node_id: Id }).nullable();

/** A session in a list. */
export const SessionSummary = z.strictObject({
  id: Id,
  name: z.string(),
  kind: SessionKind,
  status: SessionStatus,
  working_dir: z.string().nullable(),
  created_at: UnixSeconds,
  owner: z.string(),
  /** The cost of its own turns; a fork begins at 0. */
  cost_usd: z.number(),
  /** The latest of: its creation, the end of its newest turn, and its child's last output or request. */
  last_activity_at: UnixSeconds,
  claude_session_id: z.string().nullable(),
  forked_from: z.string().optional(),
  /** For a fork, its parent session, which may be deleted. */
  origin_id: Id.optional(),
  last_turn: z
    .strictObject({ id: Id, status: TurnStatus, started_at: UnixSeconds, ended_at: UnixSeconds.nullable() })
    .nullable(),
  /** The number of its pending requests. */
  pending: z.int(),
});
export type SessionSummary = z.infer<typeof SessionSummary>;

/** Everything about a session; the settings are absent for a claude started by hand. */
export const SessionDetail = SessionConfig.partial().extend({
  id: Id,
  name: z.string(),
  kind: SessionKind,
  status: SessionStatus,
  /** While a turn is queued. */
  place: Place.optional(),
  head: Head,
  claude_session_id: z.string().nullable(),
  /** The same as `cost_usd` in a list. */
  total_cost_usd: z.number(),
  created_at: UnixSeconds,
});
export type SessionDetail = z.infer<typeof SessionDetail>;

/** A turn as the API shows it. */
export const TurnSummary = z.strictObject({
  turn_id: Id,
  session_id: Id,
  status: TurnStatus,
  event_count: z.int(),
  started_at: UnixSeconds,
  ended_at: UnixSeconds.nullable(),
  error: z.string().nullable(),
  usage: Usage.nullable(),
  /** How many of its calls ran that Plexus had not allowed. */
  unasked: z.int(),
  ephemeral: z.boolean(),
});
export type TurnSummary = z.infer<typeof TurnSummary>;

/** One event of a session's stream, with its turn and its number in that turn. */
export const SessionEvent = z.strictObject({
  turn_id: Id,
  seq: z.int().nonnegative(),
  /** When it was stored; absent if an earlier version stored it. */
  at: UnixSeconds.optional(),
  event: TurnEvent,
});
export type SessionEvent = z.infer<typeof SessionEvent>;
