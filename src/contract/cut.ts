import { z } from "zod";
import type { Approval } from "./approvals/approval.ts";
import type { ChangeEvent } from "./change.ts";
import type { CutEvent, TurnEvent } from "./sessions/turn.ts";
import { isJsonObject, type JsonObject } from "./values.ts";

/** Claude Code shows its model only a 2 KB preview of a longer result, on which no parent could decide. */
export const MAX_RESULT_CHARS = 40_000;
/** Ids and names are never longer. */
const MAX_WHOLE_CHARS = 600;

/** The approval in at most `limit` characters of JSON; if it was cut, it says so, with the input's size. */
export function cutApproval(approval: Approval, limit: number): Approval {
  if (JSON.stringify(approval).length <= limit) return approval;
  const half = Math.floor((limit - 1_500) / 3);
  return {
    ...approval,
    tool_name: cutText(approval.tool_name, 200),
    response_message: approval.response_message === null ? null : cutText(approval.response_message, 1_000),
    input: cutObject(approval.input, approval.updated_input ? half : 2 * half),
    updated_input: approval.updated_input && cutObject(approval.updated_input, half),
    truncated: true,
    input_size: JSON.stringify(approval.input).length,
  };
}

/** The change event with its input cut to the longest result. */
export function cutChange(event: ChangeEvent): ChangeEvent {
  if (event.type === "unasked_call") return { ...event, tool_input: cutObject(event.tool_input, MAX_RESULT_CHARS) };
  if (event.type !== "approval_requested") return event;
  const tool_input = cutObject(event.tool_input, MAX_RESULT_CHARS);
  if (tool_input === event.tool_input) return event;
  return { ...event, tool_input, truncated: true, input_size: JSON.stringify(event.tool_input).length };
}

/** The event in about `limit` characters of JSON; its type and ids stay whole. */
export function cutEvent(event: TurnEvent, limit: number): TurnEvent | CutEvent {
  const size = JSON.stringify(event).length;
  if (size <= limit) return event;
  const isLong = (value: unknown) => JSON.stringify(value).length > MAX_WHOLE_CHARS;
  const share = Math.floor(limit / Object.values(event).filter(isLong).length);
  const cut = Object.entries(event).map(([key, value]) => [key, isLong(value) ? cutValue(value, share) : value]);
  return { ...Object.fromEntries(cut), type: event.type, truncated: true, size };
}

function cutValue(value: unknown, limit: number): unknown {
  if (isJsonObject(value)) return cutObject(value, limit);
  const cut = cutObject({ value }, limit);
  return "value" in cut ? cut.value : cut;
}

/** An object of which only the beginning and the end of its JSON are told. */
export const CutObject = z.strictObject({ truncated_json: z.string() });
export type CutObject = z.infer<typeof CutObject>;

/** The object in at most `limit` characters of JSON: with its long texts cut, or else its JSON as one cut text. */
export function cutObject<T extends JsonObject>(value: T, limit: number): T | CutObject {
  const json = JSON.stringify(value);
  if (json.length <= limit) return value;
  for (const longest of [limit / 2, limit / 8, 200]) {
    const cut = cutTexts(value, Math.floor(longest));
    if (JSON.stringify(cut).length <= limit) return cut;
  }
  let shown = limit;
  let preview: CutObject;
  do {
    shown = Math.floor(shown / 2);
    preview = { truncated_json: cutText(json, shown) };
  } while (JSON.stringify(preview).length > limit && shown > 100);
  return preview;
}

/** Head and tail of the text, and between them how much is missing. */
export function cutText(text: string, limit: number): string {
  if (text.length <= limit) return text;
  const kept = Math.max(20, limit - 60);
  const head = text.slice(0, wholeCharacter(text, Math.ceil(kept * 0.7)));
  const tail = text.slice(wholeCharacter(text, text.length - Math.floor(kept * 0.3)));
  return `${head}\n…[${text.length - head.length - tail.length} of ${text.length} characters left out]…\n${tail}`;
}

/** This position, or the one before it if it would split a surrogate pair. */
function wholeCharacter(text: string, at: number): number {
  const unit = text.charCodeAt(at);
  return unit >= 0xdc00 && unit <= 0xdfff ? at - 1 : at;
}

function cutTexts<T>(value: T, longest: number): T;
function cutTexts(value: unknown, longest: number): unknown {
  if (typeof value === "string") return cutText(value, longest);
  if (Array.isArray(value)) return value.map((item) => cutTexts(item, longest));
  if (!isJsonObject(value)) return value;
  return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, cutTexts(item, longest)]));
}
