import { cutText } from "../../contract/text/cut-text.ts";
import { isJsonObject, type JsonObject } from "../../contract/values.ts";
import { textOf } from "./lenient.ts";

const MAX_NAME_CHARS = 120;
/** The event type of a subagent's text; the child's own text is `content`. */
const WORDS = "subagent/text";

/** Whether a line of output is a subagent's, not the child's own. */
export function isOfSubagent(line: JsonObject): boolean {
  return typeof line["parent_tool_use_id"] === "string";
}

/** The subagent of a line: the call that started it, and its type and task if the CLI names them. */
export function subagentOf(line: JsonObject): { parent_tool_use_id?: string; agent?: string } {
  if (!isOfSubagent(line)) return {};
  const [type, task] = [textOf(line["subagent_type"]), textOf(line["task_description"])];
  const name = cutText([type, task && `(${task})`].filter(Boolean).join(" "), MAX_NAME_CHARS);
  return { parent_tool_use_id: textOf(line["parent_tool_use_id"]), ...(name && { agent: name }) };
}

/** The event type and data of a block that a subagent wrote or was sent. */
export function subagentBlock(line: JsonObject, role: "assistant" | "user", block: JsonObject) {
  const kind = textOf(block["type"]);
  const eventType = role === "assistant" ? `subagent/${kind}` : `subagent/user/${kind}`;
  return [eventType, { parent_tool_use_id: line["parent_tool_use_id"], block }] as const;
}

/** The subagent's text in a passthrough event, and the call that started the subagent. */
export function subagentWords(eventType: string, data: unknown): { parent: string; text: string } | undefined {
  if (eventType !== WORDS || !isJsonObject(data) || !isJsonObject(data["block"])) return undefined;
  return { parent: textOf(data["parent_tool_use_id"]), text: textOf(data["block"]["text"]) };
}
