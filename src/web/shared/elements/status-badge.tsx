import type { ApprovalStatus } from "../../../contract/approvals/approval.ts";

const WORDS: Record<ApprovalStatus, string> = {
  pending: "pending",
  allowed: "allowed",
  denied: "denied",
  timed_out: "timed out",
  abandoned: "abandoned",
};

export function StatusBadge({ status }: { status: ApprovalStatus }) {
  return <span class={`badge ${status}`}>{WORDS[status]}</span>;
}
