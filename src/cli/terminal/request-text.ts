import type { Approval } from "../../contract/approvals/approval.ts";
import { kindOf, summaryOf } from "../../review/kinds.ts";

type Request = Parameters<typeof summaryOf>[0] & Pick<Approval, "tool_name">;

/** A request in one line: the tool, flags that change how a command runs, then the command itself. */
export function requestText(request: Request): string {
  const kind = kindOf(request);
  const further = kind.kind === "command" ? Object.entries(kind.further) : [];
  const flags = further.map(([key, value]) => `${key}: ${typeof value === "string" ? value : JSON.stringify(value)}`);
  return [request.tool_name, ...(flags.length > 0 ? [`(${flags.join(", ")})`] : []), summaryOf(request)].join(" ");
}
