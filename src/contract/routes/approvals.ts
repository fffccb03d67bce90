import { z } from "zod";
import { Approval, ApprovalFilter } from "../approvals/approval.ts";
import { ApprovalContext } from "../approvals/approval-context.ts";
import { BatchResult, Decision, DecisionBatch, RespondResult } from "../approvals/decision.ts";
import { MAX_RESULT_CHARS } from "../text/cut.ts";
import { Id, MAX_SEARCH_CHARS, UnixSeconds } from "../values.ts";
import { PageQuery, page } from "./declaration/paging.ts";
import { queryFlag, queryNumber } from "./declaration/query.ts";
import { route } from "./declaration/route.ts";

const ApprovalQuery = z.strictObject({
  status: ApprovalFilter.optional(),
  session_id: Id.optional(),
  tool_name: z.string().min(1).max(512).optional(),
  /** Only approvals decided at this time or later, in Unix seconds. */
  since: queryNumber().int().nonnegative().optional(),
  /** Only approvals decided before this time. */
  until: queryNumber().int().nonnegative().optional(),
  /**
   * Only decided approvals that contain this text, ignoring case, in their tool, inputs, session name, message or
   * decider.
   */
  search: z.string().min(1).max(MAX_SEARCH_CHARS).optional(),
  /** `true` includes decisions of built-in rules. */
  builtin: queryFlag().optional(),
  /** `false` leaves out the context of pending approvals, which takes time to compute. */
  context: queryFlag().optional(),
  /** Shortens each approval to about this many characters of JSON, keeping head and tail. */
  max_chars: queryNumber().int().min(2_000).max(MAX_RESULT_CHARS).optional(),
  ...PageQuery.shape,
});
export const ApprovalList = z.object({
  type: z.literal("ok"),
  approvals: z.array(Approval),
  ...page,
  /** For a list of decisions that continues: everything decided after this time was searched, whether listed or not. */
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
