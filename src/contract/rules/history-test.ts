import { z } from "zod";
import { ApprovalStatus } from "../approvals/approval.ts";
import { Id, JsonObject, optional } from "../values.ts";
import { Match, RuleDecision, RuleNote } from "./rule.ts";

/** A rule to test on past requests, or a call to test with the present rules. */
export const RuleTestInput = z
  .strictObject({
    decision: optional(RuleDecision),
    match: optional(Match),
    session_id: optional(Id),
    tool_name: optional(z.string().min(1).max(512)).describe("Instead of a rule: a call, with input and session_id."),
    input: optional(JsonObject),
  })
  .superRefine(({ decision, match, tool_name, input }, context) => {
    const refuse = (path: string, message: string) => context.addIssue({ code: "custom", path: [path], message });
    const isCall = tool_name !== undefined || input !== undefined;
    if (isCall && (decision !== undefined || match !== undefined))
      refuse("tool_name", "goes without decision and match: give a rule, or a call");
    else if (isCall && (tool_name === undefined || input === undefined))
      refuse(tool_name === undefined ? "tool_name" : "input", "a call has tool_name and input");
    else if (!isCall && (decision === undefined || match === undefined))
      refuse(decision === undefined ? "decision" : "match", "is missing: give a rule, or tool_name and input");
  });
export type RuleTestInput = z.infer<typeof RuleTestInput>;

/** A past request that the rule would have decided differently. */
export const Contradiction = z.strictObject({
  approval_id: Id,
  was: ApprovalStatus,
  would_be: RuleDecision,
  /** The call's input, on one line. */
  tool: z.string(),
  input: z.string(),
});
export type Contradiction = z.infer<typeof Contradiction>;

/** What a rule would have decided in the caller's history, or what the rules would decide about one call. */
export const RuleTested = z.strictObject({
  type: z.literal("ok"),
  /** How many requests the rule would have decided. */
  decided: z.int().nonnegative(),
  contradictions: z.array(Contradiction),
  has_more: z.boolean(),
  /** How many requests were tested. */
  tested: z.int().nonnegative().optional(),
  /** For a call: the decision now, and the rule that makes it. */
  would_be: RuleDecision.optional(),
  by: z.string().optional(),
  /** The patterns of the rules that decide it. */
  match: z.string().optional(),
  /** If the answer is "ask": why the rule that matches most closely does not allow the call; may quote the call. */
  why: z.string().optional(),
  /** Where it asks: what it could be remembered by once it is allowed, or why no rule can allow it, which may quote the call. */
  suggested_rule: z.string().optional(),
  no_rule: z.string().optional(),
  /** For a rule: what it doesn't do although it seems to. */
  note: RuleNote.optional(),
});
export type RuleTested = z.infer<typeof RuleTested>;

export const Suggestion = z.strictObject({
  rule: z.strictObject({ decision: RuleDecision, match: z.string() }),
  /** How many decisions the rule would have made. */
  decided: z.int().nonnegative(),
  contradictions: z.literal(0),
});
export type Suggestion = z.infer<typeof Suggestion>;
