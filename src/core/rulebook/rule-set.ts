import type { RuleDecision } from "../../contract/rules/rule.ts";
import { createDoubts } from "../rules/matching/doubts.ts";
import { createFinder, type Finder } from "../rules/matching/find.ts";
import type { JudgedCall, Place } from "../rules/matching/judged-call.ts";
import { type Doubt, whyNotCovered } from "../rules/matching/obstacles.ts";
import { once } from "../rules/matching/once.ts";
import type { Pattern } from "../rules/matching/pattern.ts";
import { createProver, type HasDangers, type Prover } from "../rules/matching/prove.ts";
import type { WithheldFiles } from "../rules/withheld-files.ts";

export type CompiledRule = {
  id: string;
  decision: RuleDecision;
  match: string;
  pattern: Pattern;
  reason: string | null;
  interrupt: boolean;
  isShadow: boolean;
  /** Whether the rule has a row, which counts its uses. Hits of other rules are counted by id. */
  hasRow: boolean;
  /** The owner who made the rule. Rules of the operator's file belong to the operator. */
  createdBy: string;
};

/** The decision of the rules on a call, and the rules behind it. */
export type Verdict = { decision: RuleDecision; rules: CompiledRule[] };

/** Why a rule does not decide a call; the sentence may quote the call. */
export type Reasoned = { rule: CompiledRule; why: string };

/** Whether a principal may allow this call itself. */
export type MayAllow = (createdBy: string, call: JudgedCall) => boolean;

/** All rules in force in one session, of every tier. */
export type RuleSet = {
  /** The owners whose rules allow something. */
  makers: readonly string[];
  /** The rule that denies the call, or else the rule that asks. Age and tier do not matter. */
  against(call: JudgedCall): Verdict | undefined;
  /** Whether a deny or ask rule might match although none certainly does. */
  suspects(call: JudgedCall): boolean;
  /** The rules that together prove the call safe. */
  allowing(call: JudgedCall, withheld: WithheldFiles | undefined, mayAllow: MayAllow): Verdict | undefined;
  /**
   * For a call that is not allowed: the rule that seems most to allow it, and why it does not. Slow, so only used in
   * explanations.
   */
  doubt(call: JudgedCall, withheld: WithheldFiles | undefined, mayAllow: MayAllow): Reasoned | undefined;
  /** The shadow rules that would have decided the call. */
  shadows(call: JudgedCall, withheld: WithheldFiles | undefined, mayAllow: MayAllow): CompiledRule[];
  /** The files that deny and ask rules forbid to read. */
  withheld(place: Place): WithheldFiles | undefined;
};

export function createRuleSet(rules: readonly CompiledRule[], hasDangers: HasDangers): RuleSet {
  const live = rules.filter(({ isShadow }) => !isShadow);
  const byId = new Map(rules.map((rule) => [rule.id, rule]));
  const [denying, asking] = [finderOf(live, "deny"), finderOf(live, "ask")];
  const against = createFinder(live.filter(({ decision }) => decision !== "allow"));
  const allows = live.filter(({ decision }) => decision === "allow");
  const makers = [...new Set(rules.filter(({ decision }) => decision === "allow").map(({ createdBy }) => createdBy))];
  const provers = new Map<string, Prover>();
  const shadows = rules
    .filter(({ isShadow }) => isShadow)
    .map((rule) => ({ rule, set: createRuleSet([{ ...rule, isShadow: false }], hasDangers) }));

  /** The prover for one choice of makers whose rules count for a call. Nearly always all of them count. */
  function proverOf(counting: string[]): Prover {
    const key = counting.join("\n");
    const known = provers.get(key);
    if (known) return known;
    const prover = createProver(
      allows.filter(({ createdBy }) => counting.includes(createdBy)),
      hasDangers,
    );
    provers.set(key, prover);
    return prover;
  }

  const doubts = once(() => createDoubts(allows, hasDangers));

  function reasoned({ id, ...doubt }: Doubt): Reasoned | undefined {
    const rule = byId.get(id);
    return rule && { rule, why: whyNotCovered(rule.match, doubt) };
  }

  function verdict(decision: RuleDecision, ids: readonly string[]): Verdict {
    return { decision, rules: ids.flatMap((id) => byId.get(id) ?? []) };
  }

  return {
    makers,
    against(call) {
      const denial = denying?.find(call);
      if (denial !== undefined) return verdict("deny", [denial]);
      const question = asking?.find(call);
      return question === undefined ? undefined : verdict("ask", [question]);
    },
    suspects: (call) => against.suspects(call),
    allowing(call, withheld, mayAllow) {
      if (allows.length === 0) return undefined;
      const prover = proverOf(makers.filter((maker) => mayAllow(maker, call)));
      const proof = prover.prove(call, withheld, against.suspects(call));
      return proof && verdict("allow", proof);
    },
    doubt(call, withheld, mayAllow) {
      const isSuspect = against.suspects(call);
      // First look for a rule that fails only because of its maker's grant or its shadow mode.
      const [unbounded] = proverOf([...makers]).prove(call, withheld, isSuspect) ?? [];
      if (unbounded !== undefined) return reasoned({ id: unbounded, obstacle: "grant" });
      const shadow = shadows.find(
        ({ rule, set }) => rule.decision === "allow" && set.allowing(call, withheld, mayAllow) !== undefined,
      );
      if (shadow) return reasoned({ id: shadow.rule.id, obstacle: "shadow" });
      const doubt = doubts()(call, withheld, isSuspect);
      return doubt && reasoned(doubt);
    },
    shadows: (call, withheld, mayAllow) =>
      shadows.flatMap(({ rule, set }) => ((set.against(call) ?? set.allowing(call, withheld, mayAllow)) ? [rule] : [])),
    withheld: (place) => (denying || asking ? against.withheld(place) : undefined),
  };
}

function finderOf(rules: readonly CompiledRule[], decision: RuleDecision): Finder | undefined {
  const own = rules.filter((rule) => rule.decision === decision);
  return own.length === 0 ? undefined : createFinder(own);
}
