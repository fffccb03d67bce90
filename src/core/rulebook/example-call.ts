import type { ToolCall } from "../rules/tool-call.ts";
import type { Example } from "./rules-file.ts";

/** The call that an example of a rule stands for; `undefined` if the text alone can't tell. */
export function exampleCall(match: string, example: Example): ToolCall | undefined {
  if (typeof example !== "string") return { toolName: example.tool_name, input: example.input };
  const tool = /^[^(]*/.exec(match)?.[0] ?? "";
  switch (tool) {
    case "Bash":
      return { toolName: tool, input: { command: example } };
    case "Read":
      return { toolName: tool, input: { file_path: example } };
    case "Write":
      return { toolName: tool, input: { file_path: example, content: "" } };
    case "Edit":
      return { toolName: tool, input: { file_path: example, old_string: "a", new_string: "b" } };
    case "NotebookEdit":
      return { toolName: tool, input: { notebook_path: example, new_source: "" } };
    case "WebFetch":
      return { toolName: tool, input: { url: example, prompt: "" } };
    default:
      // A tool's name stands for a call without arguments.
      return /^[A-Za-z][\w-]*$/.test(example) ? { toolName: example, input: {} } : undefined;
  }
}
