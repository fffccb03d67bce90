import { textAt } from "../tool-keys.ts";
import { BOOKKEEPING, EDITORS } from "../tool-kinds.ts";
import { plainHost } from "./fetch-pattern.ts";
import type { JudgedCall } from "./judged-call.ts";
import { readMatch } from "./pattern.ts";
import { createProver, type HasDangers } from "./prove.ts";
import { suggestedCommands } from "./suggestions/suggested-commands.ts";
import { suggestedPaths } from "./suggestions/suggested-paths.ts";

const MAX_CHARS = 200;
const HARMLESS_TOOLS = ["WebSearch", ...BOOKKEEPING];

/**
 * What a rule could match so that this call, and others of its kind, need nobody any more: as narrow as is still useful.
 * Only what really proves this call, and never what raises a danger. Never throws.
 */
export function suggestedMatch(judged: JudgedCall, hasDangers: HasDangers): string | undefined {
  try {
    const all = candidates(judged).filter((match) => match.length <= MAX_CHARS);
    if (all.length === 0 || hasDangers(judged.call)) return undefined;
    return all.find((match) => isProof(match, judged, hasDangers));
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

function isProof(match: string, judged: JudgedCall, hasDangers: HasDangers): boolean {
  const read = readMatch(match);
  if ("problem" in read) return false;
  return createProver([{ id: "suggested", pattern: read.pattern }], hasDangers).prove(judged, undefined) !== undefined;
}
