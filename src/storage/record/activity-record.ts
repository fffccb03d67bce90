import type { ApprovalHead, ApprovalOutcome } from "../approvals.ts";

export const HOUR_MS = 60 * 60 * 1000;
/** What waited for less is in the first step; each further step is a quarter longer than the one before. */
const FIRST_STEP_MS = 100;
const GROWTH = 1.25;
/** A week, the longest that a request may wait, is in the step before. */
const LAST_STEP = 72;

/** The hour of a time, counted from the beginning of 1970. */
export function hourOf(at: number): number {
  return Math.floor(at / HOUR_MS);
}

/** Who has decided, for sums: all rules are one, and so are all built-in rules and all sessions. */
export function deciderOf(resolvedBy: string): string {
  return /^(rule|builtin|session):/.exec(resolvedBy)?.[1] ?? resolvedBy;
}

/** How long a request waited, as one of a few steps, so that equal ones can be counted together. */
export function waitStepOf({ createdAt }: Pick<ApprovalHead, "createdAt">, { resolvedAt }: ApprovalOutcome): number {
  const waitedMs = resolvedAt - createdAt;
  if (waitedMs < FIRST_STEP_MS) return 0;
  return Math.min(LAST_STEP, 1 + Math.floor(Math.log(waitedMs / FIRST_STEP_MS) / Math.log(GROWTH)));
}

/** The middle of a step, which is at most an eighth away from what anybody in it has waited. */
export function waitedSecs(step: number): number {
  return step === 0 ? 0 : (FIRST_STEP_MS * GROWTH ** (step - 0.5)) / 1000;
}
