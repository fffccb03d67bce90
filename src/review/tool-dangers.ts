import type { Approval } from "../contract/approvals/approval.ts";
import type { ApprovalContext } from "../contract/approvals/approval-context.ts";
import { namedPath } from "../contract/approvals/named-path.ts";
import { hidesSomething } from "../contract/unprintable.ts";
import { askedCommand } from "./asked-command.ts";
import { isForeign, onlyLooks } from "./asked-tool.ts";
import { fetchDangers } from "./fetch-dangers.ts";
import { kindOf, textsIn } from "./kinds.ts";
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

/** A rule says what is dangerous about a call, in words that go on after "it". */
export type ToolRule = { rule: string; test: (approval: Approval, context: ApprovalContext) => string[] };

/** What counts as dangerous in a call, beside what is in its command; `docs/dangers.md` says it to people. */
export const TOOL_RULES: readonly ToolRule[] = [
  {
    rule: "question",
    test: (approval) =>
      kindOf(approval).kind === "questions" ? ["goes on without an answer, unless you choose one"] : [],
  },
  {
    rule: "sandbox",
    test: ({ input }) => (isSet(input["dangerouslyDisableSandbox"]) ? ["runs outside of the sandbox"] : []),
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
        // A claude that was started by hand works somewhere that only it knows.
        .filter((path) => context.working_dir !== null && locate(path, startIn(context.working_dir)) === "outside")
        .map((path) => `changes ${path}, outside of the working directory`),
  },
  {
    rule: "settings",
    test: (approval, context) =>
      changedPaths(approval, context)
        .filter((path) => runsLater(fromWorkingDir(path, startIn(context.working_dir))))
        .map((path) => `changes what runs later on (${path})`),
  },
  {
    rule: "secrets",
    test: (approval, context) =>
      pathsIn(approval, context)
        .filter(holdsSecrets)
        .map((path) => `touches passwords, keys or tokens (${path})`),
  },
  {
    rule: "database",
    test: (approval) => {
      const texts = isForeign(approval) ? ["sql", "query", "statement"].map((name) => text(approval.input[name])) : [];
      return texts.some(changesData) ? ["changes or removes data of a database"] : [];
    },
  },
  {
    rule: "tool",
    test: (approval) =>
      isForeign(approval) && !onlyLooks(approval) ? [`runs a tool of another program (${approval.tool_name})`] : [],
  },
  {
    rule: "skill",
    test: ({ tool_name, input }) =>
      tool_name === "Skill"
        ? [`runs what the skill embeds, and lets its tools run unasked until the turn ends (${text(input["skill"])})`]
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
    test: ({ tool_name }) => (tool_name === "SendMessage" ? ["writes into the work of another agent"] : []),
  },
  {
    rule: "schedule",
    test: ({ tool_name }) =>
      /^(CronCreate|ScheduleWakeup|RemoteTrigger)$/.test(tool_name) ? [`runs again later, unasked (${tool_name})`] : [],
  },
  {
    rule: "hidden",
    // As one text, since an input may hold millions of short ones.
    test: ({ input }, { plan, skill }) =>
      hidesSomething([...textsIn(input), plan, skill?.text].join("\n")) ? ["has characters that do not show"] : [],
  },
  {
    rule: "unreadable",
    test: (approval, context) => {
      const command = askedCommand(approval);
      return [...(command && "unread" in command ? [command.unread] : []), ...unseen(approval, context)];
    },
  },
];

/** What belongs to the call and could not be looked at. */
function unseen(approval: Approval, { working_dir, real_path, plan, skill }: ApprovalContext): string[] {
  if (writtenPaths(approval).some(isTooLong)) return [TOO_LONG];
  const { kind } = kindOf(approval);
  if (kind === "plan" && plan === null) return ["has a plan that could not be found"];
  if (kind === "skill" && skill === null) return ["loads a skill that could not be found"];
  const isLost = working_dir !== null && real_path === null && namedPath(approval) !== undefined;
  return isLost ? ["leads through a link whose target can't be told, or into /proc, /dev or /sys"] : [];
}

function changedPaths(approval: Approval, context: ApprovalContext): string[] {
  return onlyLooks(approval) ? [] : pathsIn(approval, context);
}

/** As they are written, and where the one that the tool takes really leads. */
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
