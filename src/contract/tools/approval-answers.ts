import { z } from "zod";
import { Approval, McpConfig, ToldApproval } from "../approvals/approval.ts";
import { BatchResult, RespondResult } from "../approvals/decision.ts";
import { Id } from "../values.ts";
import { NextStep } from "./next-step.ts";
import { Cursor, WaitAnswer } from "./wait-answers.ts";

const next = NextStep;

/** As many approvals as fit; `has_more` says that there are others. */
const ApprovalPage = z.strictObject({ type: z.literal("ok"), approvals: z.array(Approval), has_more: z.boolean() });

/** Of many, each leaves out what is as in the one before it of its session. */
export const PendingAnswer = ApprovalPage.extend({ approvals: z.array(ToldApproval), next });

/** What the resource of pending approvals holds. */
export const PendingResource = ApprovalPage.extend({ untrusted: z.tuple([z.literal("approvals")]) });
export type PendingResource = z.infer<typeof PendingResource>;

/** Where to wait on from, and with `wait_secs` what loopback_wait would have answered. */
const after = { cursor: Cursor, wait: WaitAnswer.optional(), note: NextStep.optional(), next: next.optional() };
const [recorded, decidedBefore] = RespondResult.options;
export const RespondAnswer = z.union([
  recorded.extend(after),
  decidedBefore.extend(after),
  /** Of many decisions: what became of each, in their order. */
  z.strictObject({ type: z.literal("ok"), results: z.array(BatchResult), ...after }),
]);

/** A part of the JSON text of an approval's input. */
const part = {
  type: z.literal("ok"),
  approval_id: Id,
  total: z.int().nonnegative(),
  has_more: z.boolean(),
  next,
};
export const GetAnswer = z.union([
  z.strictObject({ type: z.literal("ok"), approval: Approval, next }),
  z.strictObject({ ...part, text: z.string(), offset: z.int().nonnegative(), length: z.int().nonnegative() }),
  /** Where a text occurs in it, with what stands around it. */
  z.strictObject({
    ...part,
    matches: z.array(z.strictObject({ offset: z.int().nonnegative(), text: z.string() })),
  }),
]);

export const ConfigureAnswer = z.strictObject({
  type: z.literal("ok"),
  session_id: Id,
  mcp_config: McpConfig,
  args: z.array(z.string()),
  next,
});
