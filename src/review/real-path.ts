import type { Approval } from "../contract/approvals/approval.ts";
import type { ApprovalContext } from "../contract/approvals/approval-context.ts";
import { namedPath } from "../contract/approvals/named-path.ts";

/** Where the path in a call really leads, if that differs from what is written, there where the call would run. */
export function leadsTo(
  approval: Pick<Approval, "tool_name" | "input">,
  context: ApprovalContext | undefined,
): string | undefined {
  const real = context?.real_path ?? undefined;
  const named = namedPath(approval);
  if (real === undefined || named === undefined) return real;
  return [named, below(context?.working_dir ?? null, named)].includes(real) ? undefined : real;
}

/** A relative path as an absolute one; one that goes up is not told apart from where it leads. */
function below(directory: string | null, path: string): string | undefined {
  if (directory === null || /^[/~]/.test(path)) return undefined;
  const names = path.split("/").filter((name) => name !== "" && name !== ".");
  return names.includes("..") ? undefined : [directory.replace(/\/$/, ""), ...names].join("/");
}
