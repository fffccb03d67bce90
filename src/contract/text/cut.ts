import type { ChangeEvent } from "../change.ts";
import type { CutEvent, TurnEvent } from "../sessions/turn.ts";
import { isJsonObject } from "../values.ts";
import { cutObject } from "./cut-object.ts";
import { cutText } from "./cut-text.ts";

/** Claude Code shows its model only a 2 KB preview of a longer result, on which no parent could decide. */
export const MAX_RESULT_CHARS = 40_000;
/** Ids and names are never longer. */
const MAX_WHOLE_CHARS = 600;

/** Shortens the text until it takes at most `limit` characters as JSON. */
export function cutToJson(text: string, limit: number): string {
  let shown = text;
  for (let longest = limit; JSON.stringify(shown).length > limit && longest > 100; longest = Math.floor(longest * 0.8))
    shown = cutText(text, longest);
  return shown;
}

/** Shortens the event's input and plan to the longest result together. */
export function cutChange(event: ChangeEvent): ChangeEvent {
  if (event.type === "unasked_call") return { ...event, tool_input: cutObject(event.tool_input, MAX_RESULT_CHARS) };
  if (event.type !== "approval_requested") return event;
  const { plan } = event;
  const short = plan === undefined ? event : { ...event, plan: cutToJson(plan, MAX_RESULT_CHARS / 2) };
  const tool_input = cutObject(event.tool_input, MAX_RESULT_CHARS);
  if (tool_input === event.tool_input) return short;
  return { ...short, tool_input, truncated: true, input_size: JSON.stringify(event.tool_input).length };
}

/** Shortens the event to about `limit` characters of JSON; its type and ids stay complete. */
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
