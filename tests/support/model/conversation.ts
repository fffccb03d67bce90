import { z } from "zod";
import { isJsonObject } from "../../../src/contract/values.ts";
import { FromResult, readScript, Turn } from "./script.ts";

const Block = z.looseObject({
  type: z.string(),
  text: z.string().optional(),
  tool_use_id: z.string().optional(),
  is_error: z.boolean().optional(),
  content: z.unknown().optional(),
});
const Content = z.union([z.string(), z.array(Block)]);
const Message = z.looseObject({ role: z.string(), content: Content });

/** The part of a Messages API request that the scripted model looks at. */
export const Conversation = z.looseObject({
  model: z.string().default("scripted"),
  stream: z.boolean().default(false),
  tools: z.array(z.unknown()).default([]),
  messages: z.array(Message).default([]),
});
export type Conversation = z.infer<typeof Conversation>;

export const ToolResult = z.object({ tool_use_id: z.string(), is_error: z.boolean(), content: z.string() });
export type ToolResult = z.infer<typeof ToolResult>;

const ANNOUNCEMENT = "results: ";

/** The model's next action: the next turn of the newest script, or a report of the tool results at its end. */
export function nextTurn(conversation: Conversation): Turn {
  if (conversation.tools.length === 0) return { say: "A short text" };
  const { messages } = conversation;
  const at = messages.findLastIndex((message) => scriptOf(message) !== undefined);
  const turns = messages[at] === undefined ? [] : (scriptOf(messages[at]) ?? []);
  const since = messages.slice(at + 1);
  const results = since.flatMap(toolResultsIn);
  const turn = turns[answersIn(since)];
  return turn ? withValues(turn, results) : { say: `${ANNOUNCEMENT}${JSON.stringify(results)}` };
}

/** Parses the tool results from the text in which the model reports them. */
export function readResults(text: string): ToolResult[] {
  const at = text.indexOf(ANNOUNCEMENT);
  if (at < 0) throw new Error(`no tool results are reported in: ${text}`);
  return z.array(ToolResult).parse(JSON.parse(text.slice(at + ANNOUNCEMENT.length)));
}

/** The turn with all placeholders replaced. A missing result becomes an error of the API. */
function withValues(turn: Turn, results: ToolResult[]): Turn {
  try {
    return Turn.parse(filledIn(turn, results));
  } catch (error) {
    return { status: 400, message: `the script can't go on: ${error}; results so far: ${JSON.stringify(results)}` };
  }
}

function filledIn(value: unknown, results: ToolResult[]): unknown {
  if (Array.isArray(value)) return value.map((item) => filledIn(item, results));
  if (!isJsonObject(value)) return value;
  const reference = FromResult.safeParse(value).data;
  if (reference) return valueAt(results[reference.$result], reference.path);
  return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, filledIn(item, results)]));
}

function valueAt(result: ToolResult | undefined, path: (string | number)[]): unknown {
  let value: unknown = JSON.parse(result?.content ?? "");
  for (const key of path) value = isJsonObject(value) || Array.isArray(value) ? Object(value)[key] : undefined;
  if (value === undefined) throw new Error(`nothing is at ${path.join(".")}`);
  return value;
}

function scriptOf(message: z.infer<typeof Message>): Turn[] | undefined {
  if (message.role !== "user") return undefined;
  const text = textOf(message.content).replaceAll(/<system-reminder>.*?<\/system-reminder>/gs, "");
  return readScript(text);
}

/** Adjacent assistant messages are pieces of one answer. */
function answersIn(messages: z.infer<typeof Message>[]): number {
  return messages.filter(({ role }, at) => role === "assistant" && messages[at - 1]?.role !== "assistant").length;
}

export function toolResultsIn(message: z.infer<typeof Message>): ToolResult[] {
  if (typeof message.content === "string") return [];
  return message.content
    .filter(({ type }) => type === "tool_result")
    .map((block) => {
      const content = Content.safeParse(block.content);
      return {
        tool_use_id: block.tool_use_id ?? "",
        is_error: block.is_error ?? false,
        content: content.success ? textOf(content.data) : "",
      };
    });
}

function textOf(content: z.infer<typeof Content>): string {
  if (typeof content === "string") return content;
  return content.map(({ text }) => text ?? "").join("\n");
}
