import type { Approval } from "../contract/approvals/approval.ts";
import type { ApprovalContext } from "../contract/approvals/approval-context.ts";
import { namedPath } from "../contract/approvals/named-path.ts";
import { hasInvisibleCharacters } from "../contract/text/unprintable.ts";
import { fetchDangers } from "./fetch-dangers.ts";
import { kindOf, textsIn } from "./kinds.ts";
import { requestedCommand } from "./requested-command.ts";
import {
  changesData,
  fromWorkingDir,
  holdsSecrets,
  isTooLong,
  locate,
  runsLater,
  startIn,
  TOO_LONG,
} from "./shell/index.ts";
import { isMcpTool, isReadOnly } from "./tool-effect.ts";

/** A rule returns the dangers of a call, as verb phrases that follow "it". */
type ToolRule = { rule: string; test: (approval: Approval, context: ApprovalContext) => string[] };

/** The rules for calls, besides their commands; `docs/dangers.md` describes them for people. */
export const TOOL_RULES: readonly ToolRule[] = [
  {
    rule: "question",
    test: (approval) =>
      kindOf(approval).kind === "questions" ? ["continues without an answer unless you choose one"] : [],
  },
  {
    rule: "sandbox",
    test: ({ input }) => (isSet(input["dangerouslyDisableSandbox"]) ? ["runs outside the sandbox"] : []),
  },
  {
    rule: "background",
    test: ({ input }) => (isSet(input["run_in_background"]) ? ["keeps running after the call"] : []),
  },
  { rule: "fetch", test: ({ tool_name, input }) => (tool_name === "WebFetch" ? fetchDangers(text(input["url"])) : []) },
  {
    rule: "outside",
    test: (approval, context) =>
      changedPaths(approval, context)
        // The working directory of a claude started by hand is unknown.
        .filter((path) => context.working_dir !== null && locate(path, startIn(context.working_dir)) === "outside")
        .map((path) => `changes ${path}, outside the working directory`),
  },
  {
    rule: "settings",
    test: (approval, context) =>
      changedPaths(approval, context)
        .filter((path) => runsLater(fromWorkingDir(path, startIn(context.working_dir))))
        .map((path) => `changes a file that runs later (${path})`),
  },
  {
    rule: "secrets",
    test: (approval, context) =>
      pathsIn(approval, context)
        .filter(holdsSecrets)
        .map((path) => `accesses a file with credentials (${path})`),
  },
  {
    rule: "database",
    test: (approval) => {
      const texts = isMcpTool(approval) ? ["sql", "query", "statement"].map((name) => text(approval.input[name])) : [];
      return texts.some(changesData) ? ["changes or removes data in a database"] : [];
    },
  },
  {
    rule: "tool",
    test: (approval) =>
      isMcpTool(approval) && !isReadOnly(approval)
        ? [`runs an MCP tool that may change something (${approval.tool_name})`]
        : [],
  },
  {
    rule: "skill",
    test: ({ tool_name, input }) =>
      tool_name === "Skill"
        ? [
            `runs the skill's commands, and lets its allowed tools run without asking until the turn ends (${text(input["skill"])})`,
          ]
        : [],
  },
  {
    rule: "agent",
    test: ({ tool_name, input }) => {
      const mode = text(input["mode"] ?? input["permission_mode"] ?? input["permissionMode"]);
      const isFree = /^(Agent|Task)$/.test(tool_name) && !["", "default", "plan"].includes(mode);
      return isFree ? [`starts an agent that may act without asking (${mode})`] : [];
    },
  },
  {
    rule: "message",
    test: ({ tool_name }) => (tool_name === "SendMessage" ? ["sends a message to another agent"] : []),
  },
  {
    rule: "schedule",
    test: ({ tool_name }) =>
      /^(CronCreate|ScheduleWakeup|RemoteTrigger)$/.test(tool_name)
        ? [`runs again later without asking (${tool_name})`]
        : [],
  },
  {
    rule: "hidden",
    // Joined into one text, because an input may have millions of short ones.
    test: ({ input }, { plan, skill }) =>
      hasInvisibleCharacters([...textsIn(input), plan, skill?.text].join("\n")) ? ["has invisible characters"] : [],
  },
  {
    rule: "unreadable",
    test: (approval, context) => {
      const command = requestedCommand(approval);
      return [...(command && "unread" in command ? [command.unread] : []), ...unchecked(approval, context)];
    },
  },
];

/** Returns the problems of parts that could not be checked. */
function unchecked(approval: Approval, { working_dir, real_path, plan, skill }: ApprovalContext): string[] {
  if (writtenPaths(approval).some(isTooLong)) return [TOO_LONG];
  // The context of a decided request is no longer looked up.
  if (approval.status !== "pending") return [];
  const { kind } = kindOf(approval);
  if (kind === "plan" && plan === null) return ["has a plan that could not be found"];
  if (kind === "skill" && skill === null) return ["loads a skill that could not be found"];
  const isLost = working_dir !== null && real_path === null && namedPath(approval) !== undefined;
  return isLost ? ["leads through a link that can't be followed, or into /proc, /dev or /sys"] : [];
}

function changedPaths(approval: Approval, context: ApprovalContext): string[] {
  return isReadOnly(approval) ? [] : pathsIn(approval, context);
}

/** Returns the paths as written, and the real path of the tool's path. */
function pathsIn(approval: Approval, { real_path }: ApprovalContext): string[] {
  const paths = new Set([...writtenPaths(approval), real_path ?? ""]);
  return [...paths].filter((path) => path !== "" && !isTooLong(path));
}

function writtenPaths({ input }: Approval): string[] {
  return ["file_path", "notebook_path", "path"].map((name) => text(input[name]));
}

function isSet(value: unknown): boolean {
  return value !== undefined && value !== null && value !== false;
}

function text(value: unknown): string {
  return typeof value === "string" ? value : "";
}
