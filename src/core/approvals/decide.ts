import type { Decision, RespondResult } from "../../contract/approvals/approval.ts";
import { AppError } from "../../contract/errors.ts";
import type { TurnEvent } from "../../contract/sessions/turn.ts";
import { seconds } from "../../contract/values.ts";
import type { ApprovalHead, Outcome } from "../../storage/sqlite/approvals/approvals.ts";
import type { Storage } from "../../storage/sqlite/database.ts";
import type { Announce } from "../../storage/sqlite/writer.ts";
import { displayName, mayDecide, type Principal } from "../access/principals.ts";
import type { Audit } from "../audit/audit.ts";

const BATCH = 500;

/** What was decided; whether it is delivered shows when it is settled. */
type Made = Omit<Outcome, "deliveredAt">;

export type Settlement = ReturnType<typeof createSettlement>;

type SettlementNeed = {
  storage: Storage;
  audit: Audit;
  now: () => number;
  /** Whether a child waits for this one on a connection: then the decision is handed over with its commit. */
  isHeld: (id: string) => boolean;
  onSettled: () => void;
};

/** Every way in which an approval is decided; all of them race through `settle`, and the first one wins. */
export function createSettlement({ storage, audit, now, isHeld, onSettled }: SettlementNeed) {
  function settle(announce: Announce, id: string, made: Made): ApprovalHead | undefined {
    const link = audit.next("decisions");
    const outcome = { ...made, deliveredAt: made.status !== "abandoned" && isHeld(id) ? made.resolvedAt : null };
    const row = storage.approvals.settleIfPending(id, { ...outcome, auditSeq: link.seq });
    if (row) {
      audit.decided(link, row, outcome);
      onSettled();
      const { owner, sessionId } = row;
      const event: TurnEvent = {
        type: "approval_resolved",
        approval_id: id,
        tool_name: row.toolName,
        tool_use_id: row.toolUseId,
        status: outcome.status,
        response_message: outcome.responseMessage,
        resolved_by: outcome.resolvedBy,
      };
      if (row.approvalFromEvent !== sessionId) storage.turns.appendIfRunning(row.approvalFromEvent, [event]);
      announce(
        storage.changes.append({ kind: "approval_resolved", owner, sessionId, subjectId: id, at: outcome.resolvedAt }),
      );
    }
    return row;
  }

  /** A deadline that has passed has decided already, even when its timer is late. */
  function expireIfDue(announce: Announce, asked: ApprovalHead | undefined): ApprovalHead | undefined {
    if (asked?.status !== "pending" || asked.expiresAt > now()) return undefined;
    return settle(announce, asked.id, timedOut(asked, now()));
  }

  return {
    /** Decides, or tells who was first. What is not the caller's reads the same as what does not exist. */
    async decide(principal: Principal, id: string, decision: Decision): Promise<RespondResult> {
      const settled = await storage.write((announce) => {
        const asked = storage.approvals.head(id);
        if (!asked || !mayDecide(principal, asked.owner)) throw unknownApproval(id);
        expireIfDue(announce, asked);
        return settle(announce, id, decided(principal, decision, now()));
      });
      if (settled) return { type: "ok", approval_id: id, status: settled.status };
      const first = storage.approvals.head(id);
      if (!first || first.resolvedAt === null || first.resolvedBy === null) throw unknownApproval(id);
      return {
        type: "already_resolved",
        approval_id: id,
        status: first.status,
        resolved_by: first.resolvedBy,
        resolved_at: seconds(first.resolvedAt),
      };
    },

    /** Settles what is past its deadline, and returns how many. */
    async expireDue(): Promise<number> {
      const due = storage.approvals.dueIds(now(), BATCH);
      if (due.length === 0) return 0;
      const expired = await storage.write((announce) =>
        due.filter((id) => expireIfDue(announce, storage.approvals.head(id))),
      );
      return expired.length;
    },

    /** The child that asked is gone, so there is nobody left to tell; `isBack` may find out otherwise at the last moment. */
    async abandon(ids: string[], reason: string, isBack: (id: string) => boolean = () => false): Promise<void> {
      for (let start = 0; start < ids.length; start += BATCH) {
        const batch = ids.slice(start, start + BATCH);
        await storage.write((announce) => {
          for (const id of batch) {
            if (expireIfDue(announce, storage.approvals.head(id)) || isBack(id)) continue;
            settle(announce, id, abandoned(reason, now()));
          }
        });
      }
    },
  };
}

export function unknownApproval(id: string): AppError {
  return new AppError("not_found", `There is no approval ${id}: list the pending ones to see their ids.`);
}

function decided(principal: Principal, decision: Decision, at: number): Made {
  return {
    status: decision.approve ? "allowed" : "denied",
    responseMessage: decision.message || null,
    updatedInput: decision.updated_input ?? null,
    interrupt: decision.interrupt ?? false,
    resolvedAt: at,
    resolvedBy: displayName(principal),
  };
}

function timedOut(asked: ApprovalHead, at: number): Made {
  const waited = Math.round((asked.expiresAt - asked.createdAt) / 1000);
  const message = `Approval timed out: nobody decided within ${waited} seconds. The tool was not run.`;
  return unmade("timed_out", message, "timeout", at);
}

function abandoned(reason: string, at: number): Made {
  return unmade("abandoned", `Abandoned: ${reason}. Plexus did not allow the call.`, "plexus", at);
}

function unmade(
  status: "timed_out" | "abandoned",
  responseMessage: string,
  resolvedBy: string,
  resolvedAt: number,
): Made {
  return { status, responseMessage, updatedInput: null, interrupt: false, resolvedAt, resolvedBy };
}
