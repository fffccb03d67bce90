import { NO_SUGGESTION, type Remembering, whyNotRemembered } from "../../client/deciding/remember.ts";
import type { Approval } from "../../contract/approvals/approval.ts";
import { type Line, line, type Span, span, widthOf, wrapped } from "../terminal/lines.ts";

export const OUTSIDE_GRANT = "outside your grant: the operator decides";
/** The keys while the person edits a rule. */
export const RULE_KEYS: Line = [
  { text: "Tab this session/always  Enter allow and make the rule  Esc leave", style: "dim" },
];
const WHERE: Record<Remembering["scope"], string> = { session: "in this session", always: "always" };
const CURSOR: Span = { text: "█" };
const LEAST_MATCH = 12;

/**
 * Why the request needs approval although a rule seems to allow it, and how the person could remember such requests.
 */
export function ruleLines(approval: Approval, columns: number): Line[] {
  const { suggested_rule, why_asked, escalates } = approval;
  const noRule = whyNotRemembered(approval);
  const asked = why_asked === undefined ? [] : wrapped(line(`it asks: ${why_asked}`, "dim"), columns);
  if (escalates) return [...asked, ...wrapped(line(`! it is ${OUTSIDE_GRANT}`, "yellow"), columns)];
  if (noRule !== undefined) return [...asked, ...wrapped(line(`it can't be remembered: ${noRule}`, "dim"), columns)];
  if (suggested_rule === undefined) return asked;
  const remembers = wrapped([{ text: "A remembers: ", style: "dim" }, span(`allow ${suggested_rule}`, "dim")], columns);
  return [...asked, ...remembers];
}

/** The match as edited so far; the end of a long one. */
export function matchLine({ decision, match }: Remembering, columns: number): Line {
  const label: Span = { text: `Rule: ${decision} `, style: "bold" };
  const room = Math.max(LEAST_MATCH, columns - widthOf([label]) - 1);
  return [label, span(endOf(match, room)), CURSOR];
}

/** Where the rule would apply and what it would have decided in the past, or the result of the last press. */
export function aboutLines(state: Remembering, note: string | undefined, columns: number): Line[] {
  if (note !== undefined) return wrapped(line(note, "yellow"), columns);
  const where: Span = { text: `${WHERE[state.scope]}; `, style: "cyan" };
  const limits = state.trial.kind === "tried" ? state.trial.tested.note : undefined;
  return [
    ...wrapped([...(state.trial.kind === "none" ? [] : [where]), trialOf(state)], columns),
    ...(limits === undefined ? [] : wrapped(line(limits, "yellow"), columns)),
  ];
}

/** The same in one row. */
export function oneLine(state: Remembering, note: string | undefined, columns: number): Line {
  if (note !== undefined) return line(note, "yellow");
  const about: Line = [{ text: `  ${state.scope} `, style: "cyan" }, shortTrialOf(state)];
  return [...matchLine(state, columns - widthOf(about)), ...about];
}

/** An explanation of the one row. */
export const ONE_LINE_HELP =
  "Edit the rule: Tab changes session/always, Enter allows and makes it, Esc leaves. N of N: what it would have decided.";

function shortTrialOf(state: Remembering): Span {
  const { trial } = state;
  if (trial.kind === "none") return { text: "type a match", style: "yellow" };
  if (trial.kind !== "tried" || trial.tested.contradictions.length > 0) return trialOf(state);
  return { text: `${trial.tested.decided} of ${trial.tested.tested ?? 0}` };
}

function trialOf({ trial, approval }: Remembering): Span {
  switch (trial.kind) {
    case "none":
      return span(approval.suggested_rule === undefined ? `${NO_SUGGESTION} Type a match.` : "type a match", "yellow");
    case "trying":
      return { text: "…" };
    case "refused":
      return span(trial.reason, "yellow");
    case "tried": {
      const { decided, tested = decided, contradictions, has_more } = trial.tested;
      const count = `${contradictions.length}${has_more ? "+" : ""}`;
      if (contradictions.length > 0)
        return { text: `contradicts ${count} of ${tested} decided before`, style: "yellow" };
      return { text: `would have decided ${decided} of ${tested} before` };
    }
  }
}

function endOf(text: string, columns: number): string {
  return Array.from(text).slice(-columns).join("");
}
