import type { Approval } from "../contract/approvals/approval.ts";
import type { ApprovalContext } from "../contract/approvals/approval-context.ts";
import { linksIn } from "./real-paths.ts";
import { requestedLine } from "./requested-command.ts";
import { type Danger, dangersOfLine, throughLinks } from "./shell/index.ts";
import { TOOL_RULES } from "./tool-dangers.ts";

/** The server refuses longer tool names. */
const MAX_TOOL_NAME_CHARS = 512;
const UNCHECKED: Danger = { rule: "unreadable", message: "could not be checked completely" };

/** Why allowing this request needs a second press; a request that can't be checked gets a reason too. Never throws. */
export function dangersOf(approval: Approval, context: ApprovalContext | undefined, rules = TOOL_RULES): Danger[] {
  if (context === undefined) return [UNCHECKED];
  if (approval.tool_name.length > MAX_TOOL_NAME_CHARS) {
    return [{ rule: "unreadable", message: "has a tool name that is too long to check" }];
  }
  const checks = rules.map(
    ({ rule, test }) =>
      () =>
        test(approval, context).map((message) => ({ rule, message })),
  );
  const found = [() => commandDangers(approval, context), ...checks].flatMap(runCheck);
  return [...new Map(found.map((danger) => [danger.message, danger])).values()];
}

function commandDangers(approval: Approval, context: ApprovalContext): Danger[] {
  const line = requestedLine(approval, context.working_dir);
  return line ? dangersOfLine(throughLinks(line, linksIn(context))) : [];
}

/** A check that throws must not block the decision, nor make the request look harmless. */
function runCheck(check: () => Danger[]): Danger[] {
  try {
    return check();
  } catch {
    return [UNCHECKED];
  }
}
