import { z } from "zod";
import { readScript, type Turn } from "./script.ts";

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

/** What the model does now: the newest script's next turn, or a report of the tool results when it is over. */
export function nextTurn(conversation: Conversation): Turn {
  if (conversation.tools.length === 0) return { say: "A short text" };
  const { messages } = conversation;
  const at = messages.findLastIndex((message) => scriptOf(message) !== undefined);
  const turns = messages[at] === undefined ? [] : (scriptOf(messages[at]) ?? []);
  const since = messages.slice(at + 1);
  return turns[answersIn(since)] ?? { say: `${ANNOUNCEMENT}${JSON.stringify(since.flatMap(toolResults))}` };
}

/** Reads the tool results back from the text that the model reports them in. */
export function readResults(text: string): ToolResult[] {
  const at = text.indexOf(ANNOUNCEMENT);
  if (at < 0) throw new Error(`no tool results are reported in: ${text}`);
  return z.array(ToolResult).parse(JSON.parse(text.slice(at + ANNOUNCEMENT.length)));
}

function scriptOf(message: z.infer<typeof Message>): Turn[] | undefined {
  if (message.role !== "user") return undefined;
  const text = textOf(message.content).replaceAll(/<system-reminder>.*?<\/system-reminder>/gs, "");
  return readScript(text);
}

/** Neighbouring assistant messages are pieces of one answer. */
function answersIn(messages: z.infer<typeof Message>[]): number {
  return messages.filter(({ role }, at) => role === "assistant" && messages[at - 1]?.role !== "assistant").length;
}

function toolResults(message: z.infer<typeof Message>): ToolResult[] {
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
