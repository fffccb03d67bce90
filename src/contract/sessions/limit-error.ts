/** The beginnings of the errors of turns that a limit has ended. */
export const LIMIT_ERRORS = {
  max_turns: "Claude Code reached its maximum number of turns.",
  max_budget_usd:
    "The budget of the session is used up (max_budget_usd): Claude Code stopped in the middle of its work.",
} as const;

/** Returns the limit that ended a turn with this error; errors reported by a child or its model begin differently. */
export function limitIn(error: string | null): keyof typeof LIMIT_ERRORS | undefined {
  if (error?.startsWith(LIMIT_ERRORS.max_budget_usd)) return "max_budget_usd";
  return error?.startsWith(LIMIT_ERRORS.max_turns) ? "max_turns" : undefined;
}
