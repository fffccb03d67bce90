import { resolve } from "node:path";
import type { Approval } from "../../contract/approvals/approval.ts";
import { namedPath } from "../../contract/approvals/named-path.ts";
import { follow } from "../../files/real-path.ts";
import { dangersOf } from "../../review/dangers.ts";
import { commandLinks } from "../approvals/context/command-links.ts";
import type { HasDangers } from "../rules/matching/prove.ts";
import type { ToolCall } from "../rules/tool-call.ts";

/**
 * Whether a call in this directory raises a danger that people would see; a call that can't be checked raises one. The
 * danger that an MCP tool may change something does not count, because a rule names the tool or its server.
 */
export function dangersIn(working_dir: string | null): HasDangers {
  return ({ toolName, input }: ToolCall) => {
    const approval: Approval = { ...ANY, tool_name: toolName, input };
    const named = namedPath(approval)?.trim();
    const isFollowed = working_dir !== null && named !== undefined;
    const real_path = isFollowed ? (follow(resolve(working_dir, named))?.real ?? null) : null;
    const links = working_dir === null ? [] : commandLinks(approval, working_dir, undefined);
    const context = { working_dir, file: null, real_path, links, plan: null, skill: null };
    return dangersOf(approval, context).some(({ rule }) => rule !== "tool");
  };
}

/** The fields of an approval that do not affect its dangers. */
const ANY = {
  id: "",
  session_id: "",
  session_name: "",
  tool_use_id: null,
  status: "pending",
  created_at: 0,
  expires_at: 0,
} as const;
