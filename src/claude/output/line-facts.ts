import type { JsonObject } from "../../contract/values.ts";
import { SERVER_NAME } from "../launch/command-line.ts";
import type { InitFact, ResultFact } from "./facts.ts";
import { listOf, numberOf, objectOf, textOf } from "./lenient.ts";

/** The id becomes an argument of the next turn's CLI, so anything but a UUID is dropped. */
function conversationId(value: unknown): string {
  const id = textOf(value);
  return /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i.test(id) ? id : "";
}

/** Reads the CLI's first line. */
export function initFact(line: JsonObject): InitFact {
  const ours = listOf(line["mcp_servers"])
    .map(objectOf)
    .find(({ name }) => name === SERVER_NAME);
  return {
    claudeSessionId: conversationId(line["session_id"]),
    model: textOf(line["model"]),
    version: textOf(line["claude_code_version"]),
    plexusStatus: ours && textOf(ours["status"]),
  };
}

/**
 * Whether a result tells of nothing but work of an earlier turn that was left in the background, and is over: the CLI says
 * so before it begins with the prompt, and calls no model for it.
 */
export function isOfEarlierTurn(line: JsonObject): boolean {
  return objectOf(line["origin"])["kind"] === "task-notification" && line["num_turns"] === 0;
}

/** Reads the CLI's last line; a turn with work in the background has several. `answers`: how often the model answered in it. */
export function resultFact(line: JsonObject, answers: number): ResultFact {
  const usage = objectOf(line["usage"]);
  const totalCostUsd = numberOf(line["total_cost_usd"]);
  const sinceLast = line["model_usage_since_last_result"];
  const cached = numberOf(usage["cache_creation_input_tokens"]) + numberOf(usage["cache_read_input_tokens"]);
  return {
    subtype: textOf(line["subtype"]),
    is_error: line["is_error"] === true,
    errors: listOf(line["errors"]).map((error) => (typeof error === "string" ? error : JSON.stringify(error))),
    text: textOf(line["result"]),
    claudeSessionId: conversationId(line["session_id"]),
    inputTokens: numberOf(usage["input_tokens"]) + cached,
    outputTokens: numberOf(usage["output_tokens"]),
    numTurns: numTurnsIn(line, answers),
    totalCostUsd,
    ...(sinceLast !== undefined && { costBeforeUsd: Math.max(0, totalCostUsd - costIn(objectOf(sinceLast))) }),
    permissionDenials: listOf(line["permission_denials"]),
  };
}

/** Of an interrupted turn the CLI also counts the call that it broke off, and the word that it was interrupted. */
function numTurnsIn(line: JsonObject, answers: number): number {
  const counted = numberOf(line["num_turns"]);
  return line["subtype"] === "error_during_execution" ? Math.min(counted, answers) : counted;
}

/** What the results of a turn tell together: each counts from the one before it on, but the cost, which is that of the conversation. */
export function resultAfter(before: ResultFact | undefined, result: ResultFact): ResultFact {
  if (!before) return result;
  return {
    ...result,
    inputTokens: before.inputTokens + result.inputTokens,
    outputTokens: before.outputTokens + result.outputTokens,
    numTurns: before.numTurns + result.numTurns,
    ...(before.costBeforeUsd !== undefined && { costBeforeUsd: before.costBeforeUsd }),
  };
}

/** By the model's name. */
function costIn(modelUsage: JsonObject): number {
  return Object.values(modelUsage).reduce<number>((sum, used) => sum + numberOf(objectOf(used)["costUSD"]), 0);
}
