import { randomBytes } from "node:crypto";
import type { PermitAnswer, PermitInput } from "../../contract/approvals/approval.ts";
import type { Change } from "../../contract/change.ts";
import type { ApprovalHead, ApprovalRow, NewApproval, RuleOutcome } from "../../storage/approvals.ts";
import type { Judged } from "../../storage/rules.ts";
import type { Storage } from "../../storage/storage.ts";
import type { Principal } from "../access/principals.ts";
import type { Broadcast } from "../events/broadcast.ts";
import type { Judgement } from "../rulebook/judge.ts";
import type { Session } from "../sessions/sessions.ts";
import { type AnsweredRow, toPermitAnswer } from "./approval-view.ts";
import { askedAgain } from "./asked-again.ts";
import type { Connection } from "./connections.ts";
import { PENDING_LIMITS, tooManyPending } from "./pending-limits.ts";
import { hashOf } from "./request-hash.ts";

/** A child's wait for the decision on its request. Disposing ends the wait; the approval goes on. */
export type WaitingRequest = Disposable & {
  approvalId: string;
  /** Identifies this request among those for the same approval. `resume` needs both ids. */
  asker: string | null;
  /** Resolves after the decision and its delivery are both on disk. */
  answer(): Promise<PermitAnswer>;
};

type RequestsNeed = {
  storage: Pick<Storage, "approvals" | "newId">;
  broadcast: Broadcast;
  now: () => number;
  timeoutSecs: number;
  connect: (approvalId: string, asker: string | null) => Connection;
  onFiled: (asked: ApprovalHead) => void;
  /** Resolves when all output that the child has written so far is stored. */
  outputStored: (sessionId: string) => Promise<void>;
  /** Matches a call against the rules. */
  judge: (session: Session, asked: PermitInput) => Promise<Judgement>;
  /** Called when the rules changed while a call was being judged. */
  onStale: () => void;
  onBuiltin: () => void;
};
/** The columns of a decided row that the child's answer needs. */
type DecidedRow = AnsweredRow & Pick<ApprovalRow, "deliveredAt" | "asker">;
/** A filed request, waiting or already answered; `undefined` if the rules changed before it was filed. */
type Filed = Promise<WaitingRequest | undefined>;

