import type { Approval } from "../contract/approvals/approval.ts";
import { MAX_COMMAND_CHARS } from "./shell/index.ts";

/** The command that a call would run in a shell; `unread` says why it is not known. */
type RequestedCommand = { text: string } | { unread: string } | undefined;

const NAMES = ["command", "cmd", "script"];

/** Finds the command in a call's input, whatever the tool. */
export function requestedCommand({ tool_name, input }: Pick<Approval, "tool_name" | "input">): RequestedCommand {
  const value = NAMES.map((name) => input[name]).find((one) => one !== undefined && one !== null);
  if (value === undefined) return tool_name === "Bash" ? { unread: "has no command that can be read" } : undefined;
  if (/powershell|pwsh/i.test(tool_name)) return { unread: "runs a PowerShell command, which can't be checked" };
  if (typeof value === "string") return { text: value };
  if (Array.isArray(value) && value.length > MAX_COMMAND_CHARS) {
    return { unread: `is too long to check (${value.length} words)` };
  }
  if (Array.isArray(value) && value.every((word) => typeof word === "string"))
    return { text: value.map(quoted).join(" ") };
  return { unread: "has no command that can be read" };
}

function quoted(word: string): string {
  return `'${word.replaceAll("'", `'\\''`)}'`;
}
