import { ENTER, ESCAPE, editedLine } from "../../terminal/keys.ts";
import { type Line, span } from "../../terminal/lines.ts";

const LABEL = "Filter: ";
/** The keys while the person types the filter. */
export const FILTER_KEYS: Line = [{ text: "Enter keep the filter  Esc drop it", style: "dim" }];

/** A text that narrows a list while it is typed. */
export function createFilter(onChange: () => void) {
  let text = "";
  let isWriting = false;

  function set(next: string): void {
    if (next === text) return;
    text = next;
    onChange();
  }

  return {
    text: () => text,
    isWriting: () => isWriting,
    begin(): void {
      isWriting = true;
    },
    clear: () => set(""),
    /** Whether the key was meant for the filter. */
    take(key: string): boolean {
      if (!isWriting) return false;
      if (ENTER.includes(key) || key === ESCAPE) isWriting = false;
      set(ENTER.includes(key) ? text : (editedLine(text, key) ?? ""));
      return true;
    },
    /** The filter as typed so far; the end of a long one. */
    line(columns: number): Line | undefined {
      if (!isWriting) return undefined;
      const room = Math.max(8, columns - LABEL.length - 1);
      return [{ text: LABEL, style: "bold" }, span(Array.from(text).slice(-room).join("")), { text: "█" }];
    },
  };
}
