import type { ErrorCode } from "../../contract/refusals/errors.ts";
import { STATUS } from "../middleware/errors.ts";
import type { Operation } from "./description.ts";

/** An example message for each error code. */
const MESSAGES: Record<ErrorCode, string> = {
  invalid_json: "The body is not valid JSON.",
  invalid_arguments: 'approve must be true or false, got "yes".',
  unauthorized: "Send `Authorization: Bearer TOKEN`. `plexus token show` prints the operator's token.",
  forbidden: "Only the operator's token may do this.",
  not_found: "There is no approval 0190: list the pending ones to see their ids.",
  name_taken: 'The name "worker" is in use: choose another.',
  config_differs:
    'Session "worker" exists with another model ("opus"). Leave that out to use the session as it is, change it first, or choose another name.',
  turn_running:
    'Session "worker" has a turn that runs, waits for your decision, or is queued: decide (POST /api/v1/approvals/ID/respond), wait (POST /api/v1/wait), or cancel it first (POST /api/v1/sessions/KEY/cancel).',
  limit_reached:
    "The queue is full: 16 children run, which is the limit (--max-running), and too many turns wait. Wait for one to end (POST /api/v1/wait), or cancel one (POST /api/v1/sessions/KEY/cancel).",
  claude_unavailable: "Claude Code was not found: install it, or name it with --claude.",
  payload_too_large: "The body is larger than 33554432 bytes.",
  too_many_requests: "Too many wrong tokens: try again in 10 seconds.",
  storage_unavailable: "The disk is full. Nothing was allowed.",
  unreachable: "Plexus is stopping, or handing over: try again in a moment.",
  outcome_unknown: "The connection was lost before the answer: look before you try again.",
  internal: "Plexus failed inside; its log has the details. Nothing was allowed.",
};

/** The error answers of a route, one for each status. */
export function refusals(operation: Operation): Record<string, object> {
  return Object.fromEntries(codesByStatus(operation).map(([status, codes]) => [status, refusal(codes)]));
}

export function codesByStatus(operation: Operation): [status: string, codes: ErrorCode[]][] {
  const byStatus = Object.groupBy(codesOf(operation), (code) => STATUS[code]);
  return Object.entries(byStatus).map(([status, codes = []]) => [status, codes]);
}

function codesOf({ route: { path, query, body }, token, description }: Operation): ErrorCode[] {
  const codes: ErrorCode[] = ["forbidden", "too_many_requests", "storage_unavailable", "internal"];
  codes.push(...(description.errors ?? []));
  if (token !== "none") codes.push("unauthorized");
  if (path.includes(":")) codes.push("not_found");
  if (query) codes.push("invalid_arguments");
  if (body) codes.push("invalid_json", "invalid_arguments", "payload_too_large");
  return [...new Set(codes)];
}

function refusal(codes: ErrorCode[]): object {
  const examples = codes.map((code) => [code, { value: { error: { code, message: MESSAGES[code] } } }]);
  return {
    description: `Refused: ${codes.map((code) => `\`${code}\``).join(" or ")}.`,
    content: {
      "application/json": { schema: { $ref: "#/components/schemas/Error" }, examples: Object.fromEntries(examples) },
    },
  };
}
