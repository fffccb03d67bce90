import { z } from "zod";
import { ApprovalStatus } from "../approvals/approval.ts";
import { Id, JsonObject } from "../values.ts";

/** The state of a turn; `awaiting_permission` is derived from the pending approvals, never stored. */
export const TurnStatus = z.enum(["queued", "running", "awaiting_permission", "complete", "failed", "cancelled"]);
export type TurnStatus = z.infer<typeof TurnStatus>;

/** A session that has had no turn is `idle`. */
export const SessionStatus = z.enum(["idle", ...TurnStatus.options]);
export type SessionStatus = z.infer<typeof SessionStatus>;

/** The usage of one turn; the cost is that of the turn, not of the conversation. */
/** The position of a queued turn: 1 starts next. */
export const Place = z.int().positive();

export const Usage = z.strictObject({
  input_tokens: z.int().nonnegative(),
  output_tokens: z.int().nonnegative(),
  cost_usd: z.number().nonnegative(),
  num_turns: z.int().nonnegative(),
});
export type Usage = z.infer<typeof Usage>;

const request = { approval_id: Id, tool_name: z.string(), tool_use_id: z.string().nullable() };

/** One thing that happened in a turn; it never changes once it has a number. */
export const TurnEvent = z.discriminatedUnion("type", [
  z.strictObject({ type: z.literal("start"), id: Id, user_position: z.string().nullable() }),
  z.strictObject({ type: z.literal("content"), text: z.string() }),
  z.strictObject({ type: z.literal("thinking"), thinking: z.string() }),
  z.strictObject({
    type: z.literal("tool_use"),
    tool_name: z.string(),
    tool_use_id: z.string(),
    input: JsonObject,
    /** For a subagent's call: the call that started the subagent. */
    parent_tool_use_id: z.string().optional(),
    /** The subagent's type and task, if the CLI reports them. */
    agent: z.string().optional(),
  }),
  z.strictObject({
    type: z.literal("tool_result"),
    tool_use_id: z.string(),
    output: z.string(),
    is_error: z.boolean(),
    /** The approval of the call; `null` if Claude Code refused it itself, or if it ran without asking. */
    approval_id: Id.nullable().default(null),
    /** The call ran although Plexus had not allowed it. */
    unasked: z.literal(true).optional(),
  }),
  z.strictObject({ type: z.literal("approval_requested"), ...request, input: JsonObject }),
  z.strictObject({
    type: z.literal("approval_resolved"),
    ...request,
    status: ApprovalStatus,
    response_message: z.string().nullable(),
    resolved_by: z.string(),
    /** The edited input, if the decision changed it. */
    updated_input: JsonObject.optional(),
  }),
  z.strictObject({
    type: z.literal("complete"),
    new_head: z.strictObject({ tree_id: Id, node_id: Id }).nullable(),
    claude_session_id: z.string(),
    usage: Usage,
  }),
  z.strictObject({ type: z.literal("error"), message: z.string() }),
  z.strictObject({ type: z.literal("passthrough"), event_type: z.string(), data: z.unknown() }),
]);
export type TurnEvent = z.infer<typeof TurnEvent>;

/** An event that is too long for one answer: its type and ids are kept, long fields are shortened. */
export const CutEvent = z.looseObject({
  type: z.enum(TurnEvent.options.map(({ shape }) => shape.type.value)),
  truncated: z.literal(true),
  /** The length of the complete event in characters of JSON. */
  size: z.int(),
});
export type CutEvent = z.infer<typeof CutEvent>;
