import { z } from "zod";
import { Approval, ApprovalStatus, RequestContext, ToolRequestEvent } from "./approvals/approval.ts";
import { UnaskedCall } from "./approvals/unasked-call.ts";
import { Usage } from "./sessions/turn.ts";
import { Id, type JsonObject, UnixSeconds } from "./values.ts";

export const ChangeKind = z.enum([
  "approval_requested",
  "approval_resolved",
  "unasked_call",
  "turn_queued",
  "turn_started",
  "turn_ended",
]);
export type ChangeKind = z.infer<typeof ChangeKind>;

/** Something that happened, committed in the same transaction as its subject; ids grow and are never reused. */
export type Change = {
  id: number;
  kind: ChangeKind;
  owner: string;
  sessionId: string;
  /** The approval, the call or the turn that it is about. */
  subjectId: string;
  at: number;
  /** Set for a decision made by this process, so that nobody needs to read it again. */
  decision?: MadeDecision;
};

/** A decision as it was committed. */
export type MadeDecision = {
  status: ApprovalStatus;
  createdAt: number;
  resolvedAt: number | null;
  resolvedBy: string | null;
  /** The rest of the child's answer; missing if it is large, or if the input was edited. */
  answer?: {
    input: JsonObject;
    responseMessage: string | null;
    interrupt: boolean;
    deliveredAt: number | null;
    asker: string | null;
  };
};

const queued = { session_id: Id, session_name: z.string(), turn_id: Id, ephemeral: z.boolean() };
const turn = { ...queued, started_at: UnixSeconds };

/** A change as a client of `/api/v1/events` receives it. */
export const ChangeEvent = z.discriminatedUnion("type", [
  ToolRequestEvent.extend({
    type: z.literal("approval_requested"),
    session_id: Id,
    created_at: UnixSeconds,
    expires_at: UnixSeconds,
    ...RequestContext.shape,
    truncated: z.literal(true).optional(),
    input_size: z.int().optional(),
    input_removed_at: UnixSeconds.optional(),
  }),
  z.strictObject({
    type: z.literal("approval_resolved"),
    approval_id: Id,
    session_id: Id,
    session_name: z.string(),
    tool_name: z.string(),
    tool_use_id: z.string().nullable(),
    status: ApprovalStatus,
    response_message: z.string().nullable(),
    updated_input: Approval.shape.updated_input,
    resolved_by: z.string(),
    resolved_at: UnixSeconds,
    input_removed_at: UnixSeconds.optional(),
  }),
  /** A call ran although Plexus had not allowed it, in a session that does not permit this. */
  UnaskedCall.extend({ type: z.literal("unasked_call") }),
  z.strictObject({ type: z.literal("turn_queued"), ...queued, status: z.literal("queued"), queued_at: UnixSeconds }),
  z.strictObject({
    type: z.literal("turn_started"),
    ...turn,
    status: z.literal("running"),
    error: z.null(),
    usage: z.null(),
    ended_at: z.null(),
  }),
  z.strictObject({
    type: z.literal("turn_ended"),
    ...turn,
    status: z.enum(["complete", "failed", "cancelled"]),
    error: z.string().nullable(),
    usage: Usage.nullable(),
    ended_at: UnixSeconds,
  }),
]);
export type ChangeEvent = z.infer<typeof ChangeEvent>;
