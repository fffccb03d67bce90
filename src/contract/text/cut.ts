import { z } from "zod";
import type { ToldApproval } from "../approvals/approval.ts";
import type { ChangeEvent } from "../change.ts";
import type { CutEvent, TurnEvent } from "../sessions/turn.ts";
import { isJsonObject, type JsonObject } from "../values.ts";

/** Claude Code shows its model only a 2 KB preview of a longer result, on which no parent could decide. */
export const MAX_RESULT_CHARS = 40_000;
/** Ids and names are never longer. */
const MAX_WHOLE_CHARS = 600;

/** Shortens the approval to at most `limit` characters of JSON; if shortened, it says so and has the input's size. */
export function cutApproval<T extends ToldApproval>(approval: T, limit: number): T {
  if (JSON.stringify(approval).length <= limit) return approval;
  const { response_message, updated_input, plan, diff } = approval;
  const short = {
    ...approval,
    tool_name: cutText(approval.tool_name, 200),
    ...(response_message && { response_message: cutText(response_message, 1_000) }),
    truncated: true as const,
    input_size: JSON.stringify(approval.input).length,
  };
  const around = JSON.stringify({ ...short, input: {}, updated_input: null, plan: "", diff: "" }).length;
  const parts = [approval.input, updated_input, plan, diff].filter((part) => part !== undefined && part !== null);
  const shares = sharesOf(parts.map(sizeOf), limit - around);
  const fitted = <P>(part: P, cut: (part: P, room: number) => P): P => cut(part, shares.shift() ?? 0);
  return {
    ...short,
    input: fitted(approval.input, cutObject),
    ...(updated_input && { updated_input: fitted(updated_input, cutObject) }),
    ...(plan !== undefined && { plan: fitted(plan, cutToJson) }),
    ...(diff !== undefined && { diff: fitted(diff, cutToJson) }),
  };
}

/** Divides `room` among the parts: large parts get what small ones leave. */
function sharesOf(sizes: number[], room: number): number[] {
  const shares = new Map<number, number>();
  const smallestFirst = [...sizes.entries()].sort(([, one], [, other]) => one - other);
  for (const [place, [index, size]] of smallestFirst.entries()) {
    const share = Math.max(0, Math.floor(room / (smallestFirst.length - place)));
    shares.set(index, share);
    room -= Math.min(size, share);
  }
  return sizes.map((_, index) => shares.get(index) ?? 0);
}

function sizeOf(part: unknown): number {
  return JSON.stringify(part).length;
}

/** Shortens the text until it takes at most `limit` characters as JSON. */
function cutToJson(text: string, limit: number): string {
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

/** An object of which only the beginning and the end of its JSON are shown. */
export const CutObject = z.strictObject({ truncated_json: z.string() });
export type CutObject = z.infer<typeof CutObject>;

/** Shortens the object to at most `limit` characters of JSON: its long texts, or else its whole JSON as one text. */
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

/** Keeps the head and tail of the text, with the number of missing characters in between. */
export function cutText(text: string, limit: number): string {
  if (text.length <= limit) return text;
  const kept = Math.max(20, limit - 60);
  const head = text.slice(0, wholeCharacter(text, Math.ceil(kept * 0.7)));
  const tail = text.slice(wholeCharacter(text, text.length - Math.floor(kept * 0.3)));
  return `${head}\n…[${text.length - head.length - tail.length} of ${text.length} characters left out]…\n${tail}`;
}

/** Returns the position, or the one before it if it would split a surrogate pair. */
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
