import type { Decision, ReadDecision, RefusedDecision, RespondResult } from "../../contract/approvals/decision.ts";
import { AppError, tokenRevoked } from "../../contract/refusals/errors.ts";
import { type JsonObject, seconds } from "../../contract/values.ts";
import { applyAnswers, applyEdit, type Edited } from "../../review/edit.ts";
import { answersIn } from "../../review/kinds.ts";
import type { ApprovalHead, ApprovalOutcome, ApprovalRow, DecidedBy } from "../../storage/approvals.ts";
import type { NewRule } from "../../storage/rules.ts";
import type { Storage } from "../../storage/storage.ts";
import { callingToken, displayName, mayDecide, type Principal, visibleOwner } from "../access/principals.ts";
import type { DecisionRules } from "../rulebook/decision-rules.ts";
import { MOST_RULES, tooManyRules } from "../rulebook/rules.ts";
import { keysOf } from "../rules/tool-keys.ts";
import { toApproval } from "./approval-view.ts";
import type { ApprovalViews } from "./approval-views.ts";

const QUESTION = "AskUserQuestion";
/** How many unknown or added keys a message names, and how many characters of each. */
const MAX_ADDED = 10;
const MAX_KEY_CHARS = 100;

type DecideNeed = {
  storage: { approvals: Pick<Storage["approvals"], "get" | "settleIfPending"> };
  rules: DecisionRules;
  views: Pick<ApprovalViews, "dangersOfEdit">;
  now: () => number;
  /** Called with an unexpected error of one decision; the others of the batch go on. */
  onError: (cause: unknown) => void;
};

/** What a one-time link can decide: no edit, no rule. */
type LinkedDecision = Pick<Decision, "approve" | "message">;

/** What the result of an edit says about the new input. */
type EditReport = Pick<Extract<RespondResult, { type: "ok" }>, "added" | "dangers" | "untrusted">;

/** A checked decision, or the earlier decision that came first. */
type Prepared =
  | { id: string; decision: Decision; updatedInput: JsonObject | null; report?: EditReport; remembered?: NewRule }
  | { before: RespondResult };

/** The name for the record, and the limits that the settling command enforces. */
type DecidingBy = { name: string; by: DecidedBy };
/** A link whose secret was checked, and the one request that it may decide. */
export type DecidingLink = { id: string; approvalId: string; name: string };

/** Decides requests for principals and links. All decisions race through one storage command; the first one wins. */
export function createDecide({ storage, rules, views, now, onError }: DecideNeed) {
  /** Checks an edit against the original input, which never changes. A refused edit decides nothing. */
  async function prepare(principal: Principal, id: string, decision: Decision): Promise<Prepared> {
    const { updated_input, merge = false, answers, remember } = decision;
    if (principal.kind === "session") throw unknownApproval(id);
    const isEdited = updated_input !== undefined || answers !== undefined;
    const isJudged = isEdited || remember !== undefined || (decision.approve && (await rules.isBounded(principal)));
    if (!isJudged) return { id, decision, updatedInput: null };
    const asked = await storage.approvals.get(id);
    if (!asked || !mayDecide(principal, asked.owner)) throw unknownApproval(id);
    if (asked.status !== "pending") return { before: alreadyResolved(asked) };
    const { toolName: tool_name, input } = asked;
    const updatedInput = answers
      ? inputOf("answers", applyAnswers({ tool_name, input }, answers))
      : updated_input && inputOf("updated_input", applyEdit(input, updated_input, merge));
    const further = merge ? Object.keys(updated_input ?? {}).filter((key) => !Object.hasOwn(input, key)) : [];
    refuseUnknownKeys(tool_name, further);
    const call = { tool_name, input: updatedInput ?? input };
    if (decision.approve) await rules.checkAllow(principal, asked, call, isEdited);
    const remembered = remember && (await rules.toRemember(principal, asked, call, decision, remember));
    const report = updated_input && updatedInput && (await reportOf(asked, updatedInput, further));
    const edited = { updatedInput: updatedInput ?? null, ...(report && { report }) };
    return { id, decision, ...edited, ...(remembered && { remembered }) };
  }

  async function reportOf(asked: ApprovalRow, input: JsonObject, further: string[]): Promise<EditReport> {
    const added = shownKeys(further.filter((key) => Object.hasOwn(input, key)));
    // The only danger of a question is a missing answer, which `unanswered` reports.
    const dangers = asked.toolName === QUESTION ? [] : await views.dangersOfEdit(toApproval(asked), input);
    return {
      ...(added.length > 0 && { added }),
      ...(dangers.length > 0 && { dangers, untrusted: ["dangers"] }),
    };
  }

  /**
   * Prepares one decision of a batch. A second edit of the same approval is refused unchecked, since it could only
   * lose.
   */
  async function prepareOf(principal: Principal, one: ReadDecision, edited: Set<string>): Promise<Prepared> {
    if ("problem" in one) throw new AppError("invalid_arguments", one.problem);
    const { approval_id, ...decision } = one.decision;
    if (hasEdit(one) && edited.has(approval_id)) throw new AppError("invalid_arguments", EDITED_TWICE);
    const prepared = await prepare(principal, approval_id, decision);
    if (hasEdit(one)) edited.add(approval_id);
    return prepared;
  }

  /**
   * Decides, or returns the earlier decision. An approval of another owner is `not_found`, like one that does not
   * exist.
   */
  async function settle({ name, by }: DecidingBy, prepared: Prepared): Promise<RespondResult> {
    if ("before" in prepared) return prepared.before;
    const { id, decision, updatedInput, report, remembered } = prepared;
    const outcome: ApprovalOutcome = {
      status: decision.approve ? "allowed" : "denied",
      responseMessage: decision.message || null,
      updatedInput,
      interrupt: decision.interrupt ?? false,
      resolvedAt: now(),
      resolvedBy: name,
    };
    const remember = remembered && { rule: remembered, most: MOST_RULES };
    const settled = await storage.approvals.settleIfPending(id, outcome, by, remember);
    if (settled.outcome === "revoked") throw tokenRevoked();
    if (settled.outcome === "not_by_link") throw linkOver();
    if (settled.outcome === "unknown") throw unknownApproval(id);
    if (settled.outcome === "too_many_rules") throw tooManyRules();
    const { status, toolName: tool_name } = settled.approval;
    if (settled.outcome === "settled_before") return alreadyResolved(settled.approval);
    const made = settled.rule && (await rules.remembered(settled.rule, remembered));
    const isAnswered = tool_name !== QUESTION || answersIn({ tool_name, updated_input: updatedInput }).length > 0;
    const unanswered = decision.approve && !isAnswered;
    return {
      type: "ok",
      approval_id: id,
      status,
      ...report,
      ...(unanswered && { unanswered }),
      ...(made && { rule: made.rule, ...(made.note !== undefined && { rule_note: made.note }) }),
    };
  }

  return {
    async decide(principal: Principal, id: string, decision: Decision): Promise<RespondResult> {
      return settle(decidingBy(principal), await prepare(principal, id, decision));
    },

    /** Decides the request of a link: no edit, no rule. */
    decideByLink({ id, approvalId, name }: DecidingLink, decision: LinkedDecision): Promise<RespondResult> {
      const by = { owner: undefined, token: undefined, link: id };
      return settle({ name: `link:${name}`, by }, { id: approvalId, decision, updatedInput: null });
    },

    /** Decides each on its own, in order and in one commit. Of two decisions on one approval the first one counts. */
    async decideEach(principal: Principal, given: ReadDecision[]): Promise<(RespondResult | RefusedDecision)[]> {
      const prepared: PromiseSettledResult<Prepared>[] = [];
      const edited = new Set<string>();
      // In sequence, yielding after each edit: checking one against a large input takes time.
      for (const one of given) {
        const [settled] = await Promise.allSettled([prepareOf(principal, one, edited)]);
        prepared.push(settled);
        if (hasEdit(one)) await new Promise(setImmediate);
      }
      // Started together, so that they share a commit.
      const results = await Promise.allSettled(
        prepared.map(async (one) => {
          if (one.status === "rejected") throw one.reason;
          return settle(decidingBy(principal), one.value);
        }),
      );
      return results.map((result, at) =>
        result.status === "fulfilled" ? result.value : refused(result.reason, given[at]),
      );
    },
  };

  function refused(cause: unknown, given: ReadDecision | undefined): RefusedDecision {
    const approval_id = given && ("decision" in given ? given.decision.approval_id : given.approval_id);
    if (!(cause instanceof AppError)) onError(cause);
    return { type: "refused", error: cause instanceof AppError ? cause : FAILED_INSIDE, approval_id };
  }
}

