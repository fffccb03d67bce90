import { z } from "zod";
import { Approval, McpConfig, RespondResult } from "../approvals/approval.ts";
import { TurnStatus } from "../sessions/turn.ts";
import { Id } from "../values.ts";
import { NextStep } from "./next-step.ts";

const next = NextStep;
const cursor = z.int().nonnegative();

/** As many approvals as fit; `has_more` says that there are others. */
const ApprovalPage = z.strictObject({ type: z.literal("ok"), approvals: z.array(Approval), has_more: z.boolean() });

/** A session whose turn has ended. */
const Finished = z.strictObject({ session_id: Id, name: z.string(), status: TurnStatus });

export const WaitAnswer = z.discriminatedUnion("type", [
  ApprovalPage.extend({ finished: z.array(Finished), cursor, next }),
  z.strictObject({ type: z.literal("timeout"), cursor, next }),
]);

export const PendingAnswer = ApprovalPage.extend({ next });

/** What the resource of pending approvals holds. */
export const PendingResource = ApprovalPage.extend({ untrusted: z.tuple([z.literal("approvals")]) });
export type PendingResource = z.infer<typeof PendingResource>;

const [recorded, decidedBefore] = RespondResult.options;
export const RespondAnswer = z.discriminatedUnion("type", [recorded.extend({ next }), decidedBefore.extend({ next })]);

export const GetAnswer = z.union([
  z.strictObject({ type: z.literal("ok"), approval: Approval, next }),
  /** A part of the JSON text of its input. */
  z.strictObject({
    type: z.literal("ok"),
    approval_id: Id,
    text: z.string(),
    offset: z.int().nonnegative(),
    length: z.int().nonnegative(),
    total: z.int().nonnegative(),
    has_more: z.boolean(),
    next,
  }),
]);

export const ConfigureAnswer = z.strictObject({
  type: z.literal("ok"),
  session_id: Id,
  mcp_config: McpConfig,
  args: z.array(z.string()),
  next,
});
