import type { CallToolResult } from "@modelcontextprotocol/sdk/types.js";
import type { ZodError } from "zod";
import type { Approval } from "../../contract/approvals/approval.ts";
import { cutApproval, cutEvent, MAX_RESULT_CHARS } from "../../contract/cut.ts";
import { AppError, type ErrorResult, problemsIn } from "../../contract/errors.ts";
import { fitting, listedChars } from "../../contract/fit.ts";
import type { TurnEvent } from "../../contract/sessions/turn.ts";
import type { ToldEvent } from "../../contract/tools/turn-answers.ts";
import type { JsonObject } from "../../contract/values.ts";

type NumberedEvent = { seq: number; event: TurnEvent };

/** More than a result can hold of even the smallest approvals. */
export const MAX_LISTED = 200;
/** Room for what stands around the approvals of a list. */
const ENVELOPE_CHARS = 1_500;

/** One text block holding one JSON object, and the same object as structured content. */
export function result(value: JsonObject): CallToolResult {
  return { content: [{ type: "text", text: JSON.stringify(value) }], structuredContent: value };
}

export function refusal(error: AppError): CallToolResult {
  const value: ErrorResult = { type: "error", code: error.code, message: error.message };
  return { ...result(value), isError: true };
}

/** As many approvals from the front as a result can carry; the first one always, cut where it is too long. */
export function fitApprovals(
  { approvals, hasMore }: { approvals: Approval[]; hasMore: boolean },
  maxChars = MAX_RESULT_CHARS,
): { approvals: Approval[]; has_more: boolean } {
  const room = maxChars - ENVELOPE_CHARS;
  const share = approvals.length === 1 ? room : maxChars / 4;
  const cut = approvals.values().map((approval) => cutApproval(approval, share));
  const shown = fitting(cut, room, listedChars);
  return { approvals: shown, has_more: hasMore || shown.length < approvals.length };
}

/** What is wrong with the arguments, and where. */
export function invalidArguments(tool: string, error: ZodError): AppError {
  return new AppError("invalid_arguments", `${tool}: ${problemsIn(error)}. See the tool's input schema.`);
}

/** As many events from the front as fit; the first one always, cut where it is too long. */
export function fitEvents(events: NumberedEvent[], maxChars: number): ToldEvent[] {
  const longest = Math.max(1_000, maxChars / 2);
  const cut = events.values().map(({ seq, event }) => ({ seq, event: cutEvent(event, longest) }));
  return fitting(cut, maxChars, listedChars);
}
