import type { SessionFeedEvent } from "../../client/feeds.ts";
import { createEventText } from "./event-text.ts";
import { jsonLine } from "./printable.ts";
import type { Screen } from "./screen.ts";
import type { Terminal } from "./terminal.ts";

/** Prints events: one JSON object on each line for a program, text for a person. */
export function createEventPrinter(
  json: boolean,
  screen: Screen,
  terminal: Terminal,
  options = { withInputs: true },
): (told: SessionFeedEvent) => void {
  if (json) return (told) => terminal.out(jsonLine(told));
  const text = createEventText(terminal, options);
  return (told) => screen.write(text(told.event));
}
