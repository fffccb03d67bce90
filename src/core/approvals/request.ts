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

/** A child that waits for the decision on its request; the approval outlives it. */
export type WaitingRequest = Disposable & {
  approvalId: string;
  /** Which request for this approval it is: by both it is taken up again. */
  asker: string | null;
  /** Resolves when somebody has decided, and never before the decision, and that it is used up, are on disk. */
  answer(): Promise<PermitAnswer>;
};

type RequestsNeed = {
  storage: Pick<Storage, "approvals" | "newId">;
  broadcast: Broadcast;
  now: () => number;
  timeoutSecs: number;
  connect: (approvalId: string, asker: string | null) => Connection;
  onFiled: (asked: ApprovalHead) => void;
  /** Resolves when what the child has said before is on record. */
  outputStored: (sessionId: string) => Promise<void>;
  /** What the rules decide, so that nobody has to. */
  judge: (session: Session, asked: PermitInput) => Promise<Judgement>;
  /** The rules were others than those that a call was judged by. */
  onStale: () => void;
  onBuiltin: () => void;
};
/** All of a decided row that its child is answered by. */
type DecidedRow = AnsweredRow & Pick<ApprovalRow, "deliveredAt" | "asker">;
/** A request that is filed: it waits, or is answered already; `undefined` when the rules have changed meanwhile. */
type Filed = Promise<WaitingRequest | undefined>;

export function createRequests(need: RequestsNeed) {
  const { storage, broadcast, now } = need;

  /** Judges a request by the rules, and files it; judged anew for as long as the rules change meanwhile. */
  async function request(session: Session, input: PermitInput): Promise<WaitingRequest> {
    for (;;) {
      const { outcome, judged } = await need.judge(session, input);
      const filed = outcome ? await decided(session, input, outcome, judged) : await ask(session, input, judged);
      if (filed) return filed;
      need.onStale();
    }
  }

  /** Files a request that waits for a decision. It waits and holds before the commit makes its row visible, so that no decision can slip past it. */
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

  /** One that was filed before; it may be decided by now, so that it is read before it is waited for. */
  function attached({ id }: ApprovalHead, asker: string | null): WaitingRequest {
    const waiting = wait(id, asker);
    waiting.noteAsker(asker);
    return waiting.knowing(false);
  }

  /** Files a request together with the decision of a rule: nobody has to be asked. */
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

  /** Waits from now on: whatever becomes of a pending one later wakes it, so that it need not be read before. */
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
      /** There is no such approval for this caller. */
      forget(): void {
        waiter[Symbol.dispose]();
        connection.finish();
      },
      /** It could not be held again, or not by this caller: all is as if nobody had come. */
      undo(): void {
        waiter[Symbol.dispose]();
        connection.undo();
      },
      /** `isPending` is how it stood in a commit after this had begun to wait. */
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
   * The answer, once it is on record that it is used up: the same request, made again, is a new one. An allow runs one
   * call, so it is for the last request: the others are lost connections of the child, or other calls with the same id.
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
    /** Takes up a request again after its connection was lost; `undefined` when the caller has no such request. */
    async resume(
      principal: Principal,
      { approvalId, asker }: Pick<WaitingRequest, "approvalId" | "asker">,
    ): Promise<WaitingRequest | undefined> {
      // A child asks for its own session; the operator for any, to try things out.
      if (principal.kind === "token") return undefined;
      const sessionId = principal.kind === "session" ? principal.sessionId : undefined;
      // Connected first, so that the end of an older connection is not taken for the last one.
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

/** What the commit of a decision has written, where it is told with the wake-up; else the row is read. */
function decisionIn(change: Change | undefined): DecidedRow | undefined {
  if (!change?.decision) return undefined;
  const { status, resolvedBy, answer } = change.decision;
  if (!answer) return undefined;
  return { id: change.subjectId, status, resolvedBy, ...answer, updatedInput: null, inputCutAt: null };
}
