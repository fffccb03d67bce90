import type { PermitInput, RequestContext } from "../../contract/approvals/approval.ts";
import { createDoubts } from "../rules/matching/doubts.ts";
import type { JudgedCall } from "../rules/matching/judged-call.ts";
import { whyNotCovered } from "../rules/matching/obstacles.ts";
import type { Pattern } from "../rules/matching/pattern.ts";
import type { HasDangers } from "../rules/matching/prove.ts";
import { type InForce, suggestedMatch, wouldAllow } from "../rules/matching/suggest.ts";
import { whyNoRule } from "../rules/matching/suggestions/no-rule.ts";
import type { Session } from "../sessions/sessions.ts";
import { isRuleAgainst, type Judge, NOT_SEARCHED } from "./judge.ts";
import type { RuleBook } from "./rule-book.ts";
import type { RuleSet } from "./rule-set.ts";

/** The rule that could remember a call, or why no rule can. Neither is set if only a rule wider than useful could. */
export type Remembered = Pick<RequestContext, "suggested_rule" | "no_rule">;

/** The id of the rule is its match. */
type Rule = { id: string; pattern: Pattern };
type SuggestionsNeed = { book: RuleBook; judge: Judge; dangersIn: (session: Session) => HasDangers };

export type Suggestions = ReturnType<typeof createSuggestions>;

/** Predicts the effect of new allow rules beside the rules in force. An existing deny or ask rule beats them. */
export function createSuggestions({ book, judge, dangersIn }: SuggestionsNeed) {
  async function setIn(session: Session): Promise<RuleSet> {
    await book.freshen();
    return (await book.holdingIn(session)).set;
  }

  return {
    async forCall(session: Session, asked: PermitInput): Promise<Remembered> {
      const set = await setIn(session);
      const call = judge.callOf(session, asked);
      const stricter = whyOverruled(set, call);
      if (stricter !== undefined) return { no_rule: `${NO_RULE}${stricter}` };
      const inForce = inForceOn(set, call);
      const suggested_rule = suggestedMatch(call, dangersIn(session), inForce);
      if (suggested_rule !== undefined) return { suggested_rule };
      const why = whyNoRule(call, dangersIn(session), inForce);
      return why === undefined ? {} : { no_rule: `${NO_RULE}${why}` };
    },

    /** Why an allow rule, on its own, does not decide the call although it seems to. */
    async whyNotAllowed(session: Session, asked: PermitInput, rule: Rule): Promise<string | undefined> {
      const set = await setIn(session);
      const call = judge.callOf(session, asked);
      const { withheld, isSuspect } = inForceOn(set, call);
      const doubt = createDoubts([rule], dangersIn(session))(call, withheld, isSuspect);
      return doubt && whyNotCovered(rule.id, doubt);
    },

    /** Whether an allow rule with this pattern would decide the call under the rules in force. */
    async wouldAllow(session: Session, asked: PermitInput, pattern: Pattern): Promise<boolean> {
      const set = await setIn(session);
      const call = judge.callOf(session, asked);
      if (whyOverruled(set, call) !== undefined) return false;
      return wouldAllow(pattern, call, dangersIn(session), inForceOn(set, call));
    },
  };
}

const NO_RULE = "no rule can allow it, since ";

/** Why the rules in force keep any new rule from allowing the call. */
function whyOverruled(set: RuleSet, call: JudgedCall): string | undefined {
  const [rule] = set.against(call)?.rules ?? [];
  if (rule) return isRuleAgainst(rule);
  return call.hasFailed ? NOT_SEARCHED : undefined;
}

function inForceOn(set: RuleSet, call: JudgedCall): InForce {
  return { withheld: set.withheld(call.place), isSuspect: set.suspects(call) };
}
