import { z } from "zod";
import { Approval } from "../approvals/approval.ts";
import { Id } from "../values.ts";
import { Place } from "./answers.ts";
import { SessionStatus, Usage } from "./turn.ts";

// What routes and tools both answer to a prompt: a route adds the turn's id, a tool what to do next.

export const Started = z.object({ type: z.literal("started"), session_id: Id });
export const Queued = Started.extend({ type: z.literal("queued"), place: Place });
export type Begun = z.infer<typeof Started> | z.infer<typeof Queued>;

/** How a turn stands after the wait for it. */
export const ChatStanding = z.object({
  type: z.literal("ok"),
  session_id: Id,
  /** `idle` where the session was deleted meanwhile. */
  status: SessionStatus,
  place: Place.optional(),
  text: z.string(),
  error: z.string().nullable(),
  pending_approvals: z.array(Approval),
  usage: Usage.nullable(),
});
