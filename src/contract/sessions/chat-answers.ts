import { z } from "zod";
import { Approval } from "../approvals/approval.ts";
import { Id } from "../values.ts";
import { Place, SessionStatus, Usage } from "./turn.ts";

// The common part of the answers to a prompt: routes add the turn's id, tools add the next step.

export const Started = z.object({ type: z.literal("started"), session_id: Id });
export const Queued = Started.extend({ type: z.literal("queued"), place: Place });
export type Begun = z.infer<typeof Started> | z.infer<typeof Queued>;

/** The state of a turn after waiting for it. */
export const ChatStanding = z.object({
  type: z.literal("ok"),
  session_id: Id,
  /** `idle` if the session was deleted meanwhile. */
  status: SessionStatus,
  place: Place.optional(),
  text: z.string(),
  error: z.string().nullable(),
  pending_approvals: z.array(Approval),
  usage: Usage.nullable(),
});
