import { z } from "zod";
import { Approval, ToldApproval } from "../approvals/approval.ts";
import { TurnStatus } from "../sessions/turn.ts";
import { Id } from "../values.ts";
import { NextStep } from "./next-step.ts";

const count = z.int().nonnegative();

/** An ended turn, with the child's last message, limited to 2,000 characters, and the outcomes of its requests. */
export const Finished = z.strictObject({
  session_id: Id,
  name: z.string(),
  turn_id: Id,
  status: TurnStatus,
  text: z.string(),
  error: z.string().nullable(),
  /** Counts every request of the turn once, whoever decided it: a parent, a person, or a rule that somebody created. */
  asks: z.strictObject({
    allowed: count,
    denied: count,
    timed_out: count,
    abandoned: count,
    /** Decided by built-in rules. */
    builtin: count,
    /** Calls that ran although Plexus had not allowed them. */
    unasked: count,
  }),
  /** `null` if Claude Code did not report it. */
  cost_usd: z.number().nullable(),
  num_turns: count.nullable(),
});
export type Finished = z.infer<typeof Finished>;

/** A running or queued turn, and the seconds since its child's last output: 0 while it waits for a decision. */
export const Running = z.strictObject({
  /** A time-out, which may repeat often, leaves it out if the name identifies one of the caller's own sessions. */
  session_id: Id.optional(),
  name: z.string(),
  status: TurnStatus,
  silent_secs: count,
});
export type Running = z.infer<typeof Running>;

/** The last end of a turn that the caller has seen. */
export const Cursor = z.int().nonnegative();

const something = z.strictObject({
  type: z.literal("ok"),
  approvals: z.array(Approval),
  finished: z.array(Finished),
  running: z.array(Running),
  /** Not everything fit: the next call has more. */
  has_more: z.boolean(),
  cursor: Cursor,
});
const timeout = z.strictObject({ type: z.literal("timeout"), running: z.array(Running), cursor: Cursor });
const idle = z.strictObject({ type: z.literal("idle"), cursor: Cursor });

/** The result of a wait. */
export const Waited = z.discriminatedUnion("type", [something, timeout, idle]);
export type Waited = z.infer<typeof Waited>;

export const WaitAnswer = z.discriminatedUnion("type", [
  something.extend({
    approvals: z.array(ToldApproval),
    /** Absent if it is not true. */
    has_more: z.literal(true).optional(),
    next: NextStep,
  }),
  /** `next` says what to do if nothing runs. */
  timeout.extend({ next: NextStep.optional() }),
  idle.extend({ next: NextStep }),
]);
export type WaitAnswer = z.infer<typeof WaitAnswer>;
/** The same, if there is something to do. */
export type WaitedFor = Extract<WaitAnswer, { type: "ok" }>;
