import type { ApprovalHead, ApprovalOutcome } from "../approvals.ts";

export const HOUR_MS = 60 * 60 * 1000;
/** Shorter waits are in step 0; each further step is a quarter longer than the one before. */
const FIRST_STEP_MS = 100;
const GROWTH = 1.25;
/** The longest wait of a request, a week, falls in the step before this one. */
const LAST_STEP = 72;

/** Returns the hour of a time, counted from the beginning of 1970. */
export function hourOf(at: number): number {
  return Math.floor(at / HOUR_MS);
}

/** Returns the decider for the sums: all rules count as one, all built-in rules as one, and all sessions as one. */
export function deciderOf(resolvedBy: string): string {
  return /^(rule|builtin|session):/.exec(resolvedBy)?.[1] ?? resolvedBy;
}

/** Returns how long a request waited as one of a few steps, so that similar waits are counted together. */
export function waitStepOf({ createdAt }: Pick<ApprovalHead, "createdAt">, { resolvedAt }: ApprovalOutcome): number {
  const waitedMs = resolvedAt - createdAt;
  if (waitedMs < FIRST_STEP_MS) return 0;
  return Math.min(LAST_STEP, 1 + Math.floor(Math.log(waitedMs / FIRST_STEP_MS) / Math.log(GROWTH)));
}

/** Returns the middle of a step, which differs by at most an eighth from any wait in it. */
export function waitedSecs(step: number): number {
  return step === 0 ? 0 : (FIRST_STEP_MS * GROWTH ** (step - 0.5)) / 1000;
}
