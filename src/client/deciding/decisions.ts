import type { Approval } from "../../contract/approvals/approval.ts";
import type { BatchResult, Decision } from "../../contract/approvals/decision.ts";
import type { ChangeEvent } from "../../contract/change.ts";
import { Refused } from "../../contract/refusals/refused.ts";
import { decideApproval, decideApprovals } from "../../contract/routes/approvals.ts";
import type { Rule } from "../../contract/rules/rule.ts";
import type { Api, RequestOptions } from "../api.ts";
import type { RequestEnd } from "../inbox.ts";

type Resolved = ChangeEvent & { type: "approval_resolved" };

/** What came of a decision: it stands (with the rule that was made of it), somebody was first, or it was not taken. */
export type DecisionResult =
  | { kind: "decided"; rule?: Rule }
  | { kind: "beaten"; outcome: RequestEnd }
  | { kind: "failed"; reason: Refused };

export type Decisions = ReturnType<typeof createDecisions>;

type DecisionsNeed = {
  api: Api;
  onDecided: (id: string) => void;
  onBeaten: (id: string, outcome: RequestEnd) => void;
};

/** Sends decisions, and tells those that are ours from those of somebody else. */
export function createDecisions({ api, onDecided, onBeaten }: DecisionsNeed) {
  /** On their way to the server, with what the event stream tells of them meanwhile. */
  const underWay = new Map<string, Resolved | undefined>();

  /** One by its own route, many together: those are decided each on its own, and on disk at once. */
  async function decide(
    approvals: Approval[],
    decision: Decision,
    options?: RequestOptions,
  ): Promise<DecisionResult[]> {
    const [first, ...others] = approvals;
    try {
      if (first && others.length === 0) {
        const params = { id: first.id };
        return [resultOf(await api.call(decideApproval, { params, body: decision }, options))];
      }
      const decisions = approvals.map(({ id: approval_id }) => ({ approval_id, ...decision }));
      const { results } = await api.call(decideApprovals, { body: { decisions } }, options);
      return results.map(resultOf);
    } catch (cause) {
      if (!(cause instanceof Refused)) throw cause;
      return approvals.map(({ id }): DecisionResult => {
        const told = underWay.get(id);
        // The answer was lost, but the stream has told how it ended.
        return told ? { kind: "beaten", outcome: outcomeIn(told) } : { kind: "failed", reason: cause };
      });
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

    /** The same decision on at most as many as one call may carry; what became of each, in their order. */
    async send(approvals: Approval[], decision: Decision, options?: RequestOptions): Promise<DecisionResult[]> {
      for (const { id } of approvals) underWay.set(id, undefined);
      try {
        const results = await decide(approvals, decision, options);
        // Before they stop being ours, so that no event can come between.
        for (const [at, { id }] of approvals.entries()) {
          const result = results[at];
          if (result?.kind === "decided") onDecided(id);
          if (result?.kind === "beaten") onBeaten(id, result.outcome);
        }
        return results;
      } finally {
        for (const { id } of approvals) underWay.delete(id);
      }
    },
  };
}

function resultOf(answer: BatchResult): DecisionResult {
  switch (answer.type) {
    case "ok":
      return { kind: "decided", ...(answer.rule && { rule: answer.rule }) };
    case "already_resolved": {
      const { status, resolved_by: by, resolved_at: at } = answer;
      return { kind: "beaten", outcome: { status, by, at, message: null, lost: true } };
    }
    case "error":
      return { kind: "failed", reason: new Refused(200, answer.code, answer.message) };
  }
}

function outcomeIn({ status, resolved_by: by, resolved_at: at, response_message: message }: Resolved): RequestEnd {
  return { status, by, at, message, lost: true };
}
