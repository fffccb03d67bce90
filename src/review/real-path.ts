import type { Approval } from "../contract/approvals/approval.ts";
import type { ApprovalContext } from "../contract/approvals/approval-context.ts";
import { namedPath } from "../contract/approvals/named-path.ts";

/** Where the path in a call really leads, if that differs from what is written. */
export function leadsTo(
  approval: Pick<Approval, "tool_name" | "input">,
  context: ApprovalContext | undefined,
): string | undefined {
  const real = context?.real_path ?? undefined;
  return real === namedPath(approval) ? undefined : real;
}
