import type { Approval } from "../../contract/approvals/approval.ts";
import { dangersOf } from "../../review/dangers.ts";

/** The context without asking the server: neither the file nor the real path. */
const LISTED = { working_dir: null, file: null, real_path: null, plan: null, skill: null };
const known = new WeakMap<Approval, boolean>();

/** Whether a request looks dangerous from the list alone. Its card checks everything. */
export function isDangerous(approval: Approval): boolean {
  const before = known.get(approval);
  if (before !== undefined) return before;
  const is = !approval.truncated && dangersOf(approval, LISTED).length > 0;
  known.set(approval, is);
  return is;
}
