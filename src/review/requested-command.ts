import type { Approval } from "../contract/approvals/approval.ts";
import type { JsonObject } from "../contract/values.ts";
import { type CommandLine, commandLineOf, MAX_COMMAND_CHARS, parseCommand } from "./shell/index.ts";

/** The command that a call would run in a shell; `unread` says why it is unknown. */
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

/** Caches the parsed command for a call's input, tool and directory. */
const read = new WeakMap<JsonObject, { tool: string; workingDir: string | null; line: CommandLine | undefined }>();

/** Returns everything that a call's command would run. Parsing a long one takes time, so the result is cached. */
export function requestedLine(
  call: Pick<Approval, "tool_name" | "input">,
  workingDir: string | null,
): CommandLine | undefined {
  const before = read.get(call.input);
  if (before?.tool === call.tool_name && before.workingDir === workingDir) return before.line;
  const command = requestedCommand(call);
  const line = command && "text" in command ? commandLineOf(parseCommand(command.text), workingDir) : undefined;
  read.set(call.input, { tool: call.tool_name, workingDir, line });
  return line;
}

function quoted(word: string): string {
  return `'${word.replaceAll("'", `'\\''`)}'`;
}
