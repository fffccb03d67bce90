import { join, resolve } from "node:path";
import type { Approval } from "../../contract/approvals/approval.ts";
import type { ApprovalContext, CurrentFile, SkillText } from "../../contract/approvals/approval-context.ts";
import { namedPath } from "../../contract/approvals/named-path.ts";
import { type Found, follow } from "../../files/real-path.ts";
import type { Storage } from "../../storage/storage.ts";
import type { Principal } from "../access/principals.ts";
import type { Session, Sessions } from "../sessions/sessions.ts";
import type { Approvals } from "./approvals.ts";
import { readCurrentFile } from "./current-file.ts";
import { skillText } from "./skill-text.ts";

/** The tools whose input names one file that they change. */
const EDITING_TOOLS = ["Edit", "Write", "MultiEdit"];

export type ApprovalContexts = ReturnType<typeof createApprovalContexts>;

type Need = {
  approvals: Approvals;
  sessions: Sessions;
  storage: Pick<Storage, "turns">;
  /** What is shown to nobody. */
  privatePaths: string[];
  /** What children inherit: it tells where their user's files are. */
  environment: Record<string, string | undefined>;
};

export function createApprovalContexts({ approvals, sessions, storage, privatePaths, environment }: Need) {
  /** As Claude Code reads a path: without the space around it, `~` as the home directory, `..` taken as text. */
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
    // A person's own skill goes before the project's of the same name.
    const directories = [join(ofUser, "skills"), join(workingDir, ".claude", "skills")];
    return skillText(input["skill"], directories, privatePaths);
  }

  /** The CLI takes it out of what it asks: the plan is only in what the child has said. */
  async function planOf({ tool_name, tool_use_id, session_id }: Approval): Promise<string | null> {
    const turn = tool_name === "ExitPlanMode" ? await storage.turns.running(session_id) : undefined;
    const call = turn && tool_use_id ? await storage.turns.toolUse(turn.id, tool_use_id) : undefined;
    const plan = call?.input["plan"];
    return typeof plan === "string" ? plan : null;
  }

  return {
    /** For those who may decide the approval, and of no other file than the one that it names. */
    async get(principal: Principal, id: string): Promise<ApprovalContext> {
      const approval = await approvals.get(principal, id);
      const workingDir = workingDirOf(await sessions.get(approval.session_id));
      const nothing = { working_dir: workingDir, file: null, real_path: null, plan: null, skill: null };
      if (approval.status !== "pending") return nothing;
      const plan = await planOf(approval);
      // A claude somewhere else has other files than this host.
      if (workingDir === null) return { ...nothing, plan };
      const path = pathOf(approval, workingDir);
      // Followed once, so that the file that is shown is the one at the path that is told.
      const found = path === undefined ? undefined : follow(path);
      const file = fileOf(approval, path, found);
      const skill = skillOf(approval, workingDir);
      return { working_dir: workingDir, file, real_path: found?.real ?? null, plan, skill };
    },
  };
}

/** Where the session's child works on this host, if it does. */
function workingDirOf(session: Session | undefined): string | null {
  return session?.config?.working_dir ?? null;
}
