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
 * Whether a result only reports finished background work of an earlier turn. The CLI writes it before it starts with
 * the prompt, without calling a model.
 */
export function isOfEarlierTurn(line: JsonObject): boolean {
  return objectOf(line["origin"])["kind"] === "task-notification" && line["num_turns"] === 0;
}

/**
 * Reads the CLI's last line; a turn with background work has several. `answers`: how often the model has answered since
 * the last result.
 */
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

/** For an interrupted turn, the CLI also counts the call that it broke off, and the notice of the interruption. */
function numTurnsIn(line: JsonObject, answers: number): number {
  const counted = numberOf(line["num_turns"]);
  return line["subtype"] === "error_during_execution" ? Math.min(counted, answers) : counted;
}

/**
 * Merges two results of one turn. Tokens and turns count from the previous result on; the cost is always the
 * conversation's total.
 */
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

/** The cost in a usage report, which is keyed by model name. */
function costIn(modelUsage: JsonObject): number {
  return Object.values(modelUsage).reduce<number>((sum, used) => sum + numberOf(objectOf(used)["costUSD"]), 0);
}
