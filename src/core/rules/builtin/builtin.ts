import type { Found } from "../../../files/real-path.ts";
import { isSearchable } from "../command-context.ts";
import { fileOf, searchRoot } from "../file-tools.ts";
import { isHarmlessCommand } from "../harmless-command.ts";
import { hasOwnProgramsOnPath, openReadableFiles, type ReadableFiles } from "../readable-files.ts";
import type { ChildContext, ToolCall } from "../tool-call.ts";
import { hasKnownKeys, textAt } from "../tool-keys.ts";
import { BOOKKEEPING, SEARCHERS } from "../tool-kinds.ts";

type Rule = {
  name: string;
  onlyIn?: ChildContext["supervision"];
  allows(call: ToolCall, child: ChildContext): boolean;
};

const BOOKKEEPING_RULE: Rule = { name: "bookkeeping", allows: ({ toolName, input }) => hasKnownKeys(toolName, input) };
const SEARCH: Rule = { name: "search", allows: (call, child) => isProven(child, (files) => searches(call, files)) };

/**
 * The tools whose calls may run without approval. Every other tool needs it, because its effect is unknown or reaches
 * beyond the child's own conversation. `EnterPlanMode` is missing because it changes how the CLI asks.
 */
const RULES = new Map<string, Rule>([
  ["Read", { name: "read", allows: (call, child) => isProven(child, (files) => reads(call, files)) }],
  ...SEARCHERS.map((tool): [string, Rule] => [tool, SEARCH]),
  ["Bash", { name: "bash", onlyIn: "default", allows: runsHarmless }],
  ["Agent", { name: "agent", onlyIn: "default", allows: startsBuiltinAgent }],
  ...BOOKKEEPING.map((tool): [string, Rule] => [tool, BOOKKEEPING_RULE]),
]);

/**
 * The name of the built-in rule that allows the call; `undefined` if the call needs approval. Never throws. It checks
 * the present file system: a call that could change files before this one runs needed approval itself.
 */
export function builtinRule(call: ToolCall, child: ChildContext): string | undefined {
  try {
    const rule = RULES.get(call.toolName);
    if (!rule || (rule.onlyIn && rule.onlyIn !== child.supervision)) return undefined;
    return rule.allows(call, child) ? rule.name : undefined;
  } catch {
    return undefined;
  }
}

function reads(call: ToolCall, files: ReadableFiles): boolean {
  const found = fileOf(call, files);
  const isThere = found?.kind === "file" || found?.kind === "directory";
  if (!found || !(isThere || isPlainlyMissing(found))) return false;
  return files.isInside(found) && !files.isPrivate(found);
}

/** A missing file reveals nothing, unless its name has special characters: then Claude Code tries similar names. */
function isPlainlyMissing({ kind, real }: Found): boolean {
  return kind === "missing" && /\/[\w.@+-]+$/.test(real);
}

function searches(call: ToolCall, files: ReadableFiles): boolean {
  const root = searchRoot(call, files);
  if (root?.kind !== "directory" && !(root?.kind === "file" && call.toolName === "Grep")) return false;
  return root.kind === "file"
    ? files.readable(root.real, "/") !== undefined
    : isSearchable(root.real, { files, dir: "/", hasInput: false });
}

function runsHarmless({ toolName, input }: ToolCall, child: ChildContext): boolean {
  const command = textAt(input, "command");
  if (command === undefined || !hasKnownKeys(toolName, input)) return false;
  return isProven(child, (files) => !hasOwnProgramsOnPath(child, files) && isHarmlessCommand(command, files));
}

/** The agents that Claude Code provides. Forks and agents with other rights need approval. */
const BUILTIN_AGENTS = ["general-purpose", "Explore", "Plan"];

/** A built-in agent has no more rights than the child that starts it: its calls are checked like the child's own. */
function startsBuiltinAgent({ toolName, input }: ToolCall): boolean {
  const kind = textAt(input, "subagent_type") ?? "general-purpose";
  const model = textAt(input, "model") ?? "sonnet";
  return hasKnownKeys(toolName, input) && BUILTIN_AGENTS.includes(kind) && /^[a-z]{1,20}$/.test(model);
}

function isProven(child: ChildContext, proof: (files: ReadableFiles) => boolean): boolean {
  const files = openReadableFiles(child);
  return files !== undefined && proof(files);
}
