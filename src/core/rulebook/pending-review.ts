import type { Storage } from "../../storage/storage.ts";
import type { Sessions } from "../sessions/sessions.ts";
import type { Judge } from "./judge.ts";

/** The review yields to the event loop after this many requests. */
const AT_ONCE = 20;

type PendingReviewNeed = {
  storage: { approvals: Pick<Storage["approvals"], "get" | "pendingIds" | "settleByRuleIfPending"> };
  sessions: Pick<Sessions, "get">;
  judge: Judge;
  now: () => number;
  onStale: () => void;
};

/**
 * Applies new rules to requests that are already pending, so that a rule takes effect at once. It uses the same command
 * as any other decision: the first one wins.
 */
export function createPendingReview({ storage, sessions, judge, now, onStale }: PendingReviewNeed) {
  let running: Promise<void> | undefined;
  let isAskedAgain = false;

  async function review(): Promise<void> {
    try {
      do {
        isAskedAgain = false;
        let count = 0;
        for (const id of await storage.approvals.pendingIds()) {
          if (++count % AT_ONCE === 0) await new Promise(setImmediate);
          await reviewOne(id);
        }
      } while (isAskedAgain);
    } finally {
      // Cleared in the same step as the last check of `isAskedAgain`, so a later caller starts a new review.
      running = undefined;
    }
  }

  async function reviewOne(id: string): Promise<void> {
    const asked = await storage.approvals.get(id);
    const session = asked?.status === "pending" ? await sessions.get(asked.sessionId) : undefined;
    if (!asked || !session) return;
    for (;;) {
      const { outcome, judged } = await judge.judge(session, { tool_name: asked.toolName, input: asked.input });
      // The request is pending although a built-in rule would allow it now, so it needed approval: leave it pending.
      if (!outcome || outcome.isBuiltin) return;
      const decided = { ...outcome, updatedInput: null, resolvedAt: now() };
      const settled = await storage.approvals.settleByRuleIfPending(id, decided, { ...judged, shadows: [] });
      if (settled.outcome !== "stale") return;
      onStale();
    }
  }

  /** Resolves when every request that was pending has been judged by the present rules. */
  return async (): Promise<void> => {
    if (running) isAskedAgain = true;
    running ??= review();
    await running;
  };
}
