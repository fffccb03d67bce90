import { textAt } from "../tool-keys.ts";
import { BOOKKEEPING, EDITORS } from "../tool-kinds.ts";
import type { WithheldFiles } from "../withheld-files.ts";
import { plainHost } from "./fetch-pattern.ts";
import type { JudgedCall } from "./judged-call.ts";
import { type Pattern, readMatch } from "./pattern.ts";
import { createProver, type HasDangers } from "./prove.ts";
import { suggestedCommands } from "./suggestions/suggested-commands.ts";
import { suggestedPaths } from "./suggestions/suggested-paths.ts";

/** What the deny and ask rules still require of a call that none of them matches. */
export type InForce = {
  /** The files that they forbid to read. */
  withheld: WithheldFiles | undefined;
  /** One of them might match, so only exact words allow the call. */
  isSuspect: boolean;
};
export const NOTHING_IN_FORCE: InForce = { withheld: undefined, isSuspect: false };

const MAX_CHARS = 200;
const HARMLESS_TOOLS = ["WebSearch", ...BOOKKEEPING];

/**
 * The narrowest useful match of a rule that would allow this call and similar ones. The rule must really prove this
 * call under all rules in force, and never covers a dangerous one. Never throws.
 */
export function suggestedMatch(
  judged: JudgedCall,
  hasDangers: HasDangers,
  inForce = NOTHING_IN_FORCE,
): string | undefined {
  try {
    const all = candidates(judged).filter((match) => match.length <= MAX_CHARS);
    if (all.length === 0 || hasDangers(judged.call)) return undefined;
    return all.find((match) => isProof(match, judged, hasDangers, inForce));
  } catch {
    return undefined;
  }
}

function candidates(judged: JudgedCall): string[] {
  const { toolName, input } = judged.call;
  if (toolName === "Bash") return suggestedCommands(judged);
  if (toolName === "Read" || EDITORS.includes(toolName)) return suggestedPaths(judged);
  if (toolName === "WebFetch") {
    const host = plainHost(textAt(input, "url"));
    return host === undefined ? [] : [`WebFetch(domain:${host})`];
  }
  return HARMLESS_TOOLS.includes(toolName) || toolName.startsWith("mcp__") ? [toolName] : [];
}

function isProof(match: string, judged: JudgedCall, hasDangers: HasDangers, inForce: InForce): boolean {
  const read = readMatch(match);
  return "pattern" in read && wouldAllow(read.pattern, judged, hasDangers, inForce);
}

/** Whether an allow rule with this pattern, on its own, would decide the call. */
export function wouldAllow(pattern: Pattern, judged: JudgedCall, hasDangers: HasDangers, inForce: InForce): boolean {
  const { withheld, isSuspect } = inForce;
  return createProver([{ id: "", pattern }], hasDangers).prove(judged, withheld, isSuspect) !== undefined;
}
