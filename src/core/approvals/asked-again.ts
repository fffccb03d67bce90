import type { PermitAnswer } from "../../contract/approvals/approval.ts";

const BEFORE = "This call was asked about again on another connection, which got the answer to approval ";
const AFTER = ". The tool was not run here.";

/** Denies the earlier request when the child has asked about the same call again: an allow runs one call only. */
export function askedAgain(approvalId: string): PermitAnswer {
  return { behavior: "deny", message: `${BEFORE}${approvalId}${AFTER}` };
}

/** The approval id in the refusal that `askedAgain` makes; `undefined` for any other output. */
export function approvalAskedAgain(output: string): string | undefined {
  const isRefusal = output.startsWith(BEFORE) && output.endsWith(AFTER);
  return isRefusal ? output.slice(BEFORE.length, -AFTER.length) : undefined;
}
