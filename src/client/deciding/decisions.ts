import type { Approval } from "../../contract/approvals/approval.ts";
import type { BatchResult, Decision } from "../../contract/approvals/decision.ts";
import type { ChangeEvent } from "../../contract/change.ts";
import { Refused } from "../../contract/refusals/refused.ts";
import { decideApproval, decideApprovals } from "../../contract/routes/approvals.ts";
import type { Rule } from "../../contract/rules/rule.ts";
import type { Api, RequestOptions } from "../api.ts";
import type { RequestEnd } from "../inbox.ts";

type Resolved = ChangeEvent & { type: "approval_resolved" };

/** The result of a decision: recorded (with the rule created from it), beaten by another decision, or failed. */
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

/** Sends decisions, and distinguishes their events from those of others' decisions. */
export function createDecisions({ api, onDecided, onBeaten }: DecisionsNeed) {
  /** Decisions being sent, with their events that arrived meanwhile. */
  const underWay = new Map<string, Resolved | undefined>();

  /**
   * Sends one decision by its own route, several in one batch, which the server decides separately and stores together.
   */
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
        // The answer was lost, but the event stream has reported the outcome.
        return told ? { kind: "beaten", outcome: outcomeIn(told) } : { kind: "failed", reason: cause };
      });
    }
  }

  return {
    isUnderWay: (id: string) => underWay.has(id),

    /** Returns whether an event only repeats the answer that our own decision will get. */
    isOurs(event: ChangeEvent): boolean {
      if (event.type !== "approval_resolved" || !underWay.has(event.approval_id)) return false;
      underWay.set(event.approval_id, event);
      return true;
    },

    /** Sends the same decision on at most as many requests as one call may have; returns the results in order. */
    async send(approvals: Approval[], decision: Decision, options?: RequestOptions): Promise<DecisionResult[]> {
      for (const { id } of approvals) underWay.set(id, undefined);
      try {
        const results = await decide(approvals, decision, options);
        // Do this before the decisions stop being ours, so that no event comes in between.
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
