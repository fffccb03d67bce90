import type { Approval } from "../contract/approvals/approval.ts";
import type { ApprovalContext } from "../contract/approvals/approval-context.ts";
import { askedCommand } from "./asked-command.ts";
import { type Danger, dangersIn, readCommand } from "./shell/index.ts";
import { TOOL_RULES } from "./tool-dangers.ts";

/** The server takes no longer name of a tool. */
const MAX_TOOL_NAME_CHARS = 512;
const UNSEEN: Danger = { rule: "unreadable", message: "could not be looked at in full" };

/** Why allowing this wants a second press; whoever can't be sure gets a reason too. Never throws, whatever was asked. */
export function dangersOf(approval: Approval, context: ApprovalContext | undefined, rules = TOOL_RULES): Danger[] {
  if (context === undefined) return [UNSEEN];
  if (approval.tool_name.length > MAX_TOOL_NAME_CHARS) {
    return [{ rule: "unreadable", message: "has a tool name that is too long to read" }];
  }
  const findings = rules.map(
    ({ rule, test }) =>
      () =>
        test(approval, context).map((message) => ({ rule, message })),
  );
  const found = [() => commandDangers(approval, context), ...findings].flatMap(unlessItFails);
  return [...new Map(found.map((danger) => [danger.message, danger])).values()];
}

function commandDangers(approval: Approval, { working_dir }: ApprovalContext): Danger[] {
  const command = askedCommand(approval);
  return command && "text" in command ? dangersIn(readCommand(command.text), working_dir) : [];
}

/** A check that breaks on an ask must not keep anybody from deciding it, nor let it pass for harmless. */
function unlessItFails(check: () => Danger[]): Danger[] {
  try {
    return check();
  } catch {
    return [UNSEEN];
  }
}
