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
    found.push({ rule: "question", message: "goes on without an answer, unless you choose one" });
  if ([...textsIn(approval.input), context.plan ?? "", context.skill?.text ?? ""].some(hidesSomething)) {
    found.push({ rule: "hidden", message: "has characters that do not show" });
  }
  if (kind.kind === "write" || kind.kind === "edit") {
    if (context.real_path === null && context.working_dir !== null) {
      found.push({ rule: "unreadable", message: "names a path that may lead anywhere" });
    }
    for (const path of new Set([kind.path, context.real_path ?? kind.path])) found.push(...changing(path, context));
  }
  if (kind.kind === "plan" && context.plan === null) {
    found.push({ rule: "unreadable", message: "has a plan that could not be found" });
  }
  if (kind.kind === "skill") found.push(...loading(context));
  return found;
}

/** Of a path as it is written, and of where it really leads. */
function changing(path: string, { working_dir }: ApprovalContext): Danger[] {
  const found: Danger[] = [];
  // A claude that was started by hand works somewhere that only it knows.
  if (working_dir !== null && locate(path, startIn(working_dir)) === "outside") {
    found.push({ rule: "outside", message: `changes ${path}, outside of the working directory` });
  }
  if (OWN_SETTINGS.test(path)) found.push({ rule: "settings", message: `changes what runs later on (${path})` });
  return found;
}

/** The CLI runs commands that a skill embeds, and asks no more about its `allowed-tools` until the turn ends. */
function loading({ skill }: ApprovalContext): Danger[] {
  const grants = {
    rule: "skill",
    message: "runs what the skill embeds, and lets the skill's allowed-tools run unasked for the rest of the turn",
  };
  return skill ? [grants] : [{ rule: "unreadable", message: "loads a skill that could not be found" }, grants];
}