export function createRequests(need: RequestsNeed) {
  const { storage, broadcast, now } = need;

  /** Judges a request by the rules and files it. Repeats both while the rules change in between. */
  async function request(session: Session, input: PermitInput): Promise<WaitingRequest> {
    for (;;) {
      const { outcome, judged } = await need.judge(session, input);
      const filed = outcome ? await decided(session, input, outcome, judged) : await ask(session, input, judged);
      if (filed) return filed;
      need.onStale();
    }
  }

  /**
   * Files a request that needs a decision. The waiter and the connection are registered before the commit makes the row
   * visible, so no decision can be missed.
   */
  async function ask(session: Session, input: PermitInput, judged: Judged): Filed {
    if (session.kind === "managed") await need.outputStored(session.id);
    const asked = asApproval(session, input);
    const waiting = wait(asked.id, asked.asker);
    try {
      const filed = await storage.approvals.file(asked, PENDING_LIMITS, judged);
      switch (filed.outcome) {
        case "stale":
          waiting.forget();
          return undefined;
        case "too_many":
          throw tooManyPending(filed, PENDING_LIMITS);
        case "braked":
          waiting.forget();
          return answered(filed.approval, { behavior: "deny", message: filed.message ?? "" });
        case "filed":
          need.onFiled(filed.approval);
          return waiting.knowing(true);
        case "same":
          need.onFiled(filed.approval);
          waiting.forget();
          return attached(filed.approval, asked.asker);
      }
    } catch (cause) {
      waiting.forget();
      throw cause;
    }
  }

  /** Waits for a request that was filed before. It may be decided by now, so the row is read before waiting. */
  function attached({ id }: ApprovalHead, asker: string | null): WaitingRequest {
    const waiting = wait(id, asker);
    waiting.noteAsker(asker);
    return waiting.knowing(false);
  }

  /** Files a request together with the decision of a rule. */
  async function decided(session: Session, input: PermitInput, outcome: RuleOutcome, judged: Judged): Filed {
    if (session.kind === "managed" && !outcome.isBuiltin) await need.outputStored(session.id);
    const asked = asApproval(session, input);
    const filed = await storage.approvals.fileDecided(asked, outcome, judged);
    if (filed.outcome === "stale") return undefined;
    if (filed.outcome === "same") return attached(filed.approval, asked.asker);
    if (outcome.isBuiltin) need.onBuiltin();
    const row = { ...asked, ...outcome, ...filed.approval, updatedInput: null, inputCutAt: null };
    return answered(filed.approval, toPermitAnswer(row));
  }

  function answered({ id, asker }: ApprovalHead, answer: PermitAnswer): WaitingRequest {
    return { approvalId: id, asker, answer: async () => answer, [Symbol.dispose]() {} };
  }

  function asApproval(session: Session, { tool_name, input, tool_use_id }: PermitInput): NewApproval {
    const createdAt = now();
    return {
      id: storage.newId(),
      sessionId: session.id,
      sessionName: session.name,
      isInTurn: session.kind === "managed",
      owner: session.owner,
      toolName: tool_name,
      toolUseId: tool_use_id ?? null,
      asker: randomBytes(9).toString("base64url"),
      input,
      askHash: hashOf(tool_name, input),
      createdAt,
      expiresAt: createdAt + (session.loopbackTimeoutSecs ?? need.timeoutSecs) * 1000,
    };
  }

  /**
   * Registers the waiter and the connection. Every later decision wakes the waiter, so a row known to be pending need
   * not be read again.
   */
  function wait(approvalId: string, asker: string | null) {
    const waiter = broadcast.waitFor(approvalId);
    const connection = need.connect(approvalId, asker);
    let isDecided = false;
    let mayBeDecided = true;

    async function answer(): Promise<PermitAnswer> {
      let told = mayBeDecided ? undefined : await waiter.woken();
      mayBeDecided = true;
      for (;;) {
        const row = decisionIn(told) ?? (await storage.approvals.get(approvalId));
        if (row?.status === "pending") {
          told = await waiter.woken();
          continue;
        }
        isDecided = true;
        if (!row) return { behavior: "deny", message: "The request is no longer on record. The tool was not run." };
        return delivered(row, asker);
      }
    }

    return {
      noteAsker: connection.noteAsker,
      /** Gives up the wait; the child is not expected back. */
      forget(): void {
        waiter[Symbol.dispose]();
        connection.finish();
      },
      /** Reverts a `resume` that failed: as if the child had not reconnected. */
      undo(): void {
        waiter[Symbol.dispose]();
        connection.undo();
      },
      /** `isPending`: the status in a commit after the waiter was registered. */
      knowing(isPending: boolean): WaitingRequest {
        mayBeDecided = !isPending;
        return {
          approvalId,
          asker,
          answer,
          [Symbol.dispose]() {
            waiter[Symbol.dispose]();
            if (isDecided) connection.finish();
            else connection.lose();
          },
        };
      },
    };
  }

  /**
   * Returns the answer after its delivery is on disk; the same request made again is then a new one. An allow runs one
   * call, so only the latest request gets it: earlier ones are lost connections of the child, or other calls with the
   * same id.
   */
  async function delivered(row: DecidedRow, asker: string | null): Promise<PermitAnswer> {
    if (row.status === "abandoned") return toPermitAnswer(row);
    const isMine =
      row.deliveredAt === null
        ? await storage.approvals.deliverUnlessAskedAgain(row.id, asker, now())
        : row.status !== "allowed" || row.asker === asker;
    return isMine ? toPermitAnswer(row) : askedAgain(row.id);
  }

  return {
    request,
    /** Resumes a request after its connection was lost; `undefined` if the caller has no such request. */
    async resume(
      principal: Principal,
      { approvalId, asker }: Pick<WaitingRequest, "approvalId" | "asker">,
    ): Promise<WaitingRequest | undefined> {
      // A child may resume requests of its own session. The operator may resume any, to try things out.
      if (principal.kind === "token") return undefined;
      const sessionId = principal.kind === "session" ? principal.sessionId : undefined;
      // Connect first: an older connection that closes meanwhile is then not the last one.
      const waiting = wait(approvalId, asker);
      try {
        const asked = await storage.approvals.holdAgain(approvalId, sessionId);
        if (asked) {
          waiting.noteAsker(asked.asker);
          return waiting.knowing(asked.status === "pending");
        }
      } catch (cause) {
        waiting.undo();
        throw cause;
      }
      waiting.undo();
      return undefined;
    },
  };
}

/** The decision that came with the wake-up; `undefined` if it did not, then the row is read. */
function decisionIn(change: Change | undefined): DecidedRow | undefined {
  if (!change?.decision) return undefined;
  const { status, resolvedBy, answer } = change.decision;
  if (!answer) return undefined;
  return { id: change.subjectId, status, resolvedBy, ...answer, updatedInput: null, inputCutAt: null };
}
