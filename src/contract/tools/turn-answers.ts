import { z } from "zod";
import { Approval } from "../approvals/approval.ts";
import { Place, TurnCancelled } from "../sessions/answers.ts";
import { TurnSummary } from "../sessions/session-view.ts";
import { CutEvent, SessionStatus, TurnEvent, Usage } from "../sessions/turn.ts";
import { Id } from "../values.ts";
import { NextStep } from "./next-step.ts";

const next = NextStep;
const pending = { pending_approvals: z.array(Approval), more_pending: z.literal(true).optional() };

export const StartAnswer = z.discriminatedUnion("type", [
  z.strictObject({ type: z.literal("started"), session_id: Id, next }),
  z.strictObject({ type: z.literal("queued"), session_id: Id, place: Place, next }),
]);

export const ChatAnswer = z.strictObject({
  type: z.literal("ok"),
  session_id: Id,
  status: SessionStatus,
  place: Place.optional(),
  text: z.string(),
  error: z.string().nullable(),
  ...pending,
  usage: Usage.nullable(),
  next,
});

/** An event by its number; one that is too long is cut, and says so. */
export const ToldEvent = z.strictObject({ seq: z.int().nonnegative(), event: TurnEvent.or(CutEvent) });
export type ToldEvent = z.infer<typeof ToldEvent>;

export const PollAnswer = z.strictObject({
  type: z.literal("ok"),
  status: SessionStatus,
  events: z.array(ToldEvent),
  ...pending,
  read_position: z.int().nonnegative(),
  total_events: z.int().nonnegative(),
  has_more: z.boolean(),
  next,
});

export const CancelAnswer = TurnCancelled.strict();

/** A turn as a parent sees it; `unasked` is there only where calls ran without a decision. */
const Stream = TurnSummary.omit({ usage: true, ephemeral: true, unasked: true }).extend({
  read_position: z.int().nonnegative(),
  unasked: z.int().positive().optional(),
});
export const StreamsAnswer = z.strictObject({ type: z.literal("ok"), streams: z.array(Stream) });
