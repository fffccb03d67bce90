import { type Found, follow } from "../../../files/real-path.ts";
import { hasKnownKeys, textAt } from "../allowed-tools/tool-keys.ts";
import { isHarmless } from "../chain.ts";
import { type Ground, openGround } from "../ground.ts";
import type { Place, ToolCall } from "../place.ts";
import { isSearchable } from "../scene.ts";
import { BOOKKEEPING, SEARCHERS } from "../tool-kinds.ts";
import { fileOf, searchRoot } from "./file-tools.ts";

export { isCoveredBy } from "../allowed-tools/allowed-tools.ts";
export type { Place, ToolCall } from "../place.ts";

type Rule = { name: string; onlyIn?: Place["supervision"]; allows(call: ToolCall, place: Place): boolean };

const BOOK: Rule = { name: "bookkeeping", allows: ({ toolName, input }) => hasKnownKeys(toolName, input) };
const SEARCH: Rule = { name: "search", allows: (call, place) => isProven(place, (ground) => searches(call, ground)) };

/**
 * What needs nobody. A tool that is not here is asked about: what it does is not known, or reaches beyond the child's
 * own conversation. `EnterPlanMode` changes how the CLI asks, and is not here for that.
 */
const RULES = new Map<string, Rule>([
  ["Read", { name: "read", allows: (call, place) => isProven(place, (ground) => reads(call, ground)) }],
  ...SEARCHERS.map((tool): [string, Rule] => [tool, SEARCH]),
  ["Bash", { name: "bash", onlyIn: "default", allows: runsHarmless }],
  ["Agent", { name: "agent", onlyIn: "default", allows: startsHelper }],
  ...BOOKKEEPING.map((tool): [string, Rule] => [tool, BOOK]),
]);

/**
 * The name of the built-in rule that lets this call run without asking anybody; undefined: somebody must be asked.
 * Never throws. It judges the file system as it is now: what changes a file between this and the call has been asked about.
 */
export function builtinRule(call: ToolCall, place: Place): string | undefined {
  try {
    const rule = RULES.get(call.toolName);
    if (!rule || (rule.onlyIn && rule.onlyIn !== place.supervision)) return undefined;
    return rule.allows(call, place) ? rule.name : undefined;
  } catch {
    return undefined;
  }
}

function reads(call: ToolCall, ground: Ground): boolean {
  const found = fileOf(call, ground);
  const isThere = found?.kind === "file" || found?.kind === "directory";
  if (!found || !(isThere || isPlainlyMissing(found))) return false;
  return ground.isInside(found) && !ground.isPrivate(found);
}

/** What is not there tells only that; for a name with odd characters, though, Claude Code tries similar ones. */
function isPlainlyMissing({ kind, real }: Found): boolean {
  return kind === "missing" && /\/[\w.@+-]+$/.test(real);
}

function searches(call: ToolCall, ground: Ground): boolean {
  const root = searchRoot(call, ground);
  if (root?.kind !== "directory" && !(root?.kind === "file" && call.toolName === "Grep")) return false;
  return root.kind === "file"
    ? ground.readable(root.real, "/") !== undefined
    : isSearchable(root.real, { ground, dir: "/", isFed: false });
}

function runsHarmless({ toolName, input }: ToolCall, place: Place): boolean {
  const command = textAt(input, "command");
  if (command === undefined || !hasKnownKeys(toolName, input)) return false;
  return isProven(place, (ground) => !ownsPrograms(place, ground) && isHarmless(command, ground));
}

/** Whether a program could be one of the repository's own. */
function ownsPrograms({ path }: Place, ground: Ground): boolean {
  return (path?.split(":") ?? []).some((dir) => {
    const found = dir.startsWith("/") ? follow(dir) : undefined;
    return !found || ground.isInside(found);
  });
}

/** The kinds of agents that Claude Code brings itself; a fork or one with other rights is asked about. */
const HELPERS = ["general-purpose", "Explore", "Plan"];

/** A helper has no more rights than the child that starts it: each of its calls is asked about like the child's own. */
function startsHelper({ toolName, input }: ToolCall): boolean {
  const kind = textAt(input, "subagent_type") ?? "general-purpose";
  const model = textAt(input, "model") ?? "sonnet";
  return hasKnownKeys(toolName, input) && HELPERS.includes(kind) && /^[a-z]{1,20}$/.test(model);
}

function isProven(place: Place, proof: (ground: Ground) => boolean): boolean {
  const ground = openGround(place);
  return ground !== undefined && proof(ground);
}
