import type { CallToolResult } from "@modelcontextprotocol/sdk/types.js";
import { AppError, errorResult } from "../../../contract/refusals/errors.ts";
import type { TurnEvent } from "../../../contract/sessions/turn.ts";
import { cutEvent } from "../../../contract/text/cut.ts";
import { fitting, listedChars } from "../../../contract/text/fit.ts";
import type { ToldEvent } from "../../../contract/tools/turn-answers.ts";
import type { JsonObject } from "../../../contract/values.ts";

type NumberedEvent = { seq: number; event: TurnEvent };

/** More than a result can hold, even of the smallest approvals. */
export const MAX_LISTED = 200;
/** The room that refusals must leave for approvals. */
export const MIN_APPROVAL_CHARS = 2_000;

/** One text block holding one JSON object, and the same object as structured content. */
export function result(value: JsonObject): CallToolResult {
  return { content: [{ type: "text", text: JSON.stringify(value) }], structuredContent: value };
}

export function refusal(error: AppError): CallToolResult {
  return { ...result(errorResult(error, "mcp")), isError: true };
}

/** The error for a call that was sent but not answered: only its caller can find out whether it was done. */
export function unknownOutcome(tool: string | undefined): AppError {
  return new AppError(
    "outcome_unknown",
    `Plexus was gone before it answered: whether ${tool} was done is not known. ` +
      "Look before you repeat it: loopback_pending and loopback_get tell of asks, claudecode_list and claudecode_get of sessions.",
  );
}

/** As many events from the front as fit. The first one is always included, cut if necessary. */
export function fitEvents(events: NumberedEvent[], maxChars: number): ToldEvent[] {
  const longest = Math.max(1_000, maxChars / 2);
  const cut = events.values().map(({ seq, event }) => ({ seq, event: cutEvent(event, longest) }));
  return fitting(cut, maxChars, listedChars);
}
