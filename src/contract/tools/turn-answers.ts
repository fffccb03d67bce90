import { z } from "zod";
import { TurnCancelled } from "../sessions/answers.ts";
import { ChatStanding, Queued, Started } from "../sessions/chat-answers.ts";
import { TurnSummary } from "../sessions/session-view.ts";
import { CutEvent, SessionStatus, TurnEvent } from "../sessions/turn.ts";
import { NextStep } from "./next-step.ts";

const next = NextStep;
/** There are pending approvals that did not fit. */
const more_pending = z.literal(true).optional();

export const StartAnswer = z.discriminatedUnion("type", [
  Started.extend({ next }).strict(),
  Queued.extend({ next }).strict(),
]);

export const ChatAnswer = ChatStanding.extend({ more_pending, next }).strict();

/** An event by its number; one that is too long is cut, and says so. */
export const ToldEvent = z.strictObject({ seq: z.int().nonnegative(), event: TurnEvent.or(CutEvent) });
export type ToldEvent = z.infer<typeof ToldEvent>;

export const PollAnswer = z.strictObject({
  type: z.literal("ok"),
  status: SessionStatus,
  events: z.array(ToldEvent),
  pending_approvals: ChatStanding.shape.pending_approvals,
  more_pending,
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
