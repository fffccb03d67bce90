import { APPROVAL_WORDS } from "../../../client/words/words.ts";
import type { ApprovalStatus } from "../../../contract/approvals/approval.ts";

export function StatusBadge({ status }: { status: ApprovalStatus }) {
  return <span class={`badge ${status}`}>{APPROVAL_WORDS[status]}</span>;
}
