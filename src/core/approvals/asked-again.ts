import type { PermitAnswer } from "../../contract/approvals/approval.ts";

const BEFORE = "This call was asked about again on another connection, which got the answer to approval ";
const AFTER = ". The tool was not run here.";

/** The answer to an earlier request for a call that was asked about again: an allow runs one call. */
export function askedAgain(approvalId: string): PermitAnswer {
  return { behavior: "deny", message: `${BEFORE}${approvalId}${AFTER}` };
}

/** The approval whose answer somebody else got, where a call failed with this refusal and nothing else. */
export function approvalAskedAgain(output: string): string | undefined {
  const isRefusal = output.startsWith(BEFORE) && output.endsWith(AFTER);
  return isRefusal ? output.slice(BEFORE.length, -AFTER.length) : undefined;
}
