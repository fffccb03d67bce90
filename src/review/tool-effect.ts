import type { Approval } from "../contract/approvals/approval.ts";

/** Claude Code's own tools that only read. */
const READERS = new Set(["Read", "Grep", "Glob", "LS", "NotebookRead"]);
const READING = new Set(
  "get list read search find describe fetch query show view look lookup count status check inspect select browse".split(
    " ",
  ),
);
const CHANGING = new Set(
  "delete remove drop create update write send run exec execute publish push set post put patch merge deploy kill move upload insert add edit close approve respond reply commit call click type evaluate install start stop restart".split(
    " ",
  ),
);

/** Whether a tool belongs to an MCP server, which may do anything. */
export function isMcpTool({ tool_name }: Pick<Approval, "tool_name">): boolean {
  return tool_name.startsWith("mcp__");
}

/** Whether a tool only reads, judged by its name. */
export function isReadOnly(approval: Pick<Approval, "tool_name">): boolean {
  if (!isMcpTool(approval)) return READERS.has(approval.tool_name);
  const name = approval.tool_name.split("__").at(-1) ?? "";
  const words = name
    .replace(/([a-z])(?=[A-Z])/g, "$1_")
    .toLowerCase()
    .split(/[^a-z]+/);
  return words.some((word) => READING.has(word)) && !words.some((word) => CHANGING.has(word));
}
