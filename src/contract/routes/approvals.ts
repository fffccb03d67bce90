import { z } from "zod";
import { Approval, ApprovalFilter } from "../approvals/approval.ts";
import { ApprovalContext } from "../approvals/approval-context.ts";
import { BatchResult, Decision, DecisionBatch, RespondResult } from "../approvals/decision.ts";
import { MAX_RESULT_CHARS } from "../text/cut.ts";
import { Id, UnixSeconds } from "../values.ts";
import { PageQuery, page } from "./declaration/paging.ts";
import { queryFlag, queryNumber } from "./declaration/query.ts";
import { route } from "./declaration/route.ts";

export const MAX_SEARCH_CHARS = 200;

const ApprovalQuery = z.strictObject({
  status: ApprovalFilter.optional(),
  session_id: Id.optional(),
  tool_name: z.string().min(1).max(512).optional(),
  /** Only those that were decided then or later, in Unix seconds. */
  since: queryNumber().int().nonnegative().optional(),
  /** Only those that were decided before then. */
  until: queryNumber().int().nonnegative().optional(),
  /** Only decided ones with this text, in any case, in their tool, their inputs, their session's name, their message, or who decided. */
  search: z.string().min(1).max(MAX_SEARCH_CHARS).optional(),
  /** `true` lists what built-in rules decided, too. */
  builtin: queryFlag().optional(),
  /** `false` leaves out what pending ones should be read with, which takes time to find. */
  context: queryFlag().optional(),
  /** Cuts each approval to about so many characters of JSON, head and tail. */
  max_chars: queryNumber().int().min(2_000).max(MAX_RESULT_CHARS).optional(),
  ...PageQuery.shape,
});
export const ApprovalList = z.object({
  type: z.literal("ok"),
  approvals: z.array(Approval),
  ...page,
  /** Of a list of decisions that goes on: all that was decided after then was searched, whether or not it is listed. */
  searched_back_to: UnixSeconds.optional(),
});
export const OneApproval = z.object({ type: z.literal("ok"), approval: Approval });
export const ApprovalContextAnswer = ApprovalContext.extend({ type: z.literal("ok") });

export const listApprovals = route("GET", "/api/v1/approvals", { query: ApprovalQuery, answer: ApprovalList });
export const getApproval = route("GET", "/api/v1/approvals/:id", { answer: OneApproval });
export const getApprovalContext = route("GET", "/api/v1/approvals/:id/context", { answer: ApprovalContextAnswer });
export const BatchAnswer = z.object({ type: z.literal("ok"), results: z.array(BatchResult) });
export const decideApprovals = route("POST", "/api/v1/approvals/respond", {
  body: DecisionBatch,
  answer: BatchAnswer,
});
export const decideApproval = route("POST", "/api/v1/approvals/:id/respond", { body: Decision, answer: RespondResult });
