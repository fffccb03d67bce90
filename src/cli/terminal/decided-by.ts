import { decidedByWords, decidedBy as readDecidedBy } from "../../client/words/decided-by.ts";

export const BRAKE_WORDS = "denied at once: denied three times in a row before";

const RULE_ID_CHARS = 8;

/** The random end of a rule's id: enough to tell rules apart. */
export function shortRuleId(id: string): string {
  return id.slice(-RULE_ID_CHARS);
}

/** Who or what decided, in words that follow "by". */
export function decidedBy(resolvedBy: string): string {
  const by = readDecidedBy(resolvedBy);
  return by.kind === "rule" ? `a rule (${shortRuleId(by.id)})` : decidedByWords(by);
}

/** How a request was decided, and by whom. */
export function decidedWords(status: "allowed" | "denied", resolvedBy: string): string {
  return readDecidedBy(resolvedBy).kind === "brake" ? BRAKE_WORDS : `${status} by ${decidedBy(resolvedBy)}`;
}

/** Who decided, in a short form for narrow columns, with a note to show elsewhere. */
export function decidedShortly(resolvedBy: string): { who: string; note: string | undefined } {
  const by = readDecidedBy(resolvedBy);
  if (by.kind === "brake") return { who: resolvedBy, note: BRAKE_WORDS };
  return by.kind === "rule"
    ? { who: "a rule", note: `rule ${shortRuleId(by.id)}` }
    : { who: resolvedBy, note: undefined };
}
