import { resolve } from "node:path";
import type { Approval } from "../schema/approval.ts";
import type { ApprovalContext, FileNow } from "../schema/approval-context.ts";
import type { Approvals } from "./approvals.ts";
import { fileNow } from "./file-now.ts";
import type { Principal } from "./principals.ts";
import type { Sessions } from "./sessions.ts";

/** The tools whose input names one file that they change. */
const EDITING_TOOLS = ["Edit", "Write", "MultiEdit"];

export type ApprovalContexts = ReturnType<typeof createApprovalContexts>;

type Need = { approvals: Approvals; sessions: Sessions; dataDir: string };

export function createApprovalContexts({ approvals, sessions, dataDir }: Need) {
  async function fileOf(approval: Approval, workingDir: string | null): Promise<FileNow | null> {
    const named = approval.input["file_path"];
    if (approval.status !== "pending" || !EDITING_TOOLS.includes(approval.tool_name)) return null;
    if (typeof named !== "string" || (!named.startsWith("/") && workingDir === null)) return null;
    return fileNow(resolve(workingDir ?? "/", named), dataDir);
  }

  return {
    /** For those who may decide the approval, and of no other file than the one that it names. */
    async get(principal: Principal, id: string): Promise<ApprovalContext> {
      const approval = approvals.get(principal, id);
      const workingDir = sessions.get(approval.session_id)?.config?.working_dir ?? null;
      return { working_dir: workingDir, file: await fileOf(approval, workingDir) };
    },
  };
}
