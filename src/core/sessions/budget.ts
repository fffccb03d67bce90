import { AppError } from "../../contract/refusals/errors.ts";
import { type SessionConfig, SMALLEST_BUDGET_USD } from "../../contract/sessions/session.ts";
import type { Session } from "./sessions.ts";

const MICRO = 1_000_000;

/**
 * The budget of the next turn: what is left of the session's, since the CLI only counts the cost of its own process.
 * `undefined` if the session has no budget. Throws if the budget is used up.
 */
export function budgetLeft(
  { name, ownCostUsd }: Pick<Session, "name" | "ownCostUsd">,
  { max_budget_usd }: SessionConfig,
): number | undefined {
  if (max_budget_usd === null) return undefined;
  const left = Math.floor((max_budget_usd - ownCostUsd) * MICRO) / MICRO;
  if (left >= SMALLEST_BUDGET_USD) return left;
  throw new AppError(
    "limit_reached",
    (by) =>
      `Session "${name}" has used up its budget: $${ownCostUsd.toFixed(4)} of $${max_budget_usd} (max_budget_usd). ` +
      `Raise it${by.update}, or go on in another session.`,
  );
}
