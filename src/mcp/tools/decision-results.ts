import type { BatchResult } from "../../contract/approvals/decision.ts";
import { MAX_RESULT_CHARS } from "../../contract/text/cut.ts";
import { fitting, fittingText, listedChars } from "../../contract/text/fit.ts";

// Fits the results of decisions into an answer, beside the answer of the wait that follows them.

/** The limit for the results and the wait together; the rest of an answer needs some room too. */
export const MAX_CHARS = MAX_RESULT_CHARS - 1_500;
/** The limit for all results, to leave most of an answer to the wait. */
const MAX_RESULTS_CHARS = 16_000;
/** The limit for the dangers of edited inputs. */
const MAX_DANGERS_CHARS = 3_000;
/** How many rules from decisions are shown, each once, and how much of each reason. */
const MAX_RULES = 10;
const MAX_REASON_CHARS = 200;
/** The limit for an unknown id; real ids are shorter. */
const MAX_ECHO_CHARS = 60;
/** The limit for the name of who decided first, when many results contain it. */
const MAX_NAME_CHARS = 60;

/** Keeps the dangers of the first results only: the caller made the edits, and the record has their dangers. */
export function withFewDangers(all: BatchResult[]): { results: BatchResult[]; areAll: boolean } {
  const dangerous = all.filter((result) => "dangers" in result);
  const told = new Set(fitting(dangerous, MAX_DANGERS_CHARS, listedChars));
  const results = all.map((result) => {
    if (!("dangers" in result) || told.has(result)) return result;
    const { dangers: _, untrusted: __, ...rest } = result;
    return rest;
  });
  return { results, areAll: told.size === dangerous.length };
}

/** Shortens the messages of refusals until all results fit beside `rest`. */
export function shortened(results: BatchResult[], rest: number): BatchResult[] {
  const errors = results.filter(({ type }) => type === "error");
  const withMessages = (most: number) => {
    const rules = new Set<string>();
    return results.map((result) => {
      if (result.type === "ok") return isNews(result, rules) ? withShortRule(result) : withoutRule(result);
      if (result.type === "error") return { ...withShortId(result), message: headOf(result.message, most) };
      return { ...result, resolved_by: headOf(result.resolved_by, MAX_NAME_CHARS) };
    });
  };
  const room = Math.min(MAX_RESULTS_CHARS, MAX_CHARS - rest) - listedChars(withMessages(0));
  return withMessages(Math.floor(room / Math.max(1, errors.length)));
}

type Recorded = Extract<BatchResult, { type: "ok" }>;

/** Whether the result contains a rule that no earlier result shows, while few rules are shown. */
function isNews({ rule }: Recorded, shown: Set<string>): boolean {
  if (!rule || shown.has(rule.id) || shown.size >= MAX_RULES) return false;
  shown.add(rule.id);
  return true;
}

export function withShortRule(result: Recorded): Recorded {
  const { rule } = result;
  return rule?.reason === undefined
    ? result
    : { ...result, rule: { ...rule, reason: headOf(rule.reason, MAX_REASON_CHARS) } };
}

function withoutRule({ rule: _, rule_note: __, ...result }: Recorded): Recorded {
  return result;
}

/** An unknown id can be anything. Of a long one, the beginning is enough to recognize it. */
function withShortId<R extends { approval_id?: string | undefined }>(result: R): R {
  const { approval_id } = result;
  return approval_id === undefined ? result : { ...result, approval_id: headOf(approval_id, MAX_ECHO_CHARS) };
}

function headOf(message: string, mostChars: number): string {
  const head = fittingText(message, mostChars);
  return head === message ? message : `${head}…`;
}
