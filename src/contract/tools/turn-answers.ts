import { z } from "zod";
import { Approval, ToldApproval } from "../approvals/approval.ts";
import { ErrorResult } from "../refusals/errors.ts";
import { opened, TurnCancelled } from "../sessions/answers.ts";
import { ChatStanding, Queued, Started } from "../sessions/chat-answers.ts";
import { TurnSummary } from "../sessions/session-view.ts";
import { CutEvent, SessionStatus, TurnEvent } from "../sessions/turn.ts";
import { Id } from "../values.ts";
import { NextStep } from "./next-step.ts";
import { Cursor, WaitAnswer } from "./wait-answers.ts";

const next = NextStep;
/** There are more pending approvals than fit. */
const more_pending = z.literal(true).optional();

export const StartAnswer = z.discriminatedUnion("type", [
  Started.extend({ cursor: Cursor, next }).strict(),
  Queued.extend({ cursor: Cursor, next }).strict(),
]);

const pending_approvals = z.array(Approval);

export const ChatAnswer = ChatStanding.extend({
  pending_approvals: z.array(ToldApproval),
  more_pending,
  cursor: Cursor,
  next: next.optional(),
}).strict();

/** For each child, whether its turn began; then what the caller waited for, as in `loopback_wait`. */
const Several = z.strictObject({
  type: z.literal("started"),
  sessions: z.array(
    z.union([
      z.strictObject({ name: z.string(), session_id: Id, ...opened }),
      z.strictObject({ name: z.string(), error: ErrorResult.omit({ type: true }) }),
    ]),
  ),
  wait: WaitAnswer,
});
export type StartedChildren = z.infer<typeof Several>;
export const RunAnswer = z.union([ChatAnswer.extend(opened), Several]);

/** An event with its number; a long one is shortened and says so. */
export const ToldEvent = z.strictObject({ seq: z.int().nonnegative(), event: TurnEvent.or(CutEvent) });
export type ToldEvent = z.infer<typeof ToldEvent>;

const polled = {
  pending_approvals,
  more_pending,
  read_position: z.int().nonnegative(),
  has_more: z.boolean(),
  next: next.optional(),
};
export const EventsAnswer = z.strictObject({
  type: z.literal("ok"),
  status: SessionStatus,
  events: z.array(ToldEvent),
  ...polled,
  total_events: z.int().nonnegative(),
});
/** A call with its decision and its result; null while there is none. */
const CallSummary = z.strictObject({
  seq: z.int().nonnegative(),
  tool: z.string(),
  input: z.string(),
  decision: z.string().nullable(),
  result: z.string().nullable(),
});
export const SummaryAnswer = z.strictObject({
  type: z.literal("ok"),
  status: SessionStatus,
  calls: z.array(CallSummary),
  /** The child's last message; while the turn runs, empty if there is none since the last poll. */
  text: z.string(),
  error: z.string().nullable(),
  ...polled,
});
export const PollAnswer = z.union([EventsAnswer, SummaryAnswer]);

export const CancelAnswer = TurnCancelled.strict();

/** A turn as a parent sees it; `unasked` is absent if no call ran without a decision. */
const Stream = TurnSummary.omit({ usage: true, ephemeral: true, unasked: true }).extend({
  read_position: z.int().nonnegative(),
  unasked: z.int().positive().optional(),
});
export const StreamsAnswer = z.strictObject({ type: z.literal("ok"), streams: z.array(Stream) });
