import type { RuleDecision } from "../../contract/rules/rule.ts";
import { createDoubts } from "../rules/matching/doubts.ts";
import { createFinder, type Finder } from "../rules/matching/find.ts";
import type { JudgedCall, Place } from "../rules/matching/judged-call.ts";
import { type Doubt, whyNotCovered } from "../rules/matching/obstacles.ts";
import { once } from "../rules/matching/once.ts";
import type { Pattern } from "../rules/matching/pattern.ts";
import { createProver, type HasDangers, type Prover } from "../rules/matching/prove.ts";
import type { WithheldFiles } from "../rules/withheld-files.ts";

/** A rule that is ready to be matched. */
export type CompiledRule = {
  id: string;
  decision: RuleDecision;
  match: string;
  pattern: Pattern;
  reason: string | null;
  interrupt: boolean;
  isShadow: boolean;
  /** It has a row, whose uses are counted; others are counted by their id alone. */
  hasRow: boolean;
  /** Who made it, as owner; the operator's file is the operator's. */
  createdBy: string;
};

/** What the rules say of a call; `undefined` when none of them matches. */
export type Verdict = { decision: RuleDecision; rules: CompiledRule[] };

/** Why a rule does not decide a call, in a sentence that may quote the call. */
export type Reasoned = { rule: CompiledRule; why: string };

/** Whether a principal may allow this call by itself. */
export type MayAllow = (createdBy: string, call: JudgedCall) => boolean;

/** The rules that hold in one session, of whatever tier. */
export type RuleSet = {
  /** Who made the rules that allow something. */
  makers: readonly string[];
  /** The strictest rule that matches, whatever its age or tier: deny, then ask. */
  against(call: JudgedCall): Verdict | undefined;
  /** Whether a rule against something may be meant that is not found for certain. */
  suspects(call: JudgedCall): boolean;
  /** The rules that together prove the call safe to allow. */
  allowing(call: JudgedCall, withheld: WithheldFiles | undefined, mayAllow: MayAllow): Verdict | undefined;
  /** Of a call that is not allowed: the rule that looks most as if it allowed it, and why it does not. For people, who can wait. */
  doubt(call: JudgedCall, withheld: WithheldFiles | undefined, mayAllow: MayAllow): Reasoned | undefined;
  /** The rules in shadow mode that would have decided. */
  shadows(call: JudgedCall, withheld: WithheldFiles | undefined, mayAllow: MayAllow): CompiledRule[];
  /** What rules against reading keep from being read around them. */
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

  /** One for each choice of makers whose rules count for a call: nearly always all of them. */
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
      // What nobody's grant bounded, or was live, would allow it.
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
