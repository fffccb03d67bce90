import type { Approval } from "../schema/approval.ts";
import type { ApprovalContext } from "../schema/approval-context.ts";
import { type Danger, dangersIn, readCommand } from "../shell/index.ts";
import { askedCommand } from "./asked-command.ts";
import { TOOL_RULES } from "./tool-rules.ts";

/** Why allowing this wants a second press; whoever can't be sure gets a reason too. */
export function dangersOf(approval: Approval, context: ApprovalContext | undefined, rules = TOOL_RULES): Danger[] {
  if (context === undefined) return [{ rule: "unreadable", message: "could not be looked at in full" }];
  const command = askedCommand(approval);
  const found = command && "text" in command ? dangersIn(readCommand(command.text), context.working_dir) : [];
  for (const { rule, test } of rules) {
    found.push(...test(approval, context).map((message) => ({ rule, message })));
  }
  return [...new Map(found.map((danger) => [danger.message, danger])).values()];
}
