import type { TurnEvent } from "../../../contract/sessions/turn.ts";
import { isJsonObject } from "../../../contract/values.ts";

/** An event with its number in the turn, and the time when it was stored, if known. */
export type StoredEvent = { seq: number; at?: number | undefined; event: TurnEvent };

type Text = { type: "text" | "thinking"; text: string };
/** The range of events of an entry: a text in pieces reaches from its first piece to its last. */
type Place = { seq: number; last: number; at: number | undefined };
export type Entry = (Text | Exclude<TurnEvent, { type: "content" | "thinking" }>) & Place;

/** Merges events into entries: the pieces of a text become one entry. */
export function entriesOf(events: (StoredEvent | undefined)[]): Entry[] {
  const entries: Entry[] = [];
  for (const stored of events) {
    if (stored === undefined) continue;
    const { seq, at, event } = stored;
    const place = { seq, last: seq, at };
    if (event.type !== "content" && event.type !== "thinking") {
      entries.push({ ...event, ...place });
      continue;
    }
    const piece: Text =
      event.type === "content" ? { type: "text", text: event.text } : { type: "thinking", text: event.thinking };
    const before = entries.at(-1);
    if (before?.type === piece.type && "text" in before)
      entries[entries.length - 1] = { ...before, last: seq, text: before.text + piece.text };
    else entries.push({ ...piece, ...place });
  }
  return entries;
}

/** All entries of one subagent. */
export type SubagentWork = { type: "subagent"; call: string; agent: string; entries: Entry[] };

/** One item of a transcript: an entry of the child itself, or all entries of a subagent. */
export type Passage = Entry | SubagentWork;

/** Groups the entries of each subagent, and drops the CLI's messages about itself unless wanted. */
export function passagesOf(entries: Entry[], withHousekeeping: boolean): Passage[] {
  const callers = new Map<string, { call: string; agent: string }>();
  const work = new Map<string, SubagentWork>();
  const passages: Passage[] = [];
  for (const entry of entries) {
    const own = subagentOf(entry);
    if (own && entry.type === "tool_use") callers.set(entry.tool_use_id, own);
    const caller = "tool_use_id" in entry ? callers.get(entry.tool_use_id ?? "") : undefined;
    // Calls that ran without permission are never folded.
    const isUnasked = entry.type === "tool_result" && entry.unasked === true;
    const of = isUnasked ? undefined : (own ?? caller);
    // Subagents may work in parallel: the entries of each stand together where it began.
    const begun = of && work.get(of.call);
    if (begun) begun.entries.push(entry);
    else if (of) {
      const first: SubagentWork = { type: "subagent", ...of, entries: [entry] };
      work.set(of.call, first);
      passages.push(first);
    } else if (withHousekeeping || entry.type !== "passthrough") passages.push(entry);
  }
  return passages;
}

/** The call that started the subagent of this entry, and its name; `undefined` for the child's own entries. */
function subagentOf(entry: Entry): { call: string; agent: string } | undefined {
  if (entry.type === "tool_use" && entry.parent_tool_use_id !== undefined)
    return { call: entry.parent_tool_use_id, agent: entry.agent ?? "" };
  if (entry.type !== "passthrough" || !entry.event_type.startsWith("subagent/")) return undefined;
  const parent = isJsonObject(entry.data) ? entry.data["parent_tool_use_id"] : undefined;
  return typeof parent === "string" ? { call: parent, agent: "" } : undefined;
}

/** The text in a subagent's event. */
export function subagentText({ event_type, data }: Extract<TurnEvent, { type: "passthrough" }>): string | undefined {
  const block = event_type === "subagent/text" && isJsonObject(data) ? data["block"] : undefined;
  const text = isJsonObject(block) ? block["text"] : undefined;
  return typeof text === "string" ? text : undefined;
}
