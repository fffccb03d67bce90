import { z } from "zod";
import { Approval, McpConfig, ToldApproval } from "../approvals/approval.ts";
import { BatchResult, RespondResult } from "../approvals/decision.ts";
import { Id } from "../values.ts";
import { NextStep } from "./next-step.ts";
import { Cursor, WaitAnswer } from "./wait-answers.ts";

const next = NextStep;

/** As many approvals as fit; `has_more` means that there are others. */
const ApprovalPage = z.strictObject({ type: z.literal("ok"), approvals: z.array(Approval), has_more: z.boolean() });

/** Each approval leaves out fields with the same value as the previous one of its session. */
export const PendingAnswer = ApprovalPage.extend({ approvals: z.array(ToldApproval), next });

/** The content of the resource of pending approvals. */
export const PendingResource = ApprovalPage.extend({ untrusted: z.tuple([z.literal("approvals")]) });
export type PendingResource = z.infer<typeof PendingResource>;

/** The cursor to wait from, and, with `wait_secs`, the answer of loopback_wait. */
const after = { cursor: Cursor, wait: WaitAnswer.optional(), note: NextStep.optional(), next: next.optional() };
const [recorded, decidedBefore] = RespondResult.options;
export const RespondAnswer = z.union([
  recorded.extend(after),
  decidedBefore.extend(after),
  /** For many decisions: the result of each, in order. */
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
  /** The occurrences of a text, each with its surroundings. */
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
