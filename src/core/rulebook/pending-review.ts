import type { Storage } from "../../storage/storage.ts";
import type { Sessions } from "../sessions/sessions.ts";
import type { Judge } from "./judge.ts";

/** So many are judged before others get their turn. */
const AT_ONCE = 20;

type PendingReviewNeed = {
  storage: { approvals: Pick<Storage["approvals"], "get" | "pendingIds" | "settleByRuleIfPending"> };
  sessions: Pick<Sessions, "get">;
  judge: Judge;
  now: () => number;
  onStale: () => void;
};

/**
 * Decides what is pending by rules that were made after it was asked, so that a rule counts at once. It goes the same way
 * as any decision: whoever comes first, a person or the rule, has decided.
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
      // In the same step in which it was seen that nobody asks again: whoever asks from now on begins anew.
      running = undefined;
    }
  }

  async function reviewOne(id: string): Promise<void> {
    const asked = await storage.approvals.get(id);
    const session = asked?.status === "pending" ? await sessions.get(asked.sessionId) : undefined;
    if (!asked || !session) return;
    for (;;) {
      const { outcome, judged } = await judge.judge(session, { tool_name: asked.toolName, input: asked.input });
      // What a built-in rule would allow was not allowed when it was asked: somebody wanted to be asked.
      if (!outcome || outcome.isBuiltin) return;
      const decided = { ...outcome, updatedInput: null, resolvedAt: now() };
      const settled = await storage.approvals.settleByRuleIfPending(id, decided, { ...judged, shadows: [] });
      if (settled.outcome !== "stale") return;
      onStale();
    }
  }

  /** Resolves when everything that was pending has been judged by the present rules. */
  return async (): Promise<void> => {
    if (running) isAskedAgain = true;
    running ??= review();
    await running;
  };
}
