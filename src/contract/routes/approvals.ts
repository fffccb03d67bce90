import { z } from "zod";
import { Approval, ApprovalFilter, Decision, RespondResult } from "../approvals/approval.ts";
import { ApprovalContext } from "../approvals/approval-context.ts";
import { MAX_RESULT_CHARS } from "../cut.ts";
import { Id } from "../values.ts";
import { PageQuery, page } from "./paging.ts";
import { queryFlag, queryNumber } from "./query.ts";
import { route } from "./route.ts";

const ApprovalQuery = z.strictObject({
  status: ApprovalFilter.optional(),
  session_id: Id.optional(),
  tool_name: z.string().min(1).max(512).optional(),
  /** Only those that were decided then or later, in Unix seconds. */
  since: queryNumber().int().nonnegative().optional(),
  /** `true` lists what built-in rules decided, too. */
  builtin: queryFlag().optional(),
  /** Cuts each approval to about so many characters of JSON, head and tail. */
  max_chars: queryNumber().int().min(2_000).max(MAX_RESULT_CHARS).optional(),
  ...PageQuery.shape,
});
export const ApprovalList = z.object({ type: z.literal("ok"), approvals: z.array(Approval), ...page });
export const OneApproval = z.object({ type: z.literal("ok"), approval: Approval });
export const ApprovalContextAnswer = ApprovalContext.extend({ type: z.literal("ok") });

export const listApprovals = route("GET", "/api/v1/approvals", { query: ApprovalQuery, answer: ApprovalList });
export const getApproval = route("GET", "/api/v1/approvals/:id", { answer: OneApproval });
export const getApprovalContext = route("GET", "/api/v1/approvals/:id/context", { answer: ApprovalContextAnswer });
export const decideApproval = route("POST", "/api/v1/approvals/:id/respond", { body: Decision, answer: RespondResult });
