import { textAt } from "../tool-keys.ts";
import { BOOKKEEPING, EDITORS } from "../tool-kinds.ts";
import type { WithheldFiles } from "../withheld-files.ts";
import { plainHost } from "./fetch-pattern.ts";
import type { JudgedCall } from "./judged-call.ts";
import { type Pattern, readMatch } from "./pattern.ts";
import { createProver, type HasDangers } from "./prove.ts";
import { suggestedCommands } from "./suggestions/suggested-commands.ts";
import { suggestedPaths } from "./suggestions/suggested-paths.ts";

/** What rules against something, of which none is found in a call, make of it all the same. */
export type InForce = {
  /** What they keep from being read. */
  withheld: WithheldFiles | undefined;
  /** One of them may be meant, so that only exact words allow it. */
  isSuspect: boolean;
};
export const NOTHING_IN_FORCE: InForce = { withheld: undefined, isSuspect: false };

const MAX_CHARS = 200;
const HARMLESS_TOOLS = ["WebSearch", ...BOOKKEEPING];

/**
 * What a rule could match so that this call, and others of its kind, need nobody any more: as narrow as is still useful.
 * Only what really proves this call, whatever is in force, and never what raises a danger. Never throws.
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

/** Whether a rule to allow with this pattern, alone, would decide the call. */
export function wouldAllow(pattern: Pattern, judged: JudgedCall, hasDangers: HasDangers, inForce: InForce): boolean {
  const { withheld, isSuspect } = inForce;
  return createProver([{ id: "", pattern }], hasDangers).prove(judged, withheld, isSuspect) !== undefined;
}
