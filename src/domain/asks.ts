import { createHash } from "node:crypto";
import type { PermitAnswer, PermitInput } from "../schema/approval.ts";
import { AppError } from "../schema/errors.ts";
import { isJsonObject, type JsonObject } from "../schema/values.ts";
import type { ApprovalHead } from "../storage/approvals.ts";
import type { Storage } from "../storage/database.ts";
import type { Announce } from "../storage/writer.ts";
import { toPermitAnswer } from "./approval-view.ts";
import type { Broadcast } from "./broadcast.ts";
import { mayAskFor, type Principal } from "./principals.ts";
import type { Session } from "./sessions.ts";
import { tellTurn } from "./turn-events.ts";

/** More undecided asks of one child than this are no work but a flood. */
const MAX_PENDING_PER_SESSION = 20_000;

/** A child's hold on its approval, which outlives it. */
export type Ask = Disposable & {
  approvalId: string;
  /** Resolves when somebody has decided, and never before the decision is on disk. */
  answer(): Promise<PermitAnswer>;
};

type AsksNeed = {
  storage: Storage;
  broadcast: Broadcast;
  now: () => number;
  timeoutSecs: number;
  hold: (approvalId: string) => Disposable;
  onFiled: (asked: ApprovalHead) => void;
  /** Resolves when what the child has said before is on record. */
  caughtUp: (sessionId: string) => Promise<void>;
};

export function createAsks({ storage, broadcast, now, timeoutSecs, hold, onFiled, caughtUp }: AsksNeed) {
  /** Files an ask. It waits and holds before the commit makes its row visible, so that no decision can slip past it. */
  async function ask(session: Session, input: PermitInput): Promise<Ask> {
    if (session.kind === "managed") await caughtUp(session.id);
    using filing = new DisposableStack();
    const filed = await storage.write((announce) => {
      const row = file(announce, session, input);
      return { row, ask: filing.use(waiting(row.id)) };
    });
    filing.move();
    onFiled(filed.row);
    return filed.ask;
  }

  function file(announce: Announce, session: Session, input: PermitInput): ApprovalHead {
    const askHash = hashOf(input.tool_name, input.input);
    const toolUseId = input.tool_use_id ?? null;
    // Without an id, two equal asks are two asks: a decision on one must not run the other.
    const same = toolUseId && storage.approvals.findSameAsk({ sessionId: session.id, toolUseId, askHash });
    if (same) return same;
    if (storage.approvals.countPending(session.id) >= MAX_PENDING_PER_SESSION) {
      throw new AppError(
        "too_many_requests",
        `This session has ${MAX_PENDING_PER_SESSION} undecided asks; wait for decisions.`,
      );
    }
    const createdAt = now();
    const row = storage.approvals.create({
      id: storage.newId(),
      sessionId: session.id,
      sessionName: session.name,
      owner: session.owner,
      toolName: input.tool_name,
      toolUseId,
      input: input.input,
      askHash,
      createdAt,
      expiresAt: createdAt + (session.loopbackTimeoutSecs ?? timeoutSecs) * 1000,
    });
    const { id: approvalId, owner, sessionId } = row;
    tellTurn(storage, sessionId, {
      type: "approval_requested",
      approval_id: approvalId,
      tool_name: input.tool_name,
      tool_use_id: toolUseId,
      input: input.input,
    });
    announce(
      storage.changes.append({ kind: "approval_requested", owner, sessionId, subjectId: approvalId, at: createdAt }),
    );
    return row;
  }

  function waiting(approvalId: string): Ask {
    const waiter = broadcast.waitFor(approvalId);
    const held = hold(approvalId);
    return {
      approvalId,
      async answer() {
        if (storage.approvals.head(approvalId)?.status === "pending") await waiter.woken();
        for (;;) {
          const row = storage.approvals.get(approvalId);
          if (!row) return { behavior: "deny", message: "The request is no longer on record. The tool was not run." };
          if (row.status !== "pending") return toPermitAnswer(row);
          await waiter.woken();
        }
      },
      [Symbol.dispose]() {
        waiter[Symbol.dispose]();
        held[Symbol.dispose]();
      },
    };
  }

  return {
    ask,
    /** Takes up an ask again after its connection was lost; `undefined` when the caller has no such ask. */
    resume(principal: Principal, approvalId: string): Ask | undefined {
      const asked = storage.approvals.head(approvalId);
      return asked && mayAskFor(principal, asked.sessionId) ? waiting(approvalId) : undefined;
    },
  };
}

/** The same for equal asks whatever the order of their keys; the tool's name counts, or one tool's allow could run another. */
function hashOf(toolName: string, input: JsonObject): string {
  return createHash("sha256")
    .update(JSON.stringify([toolName, sorted(input)]))
    .digest("hex");
}

/** Tells objects from arrays, so that no two different inputs look alike. */
function sorted(value: unknown): unknown {
  if (Array.isArray(value)) return ["array", ...value.map(sorted)];
  if (!isJsonObject(value)) return value;
  const keys = Object.keys(value).sort();
  return ["object", ...keys.map((key) => [key, sorted(value[key])])];
}
