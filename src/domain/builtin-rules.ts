import { builtinRule, isCoveredBy } from "../rules/builtin.ts";
import type { PermitInput } from "../schema/approval.ts";
import type { Session } from "./sessions.ts";

type BuiltinRulesNeed = {
  /** Files and directories that no child may read, by whatever path. */
  privatePaths: string[];
  home: string;
  /** Where the child's shell finds programs. */
  path: string;
};

/** What needs nobody: proven by a built-in rule, or allowed by name when the session was created. */
export function createBuiltinRules({ privatePaths, home, path }: BuiltinRulesNeed) {
  return (session: Session, { tool_name, input }: PermitInput): string | undefined => {
    const { config } = session;
    // Of a claude that was started elsewhere by hand nobody knows where it works.
    if (!config || config.supervision === "inherit") return undefined;
    const call = { toolName: tool_name, input };
    const { supervision, working_dir: workingDir, add_dirs: addDirs, allowed_tools } = config;
    const place = { supervision, workingDir, addDirs, privatePaths, home, path };
    return builtinRule(call, place) ?? (isCoveredBy(allowed_tools, call, place) ? "allowed_tools" : undefined);
  };
}
