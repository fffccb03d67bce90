import type { Approval } from "../schema/approval.ts";
import type { ApprovalContext } from "../schema/approval-context.ts";
import { hidesSomething } from "../schema/unprintable.ts";
import { type Danger, dangersIn, locate, readCommand, startIn } from "../shell/index.ts";
import { kindOf, textsIn } from "./kinds.ts";

const OWN_SETTINGS =
  /(^|\/)(\.claude\/(settings[\w.]*\.json|hooks\/)|\.mcp\.json$|\.git\/|\.bashrc$|\.zshrc$|\.profile$|\.ssh\/)/;

/** Why allowing this wants a second press; whoever can't be sure gets a reason too. */
export function dangersOf(approval: Approval, context: ApprovalContext | undefined): Danger[] {
  if (context === undefined) return [{ rule: "unreadable", message: "could not be looked at in full" }];
  const kind = kindOf(approval);
  if (kind.kind === "command") return dangersIn(readCommand(kind.command), context.working_dir);
  const found: Danger[] = [];
  if (kind.kind === "questions")
    found.push({ rule: "question", message: "goes on without an answer, unless you choose one and press Answer" });
  if (textsIn(approval.input).some(hidesSomething)) {
    found.push({ rule: "hidden", message: "has characters that do not show" });
  }
  if (kind.kind === "write" || kind.kind === "edit") {
    const where = locate(kind.path, startIn(context.working_dir));
    // A claude that was started by hand works somewhere that only it knows.
    if (where === "outside" && context.working_dir !== null) {
      found.push({ rule: "outside", message: `changes ${kind.path}, outside of the working directory` });
    }
    if (OWN_SETTINGS.test(kind.path)) {
      found.push({ rule: "settings", message: `changes what runs later on (${kind.path})` });
    }
  }
  return found;
}
