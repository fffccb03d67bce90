import { pathOutside } from "../../claude/launch/program-path.ts";
import type { PermitInput } from "../../contract/approvals/approval.ts";
import type { JsonObject } from "../../contract/values.ts";
import { isCoveredBy } from "../rules/allowed-tools/allowed-tools.ts";
import { builtinRule } from "../rules/builtin/builtin.ts";
import type { Session } from "../sessions/sessions.ts";

type BuiltinRulesNeed = {
  /** Files and directories that no child may read, by whatever path. */
  privatePaths: string[];
  home: string;
  /** The `PATH` of the shell that starts a child. */
  path: string;
};

/** What a built-in rule decides: it allows, unless it says why it denies. */
export type BuiltinDecision = { rule: string; denial?: string };

const ANOTHER_DIRECTORY: BuiltinDecision = {
  rule: "worktree",
  denial:
    "Plexus does not let a child work in another directory than its own: its calls could not be judged there. Work here, or ask for a session there.",
};

/** What needs nobody: proven by a built-in rule, allowed by name when the session was created, or never to run. */
export function createBuiltinRules({ privatePaths, home, path }: BuiltinRulesNeed) {
  return (session: Session, { tool_name, input }: PermitInput): BuiltinDecision | undefined => {
    const { config } = session;
    // Of a claude that was started elsewhere by hand nobody knows where it works.
    if (!config || config.supervision === "inherit") return undefined;
    if (leavesDirectory(tool_name, input)) return ANOTHER_DIRECTORY;
    const call = { toolName: tool_name, input };
    const { supervision, working_dir: workingDir, add_dirs: addDirs, allowed_tools } = config;
    const ownPath = session.kind === "managed" ? pathOutside([workingDir, ...addDirs], path) : path;
    const place = { supervision, workingDir, addDirs, privatePaths, home, path: ownPath };
    const rule = builtinRule(call, place) ?? (isCoveredBy(allowed_tools, call, place) ? "allowed_tools" : undefined);
    return rule === undefined ? undefined : { rule };
  };
}

/** Relative paths would mean something else there than what is proven here. */
function leavesDirectory(toolName: string, input: JsonObject): boolean {
  if (/^(Enter|Exit)Worktree$/.test(toolName)) return true;
  return /^(Agent|Task)$/.test(toolName) && ["isolation", "cwd"].some((key) => (input[key] ?? null) !== null);
}
