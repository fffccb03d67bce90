import type { Approval } from "../contract/approvals/approval.ts";
import type { ApprovalContext } from "../contract/approvals/approval-context.ts";
import { namedPath } from "../contract/approvals/named-path.ts";

/** Where the path that a call names really leads, if that is not what it says. */
export function leadsTo(
  approval: Pick<Approval, "tool_name" | "input">,
  context: ApprovalContext | undefined,
): string | undefined {
  const real = context?.real_path ?? undefined;
  return real === namedPath(approval) ? undefined : real;
}
