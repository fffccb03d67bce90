import type { Approval, Decision } from "../contract/approvals/approval.ts";
import type { ChangeEvent } from "../contract/change.ts";
import { Refused } from "../contract/refused.ts";
import { decideApproval } from "../contract/routes/approvals.ts";
import type { Api } from "./api.ts";
import type { ApprovalOutcome } from "./inbox.ts";

type Resolved = ChangeEvent & { type: "approval_resolved" };

/** What came of a decision: it stands, somebody else was first, or the server did not take it. */
type DecisionResult =
  | { kind: "decided" }
  | { kind: "beaten"; outcome: ApprovalOutcome }
  | { kind: "failed"; reason: Refused };

export type Decisions = ReturnType<typeof createDecisions>;

type DecisionsNeed = {
  api: Api;
  onDecided: (id: string) => void;
  onBeaten: (id: string, outcome: ApprovalOutcome) => void;
};

/** Sends decisions, and tells those that are ours from those of somebody else. */
export function createDecisions({ api, onDecided, onBeaten }: DecisionsNeed) {
  /** On their way to the server, with what the event stream tells of them meanwhile. */
  const underWay = new Map<string, Resolved | undefined>();

  async function decide(id: string, decision: Decision): Promise<DecisionResult> {
    try {
      const answer = await api.call(decideApproval, { params: { id }, body: decision });
      if (answer.type === "ok") return { kind: "decided" };
      const { status, resolved_by: by, resolved_at: at } = answer;
      return { kind: "beaten", outcome: { status, by, at, message: null, lost: true } };
    } catch (cause) {
      if (!(cause instanceof Refused)) throw cause;
      const told = underWay.get(id);
      // The answer was lost, but the stream has told how it ended.
      return told ? { kind: "beaten", outcome: outcomeIn(told) } : { kind: "failed", reason: cause };
    }
  }

  return {
    isUnderWay: (id: string) => underWay.has(id),

    /** Whether an event only repeats what the answer to our own decision will tell. */
    isOurs(event: ChangeEvent): boolean {
      if (event.type !== "approval_resolved" || !underWay.has(event.approval_id)) return false;
      underWay.set(event.approval_id, event);
      return true;
    },

    async send({ id }: Approval, decision: Decision): Promise<DecisionResult> {
      underWay.set(id, undefined);
      try {
        const result = await decide(id, decision);
        // Before it stops being ours, so that no event can come between.
        if (result.kind === "decided") onDecided(id);
        if (result.kind === "beaten") onBeaten(id, result.outcome);
        return result;
      } finally {
        underWay.delete(id);
      }
    },
  };
}

function outcomeIn({ status, resolved_by: by, resolved_at: at, response_message: message }: Resolved): ApprovalOutcome {
  return { status, by, at, message, lost: true };
}
