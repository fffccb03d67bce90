import { z } from "zod";
import { Id, UnixSeconds } from "../values.ts";
import { SessionConfig, SessionKind } from "./session.ts";
import { SessionStatus, TurnEvent, TurnStatus, Usage } from "./turn.ts";

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
  /** What its own turns have cost; a fork begins at 0. */
  cost_usd: z.number(),
  /** When its newest turn ended, its child last said something or asked, or it was made. */
  last_activity_at: UnixSeconds,
  claude_session_id: z.string().nullable(),
  forked_from: z.string().optional(),
  /** Of a fork, the session that it went on from, which may be deleted by now. */
  origin_id: Id.optional(),
  last_turn: z
    .strictObject({ id: Id, status: TurnStatus, started_at: UnixSeconds, ended_at: UnixSeconds.nullable() })
    .nullable(),
  /** How many of its requests need approval. */
  pending: z.int(),
});
export type SessionSummary = z.infer<typeof SessionSummary>;

/** Everything about a session; that of a claude started by hand has no settings. */
export const SessionDetail = SessionConfig.partial().extend({
  id: Id,
  name: z.string(),
  kind: SessionKind,
  status: SessionStatus,
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
  /** How many of its calls ran although Plexus had not allowed them. */
  unasked: z.int(),
  ephemeral: z.boolean(),
});
export type TurnSummary = z.infer<typeof TurnSummary>;

/** One event of a session's stream, with its turn and its number in that turn. */
export const SessionEvent = z.strictObject({ turn_id: Id, seq: z.int().nonnegative(), event: TurnEvent });
export type SessionEvent = z.infer<typeof SessionEvent>;
