import { join, resolve } from "node:path";
import type { Approval } from "../../../contract/approvals/approval.ts";
import type { ApprovalContext, CurrentFile, SkillText } from "../../../contract/approvals/approval-context.ts";
import { namedPath } from "../../../contract/approvals/named-path.ts";
import { type Found, follow } from "../../../files/real-path.ts";
import type { Session, Sessions } from "../../sessions/sessions.ts";
import { commandLinks } from "./command-links.ts";
import { readCurrentFile } from "./current-file.ts";
import type { LeadUp } from "./lead-up.ts";
import { skillText } from "./skill-text.ts";

/** Tools whose input names the one file that they change. */
const EDITING_TOOLS = ["Edit", "Write", "MultiEdit"];

/** The context of a call, and what its child said before it. */
type KnownContext = { context: ApprovalContext; leadUp: LeadUp };
export type ContextOf = ReturnType<typeof createContextOf>;

type Need = {
  sessions: Pick<Sessions, "get">;
  leadUpOf: (approval: Approval) => Promise<LeadUp>;
  taskOf: (approval: Approval) => Promise<string | undefined>;
  /** Paths whose contents are never shown. */
  privatePaths: string[];
  /** The environment that children inherit; it gives the user's home and Claude directories. */
  environment: Record<string, string | undefined>;
};

export function createContextOf({ sessions, leadUpOf, taskOf, privatePaths, environment }: Need) {
  /** Resolves a path like Claude Code: trims it, expands `~`, and removes `..` textually. */
  function pathOf(approval: Approval, workingDir: string): string | undefined {
    const named = namedPath(approval)?.trim();
    if (named === undefined) return undefined;
    const home = environment["HOME"];
    const isBelowHome = home !== undefined && (named === "~" || named.startsWith("~/"));
    return isBelowHome ? join(home, named.slice(1)) : resolve(workingDir, named);
  }

  function fileOf({ tool_name }: Approval, path: string | undefined, found: Found | undefined): CurrentFile | null {
    return path !== undefined && EDITING_TOOLS.includes(tool_name) ? readCurrentFile(path, found, privatePaths) : null;
  }

  function skillOf({ tool_name, input }: Approval, workingDir: string): SkillText | null {
    if (tool_name !== "Skill") return null;
    const ofUser = environment["CLAUDE_CONFIG_DIR"] ?? join(environment["HOME"] ?? "/", ".claude");
    // The user's skill takes precedence over the project's skill of the same name.
    const directories = [join(ofUser, "skills"), join(workingDir, ".claude", "skills")];
    return skillText(input["skill"], directories, privatePaths);
  }

  /**
   * Context for a pending approval. The only file read besides a skill is the one that the call names; file and task
   * are read only with `withFile`.
   */
  return async (approval: Approval, { withFile }: { withFile: boolean }): Promise<KnownContext> => {
    const workingDir = workingDirOf(await sessions.get(approval.session_id));
    const nothing = { working_dir: workingDir, file: null, real_path: null, plan: null, skill: null };
    if (approval.status !== "pending") return { context: nothing, leadUp: {} };
    const leadUp = await leadUpOf(approval);
    const task = withFile ? await taskOf(approval) : undefined;
    const said = { ...nothing, plan: leadUp.plan ?? null, ...(task !== undefined && { task }) };
    // Without a working directory the child may run on another host, with other files.
    if (workingDir === null) return { context: said, leadUp };
    const path = pathOf(approval, workingDir);
    // Resolved once, so that the file shown and the path shown are the same.
    const found = path === undefined ? undefined : follow(path);
    const file = withFile ? fileOf(approval, path, found) : null;
    const skill = skillOf(approval, workingDir);
    const links = commandLinks(approval, workingDir, environment["HOME"]);
    const real = { real_path: found?.real ?? null, ...(links.length > 0 && { links }) };
    return { context: { ...said, file, ...real, skill }, leadUp };
  };
}

/** The child's working directory on this host, if it has one. */
function workingDirOf(session: Session | undefined): string | null {
  return session?.config?.working_dir ?? null;
}
