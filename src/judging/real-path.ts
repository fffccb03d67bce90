import type { Approval } from "../schema/approval.ts";
import type { ApprovalContext } from "../schema/approval-context.ts";
import { namedPath } from "../schema/named-path.ts";

/** Where the path that a call names really leads, if that is not what it says. */
export function leadsTo(
  approval: Pick<Approval, "tool_name" | "input">,
  context: ApprovalContext | undefined,
): string | undefined {
  const real = context?.real_path ?? undefined;
  return real === namedPath(approval) ? undefined : real;
}