function decidingBy(principal: Principal): DecidingBy {
  return {
    name: displayName(principal),
    by: { owner: visibleOwner(principal), token: callingToken(principal) },
  };
}

/** The same error for every cause, so that a guesser learns nothing. */
export function linkOver(): AppError {
  const why = "it was revoked with its webhook, its time is over, or it was never made";
  return new AppError("not_found", `This link decides nothing here: ${why}. Open Plexus itself to decide.`);
}

const FAILED_INSIDE = new AppError("internal", "Plexus failed inside; its log has the details. This was not decided.");

const EDITED_TWICE = "An earlier decision of this call edits this approval: give one for each.";

function hasEdit(one: ReadDecision): boolean {
  return "decision" in one && (one.decision.updated_input !== undefined || one.decision.answers !== undefined);
}

export function unknownApproval(id: string): AppError {
  return new AppError(
    "not_found",
    (by) => `There is no approval ${id}: list the pending ones${by.pending} to see their ids.`,
  );
}

function alreadyResolved({
  id,
  status,
  resolvedAt,
  resolvedBy,
}: Pick<ApprovalHead, "id" | "status" | "resolvedAt" | "resolvedBy">): RespondResult {
  if (resolvedAt === null || resolvedBy === null) throw unknownApproval(id);
  return {
    type: "already_resolved",
    approval_id: id,
    status,
    resolved_by: resolvedBy,
    resolved_at: seconds(resolvedAt),
  };
}

/** Refuses misspelt keys: the tool would ignore such a key and run the original value. */
function refuseUnknownKeys(toolName: string, further: string[]): void {
  const known = keysOf(toolName);
  if (!known) return;
  const unknown = further.filter((key) => !known.includes(key));
  if (unknown.length === 0) return;
  const named = shownKeys(unknown).map((key) => JSON.stringify(key));
  const takes = known.length === 0 ? "takes no input" : `takes ${known.join(", ")}`;
  throw new AppError("invalid_arguments", `updated_input has ${named.join(", ")}, but ${toolName} ${takes}.`);
}

function shownKeys(keys: string[]): string[] {
  return keys.slice(0, MAX_ADDED).map((key) => key.slice(0, MAX_KEY_CHARS).toWellFormed());
}

function inputOf(argument: string, edited: Edited): JsonObject {
  if (edited.kind === "input") return edited.input;
  throw new AppError("invalid_arguments", `${argument} ${edited.reason}.`, { quotes: true });
}
