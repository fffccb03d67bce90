import type { Remember, Rule } from "../../../contract/rules/rule.ts";
import { duration } from "../../../contract/text/duration.ts";
import { shortRuleId } from "../../terminal/decided-by.ts";
import { printable } from "../../terminal/printable.ts";
import type { Terminal } from "../../terminal/terminal.ts";

/** The scope in which a decision is remembered, in words. */
export const WHERE: Record<Remember["scope"], string> = {
  session: "in this session",
  always: "in every session of whoever created this one",
};

/** The name of a rule for people: the end of its id. */
export function shortId({ id, tier }: Pick<Rule, "id" | "tier">): string {
  return tier === "builtin" ? id.replace(/^builtin:/, "") : shortRuleId(id);
}

/** A new rule in one sentence. */
export function ruleText(rule: Rule, where: string): string {
  const more = limitsOf(rule).map((limit) => `, ${limit}`);
  return printable(`${rule.decision} ${rule.match}, ${where}${more.join("")}`);
}

/** The sentence on a rule that a decision made. */
export function madeText(rule: Rule): string {
  return `Rule ${shortId(rule)}: ${ruleText(rule, WHERE[rule.session_id === undefined ? "always" : "session"])}.`;
}

/** Prints what a rule will not do although its match suggests it. */
export function tellNote({ note }: { note?: string | undefined }, terminal: Terminal): void {
  if (note !== undefined) terminal.err(`${note}\n`);
}

/** The rule's limits and other special properties; empty for a rule that holds until it is removed. */
export function limitsOf({ uses_left, expires_at, interrupt, mode, shadow, off }: Rule): string[] {
  return [
    ...(off ? ["off: the file has a mistake"] : []),
    ...(uses_left === undefined ? [] : [`${uses_left} ${uses_left === 1 ? "use" : "uses"} left`]),
    ...(expires_at === undefined ? [] : [`for ${duration(expires_at - Date.now() / 1000)} more`]),
    ...(interrupt ? ["ends the turn"] : []),
    ...(mode === "shadow" ? [shadowText(shadow)] : []),
  ];
}

function shadowText({ would_decide, contradictions, ready }: NonNullable<Rule["shadow"]> = NO_RECORD): string {
  const record = `would have decided ${would_decide}, ${contradictions} of them otherwise`;
  return `shadow: ${record}${ready ? "; ready for --live" : ""}`;
}

const NO_RECORD = { would_decide: 0, contradictions: 0, ready: false };

/** A number with its noun in singular or plural. */
export function counted(count: number, one: string): string {
  return `${count} ${one}${count === 1 ? "" : "s"}`;
}
