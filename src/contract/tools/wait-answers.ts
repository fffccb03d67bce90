import { z } from "zod";
import { Approval, ToldApproval } from "../approvals/approval.ts";
import { TurnStatus } from "../sessions/turn.ts";
import { Id } from "../values.ts";
import { NextStep } from "./next-step.ts";

const count = z.int().nonnegative();

/** A turn that has ended, with the child's last message, cut at 2,000 characters, and what became of its requests. */
export const Finished = z.strictObject({
  session_id: Id,
  name: z.string(),
  turn_id: Id,
  status: TurnStatus,
  text: z.string(),
  error: z.string().nullable(),
  /** Each request of the turn is in one of these, whoever decided it: a parent, a person, or a rule that somebody made. */
  asks: z.strictObject({
    allowed: count,
    denied: count,
    timed_out: count,
    abandoned: count,
    /** Decided by built-in rules, which nobody made. */
    builtin: count,
    /** Calls that ran although Plexus had not allowed them. */
    unasked: count,
  }),
  /** `null` where Claude Code has not told it. */
  cost_usd: z.number().nullable(),
  num_turns: count.nullable(),
});
export type Finished = z.infer<typeof Finished>;

/** A turn that runs or is queued, and for how many seconds its child has said nothing: 0 while it waits for a decision. */
export const Running = z.strictObject({
  /** Left out of a time-out, where it would be said again and again, if the name says which of the caller's own sessions it is. */
  session_id: Id.optional(),
  name: z.string(),
  status: TurnStatus,
  silent_secs: count,
});
export type Running = z.infer<typeof Running>;

/** Up to where the caller has been told of ends. */
export const Cursor = z.int().nonnegative();

const something = z.strictObject({
  type: z.literal("ok"),
  approvals: z.array(Approval),
  finished: z.array(Finished),
  running: z.array(Running),
  /** Not everything fitted: the next call has more. */
  has_more: z.boolean(),
  cursor: Cursor,
});
const timeout = z.strictObject({ type: z.literal("timeout"), running: z.array(Running), cursor: Cursor });
const idle = z.strictObject({ type: z.literal("idle"), cursor: Cursor });

/** What somebody who waits is told. */
export const Waited = z.discriminatedUnion("type", [something, timeout, idle]);
export type Waited = z.infer<typeof Waited>;

export const WaitAnswer = z.discriminatedUnion("type", [
  something.extend({
    approvals: z.array(ToldApproval),
    /** There only where it is so. */
    has_more: z.literal(true).optional(),
    next: NextStep,
  }),
  /** What to do where nobody runs. */
  timeout.extend({ next: NextStep.optional() }),
  idle.extend({ next: NextStep }),
]);
export type WaitAnswer = z.infer<typeof WaitAnswer>;
/** The same where there is something to do. */
export type WaitedFor = Extract<WaitAnswer, { type: "ok" }>;
