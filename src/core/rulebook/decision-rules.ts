import type { PermitInput } from "../../contract/approvals/approval.ts";
import type { Decision } from "../../contract/approvals/decision.ts";
import { AppError } from "../../contract/refusals/errors.ts";
import type { Remember } from "../../contract/rules/rule.ts";
import type { ApprovalRow } from "../../storage/approvals.ts";
import type { NewRule, RuleRow } from "../../storage/rules.ts";
import type { Principal } from "../access/principals.ts";
import { createFinder } from "../rules/matching/find.ts";
import { type Pattern, readMatch } from "../rules/matching/pattern.ts";
import type { HasDangers } from "../rules/matching/prove.ts";
import { suggestedMatch } from "../rules/matching/suggest.ts";
import type { Session, Sessions } from "../sessions/sessions.ts";
import type { Grants } from "./grants.ts";
import type { Judge } from "./judge.ts";
import type { NotedRule, Rules } from "./rules.ts";
import type { Suggestions } from "./suggestions.ts";

type DecisionRulesNeed = {
  sessions: Pick<Sessions, "get">;
  judge: Judge;
  grants: Grants;
  rules: Pick<Rules, "newRule" | "changed" | "noted">;
  suggestions: Suggestions;
  dangersIn: (session: Session) => HasDangers;
};

export type DecisionRules = ReturnType<typeof createDecisionRules>;

/** How rules affect the decisions of people and parents: what a caller may decide, and how a decision is remembered. */
export function createDecisionRules({ sessions, judge, grants, rules, suggestions, dangersIn }: DecisionRulesNeed) {
  async function sessionOf({ sessionId }: Pick<ApprovalRow, "sessionId">): Promise<Session> {
    const session = await sessions.get(sessionId);
    if (!session) throw new AppError("not_found", "The session of this request was deleted: it can only be denied.");
    return session;
  }

  async function coveredIn(principal: Principal, session: Session, call: PermitInput): Promise<boolean> {
    return grants.covers(principal, session, judge.callOf(session, call));
  }

  return {
    isBounded: grants.isBounded,

    /** Throws if a rule denies the edited call, or if the caller's grant does not cover the call. */
    async checkAllow(principal: Principal, asked: ApprovalRow, call: PermitInput, isEdited: boolean): Promise<void> {
      if (!isEdited && !(await grants.isBounded(principal))) return;
      const session = await sessionOf(asked);
      const denial = isEdited ? await judge.denialOf(session, call) : undefined;
      if (denial !== undefined) {
        const why = `The edited input may not run, so nothing was decided: ${denial}`;
        throw new AppError("forbidden", `${why} Edit it in another way, or deny the request.`, { quotes: true });
      }
      if (await coveredIn(principal, session, call)) return;
      throw new AppError(
        "forbidden",
        (by) =>
          `Your grant does not cover this call: it waits for the operator, who sees it. You may deny it, or skip it${by.skip}.`,
      );
    },

    /** Whether the caller must not allow this call itself. */
    async escalates(principal: Principal, session: Session, call: PermitInput): Promise<boolean> {
      return (await grants.isBounded(principal)) && !(await coveredIn(principal, session, call));
    },

    /** The rule that could remember an approval of the call. */
    rememberedBy: suggestions.forCall,

    /** Why the call needs approval although a rule seems to decide it; the sentence may quote the call. */
    whyAsked: async (session: Session, call: PermitInput): Promise<string | undefined> =>
      (await judge.explain(session, call)).why,

    /** The rule that remembers this decision. It would decide this call in the same way. */
    async toRemember(
      principal: Principal,
      asked: ApprovalRow,
      call: PermitInput,
      { approve, message, interrupt }: Decision,
      { scope, match: given }: Remember,
    ): Promise<NewRule> {
      const session = await sessionOf(asked);
      const decision = approve ? "allow" : "deny";
      const match = approve
        ? await matchToAllow(session, call, given)
        : matchToDeny(given ?? suggestedMatch(judge.callOf(session, call), dangersIn(session)), session, call);
      return rules.newRule({ decision, match, reason: approve ? undefined : message, interrupt }, principal, {
        owner: asked.owner,
        sessionId: scope === "session" ? session.id : null,
        fromApprovalId: asked.id,
      });
    },

    /** A decision created the rule: apply it to pending requests too. */
    async remembered(rule: RuleRow, wanted: NewRule | undefined): Promise<NotedRule> {
      await rules.changed();
      return rules.noted(rule, wanted);
    },
  };

  /** The match of a rule that allows this very call under all rules in force. */
  async function matchToAllow(session: Session, call: PermitInput, given: string | undefined): Promise<string> {
    const pattern = given === undefined ? undefined : patternOf(given);
    if (given !== undefined && pattern && (await suggestions.wouldAllow(session, call, pattern))) return given;
    const { suggested_rule, no_rule } = await suggestions.forCall(session, call);
    if (no_rule !== undefined)
      throw notRemembered(`${sentence(no_rule)}. Nothing was decided: decide it without remember.`);
    if (pattern) {
      const why = await suggestions.whyNotAllowed(session, call, { id: given ?? "", pattern });
      throw notRemembered(`${wouldNot("allow", why)} ${hint(suggested_rule)}`);
    }
    if (suggested_rule !== undefined) return suggested_rule;
    throw new AppError(
      "invalid_arguments",
      "No rule is suggested for this request, since none that is wider than this call would be safe. Nothing was decided: decide it without remember, or give a match of your own.",
    );
  }

  function matchToDeny(match: string | undefined, session: Session, call: PermitInput): string {
    if (match === undefined)
      throw new AppError(
        "invalid_arguments",
        "No rule is suggested for this request. Nothing was decided: give a match, such as Bash(rm *), or decide it without remember.",
      );
    if (createFinder([{ id: "", pattern: patternOf(match) }]).find(judge.callOf(session, call)) !== undefined)
      return match;
    throw notRemembered(`${wouldNot("deny", undefined)} Widen it.`);
  }
}

function patternOf(match: string): Pattern {
  const read = readMatch(match);
  if ("pattern" in read) return read.pattern;
  throw new AppError("invalid_arguments", `match ${read.problem}.`, { quotes: true });
}

/** The problem may quote the call. */
function notRemembered(problem: string): AppError {
  return new AppError("invalid_arguments", problem, { quotes: true });
}

function wouldNot(decision: "allow" | "deny", why: string | undefined): string {
  const reason = why === undefined ? "" : ` (${why})`;
  return `A rule to ${decision} with this match would not decide this request${reason}: nothing was decided.`;
}

function hint(suggested: string | undefined): string {
  return suggested === undefined ? "Widen it." : "Widen it, or leave match out to use suggested_rule.";
}

function sentence(text: string): string {
  return `${text.charAt(0).toUpperCase()}${text.slice(1)}`;
}
