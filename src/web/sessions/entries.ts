import type { TurnEvent } from "../../contract/sessions/turn.ts";

type Text = { type: "text" | "thinking"; text: string };
export type Entry = Text | Exclude<TurnEvent, { type: "content" | "thinking" }>;

/** Events as a person reads them: text that came in pieces is one text. */
export function entriesOf(events: (TurnEvent | undefined)[]): Entry[] {
  const entries: Entry[] = [];
  for (const event of events) {
    if (event === undefined) continue;
    if (event.type !== "content" && event.type !== "thinking") {
      entries.push(event);
      continue;
    }
    const piece: Text =
      event.type === "content" ? { type: "text", text: event.text } : { type: "thinking", text: event.thinking };
    const last = entries.at(-1);
    if (last?.type === piece.type && "text" in last)
      entries[entries.length - 1] = { ...last, text: last.text + piece.text };
    else entries.push(piece);
  }
  return entries;
}
