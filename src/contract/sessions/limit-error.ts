/** How the error of a turn begins that a limit of its session has ended. */
export const LIMIT_ERRORS = {
  max_turns: "Claude Code reached its maximum number of turns.",
  max_budget_usd:
    "The budget of the session is used up (max_budget_usd): Claude Code stopped in the middle of its work.",
} as const;

/** The limit that has ended a turn with this error; what a child or its model has reported begins otherwise. */
export function limitIn(error: string | null): keyof typeof LIMIT_ERRORS | undefined {
  if (error?.startsWith(LIMIT_ERRORS.max_budget_usd)) return "max_budget_usd";
  return error?.startsWith(LIMIT_ERRORS.max_turns) ? "max_turns" : undefined;
}
