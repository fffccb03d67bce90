import type { JsonObject } from "../../contract/values.ts";

type Kind = "string" | "number" | "boolean" | "array" | "object";
type Keys = {
  required: readonly string[];
  /** The keys that need no approval, with the types of their values. */
  known: Readonly<Record<string, Kind>>;
  /** Further keys of the tool; a call that has one always needs approval. */
  alwaysAsk?: readonly string[];
};

/** The inputs of Claude Code's tools, as in its own schemas; a test compares them with the real CLI. */
export const TOOL_KEYS: Readonly<Record<string, Keys>> = {
  Read: {
    required: ["file_path"],
    known: { file_path: "string", offset: "number", limit: "number", pages: "string", allow_large: "boolean" },
  },
  Glob: { required: ["pattern"], known: { pattern: "string", path: "string" } },
  Grep: {
    required: ["pattern"],
    known: {
      pattern: "string",
      path: "string",
      glob: "string",
      type: "string",
      output_mode: "string",
      "-A": "number",
      "-B": "number",
      "-C": "number",
      context: "number",
      "-n": "boolean",
      "-i": "boolean",
      "-o": "boolean",
      head_limit: "number",
      offset: "number",
      multiline: "boolean",
    },
  },
  Bash: {
    required: ["command"],
    known: { command: "string", description: "string", timeout: "number" },
    alwaysAsk: ["run_in_background", "dangerouslyDisableSandbox"],
  },
  Agent: {
    required: ["description", "prompt"],
    known: {
      description: "string",
      prompt: "string",
      subagent_type: "string",
      run_in_background: "boolean",
      model: "string",
    },
    alwaysAsk: ["effort", "isolation"],
  },
  Edit: {
    required: ["file_path", "old_string", "new_string"],
    known: { file_path: "string", old_string: "string", new_string: "string", replace_all: "boolean" },
  },
  Write: { required: ["file_path", "content"], known: { file_path: "string", content: "string" } },
  MultiEdit: { required: ["file_path", "edits"], known: { file_path: "string", edits: "array" } },
  NotebookEdit: {
    required: ["notebook_path", "new_source"],
    known: {
      notebook_path: "string",
      new_source: "string",
      cell_id: "string",
      cell_type: "string",
      edit_mode: "string",
    },
  },
  WebFetch: { required: ["url", "prompt"], known: { url: "string", prompt: "string", offset: "number" } },
  ToolSearch: { required: ["query"], known: { query: "string", max_results: "number" } },
  TodoWrite: { required: ["todos"], known: { todos: "array" } },
  TaskCreate: {
    required: ["subject", "description"],
    known: { subject: "string", description: "string", activeForm: "string", metadata: "object" },
  },
  TaskGet: { required: ["taskId"], known: { taskId: "string" } },
  TaskList: { required: [], known: {} },
  TaskUpdate: {
    required: ["taskId"],
    known: {
      taskId: "string",
      subject: "string",
      description: "string",
      activeForm: "string",
      status: "string",
      addBlocks: "array",
      addBlockedBy: "array",
      metadata: "object",
    },
    // The new owner of a task gets a message.
    alwaysAsk: ["owner"],
  },
  TaskStop: { required: [], known: { task_id: "string", shell_id: "string" } },
};

/** Whether a call has only keys that its tool accepts without approval. */
export function hasKnownKeys(toolName: string, input: JsonObject): boolean {
  const keys = Object.hasOwn(TOOL_KEYS, toolName) ? TOOL_KEYS[toolName] : undefined;
  if (!keys) return false;
  return (
    keys.required.every((key) => Object.hasOwn(input, key)) &&
    Reflect.ownKeys(input).every(
      (key) => typeof key === "string" && Object.hasOwn(keys.known, key) && kindOf(input[key]) === keys.known[key],
    )
  );
}

/**
 * An argument because of which a call needs approval: the tool always asks about it, lacks it, or gets it with the
 * wrong type.
 */
export type OddArgument = { kind: "asks" | "lacks" | "type"; key: string };

/** The first such argument of a call; `undefined` if there is none or the tool's arguments are unknown. */
export function oddArgument(toolName: string, input: JsonObject): OddArgument | undefined {
  const keys = Object.hasOwn(TOOL_KEYS, toolName) ? TOOL_KEYS[toolName] : undefined;
  if (!keys) return undefined;
  const asking = Object.keys(input).find((key) => !Object.hasOwn(keys.known, key));
  if (asking !== undefined) return { kind: "asks", key: asking };
  const lacking = keys.required.find((key) => !Object.hasOwn(input, key));
  if (lacking !== undefined) return { kind: "lacks", key: lacking };
  const typed = Object.keys(input).find((key) => kindOf(input[key]) !== keys.known[key]);
  return typed === undefined ? undefined : { kind: "type", key: typed };
}

/** All keys that a tool accepts; `undefined` for a tool whose inputs are unknown. */
export function keysOf(toolName: string): string[] | undefined {
  const keys = Object.hasOwn(TOOL_KEYS, toolName) ? TOOL_KEYS[toolName] : undefined;
  return keys && [...Object.keys(keys.known), ...(keys.alwaysAsk ?? [])];
}

/** The text under a key; `undefined` if there is none. */
export function textAt(input: JsonObject, key: string): string | undefined {
  const value = Object.hasOwn(input, key) ? input[key] : undefined;
  return typeof value === "string" ? value : undefined;
}

function kindOf(value: unknown): string {
  if (Array.isArray(value)) return "array";
  return value === null ? "null" : typeof value;
}
