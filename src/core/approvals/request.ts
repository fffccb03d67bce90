import { createHash, randomBytes } from "node:crypto";
import type { PermitAnswer, PermitInput } from "../../contract/approvals/approval.ts";
import { isJsonObject, type JsonObject } from "../../contract/values.ts";
import type { ApprovalHead, ApprovalRow, NewApproval } from "../../storage/sqlite/approvals/approvals.ts";
import type { Storage } from "../../storage/sqlite/database.ts";
import type { Announce } from "../../storage/sqlite/writer.ts";
import { mayAskFor, type Principal } from "../access/principals.ts";
import type { Audit } from "../audit/audit.ts";
import type { Broadcast } from "../events/broadcast.ts";
import type { Session } from "../sessions/sessions.ts";
import { echoed, toPermitAnswer } from "./approval-view.ts";
import { askedAgain } from "./asked-again.ts";
import type { BuiltinDecision } from "./builtin-rules.ts";
import type { PendingBounds } from "./pending-bounds.ts";

/** A child's hold on its approval, which outlives it. */
export type Ask = Disposable & {
  approvalId: string;
  /** Which ask of this approval it is: by both it is taken up again. */
  asker: string | null;
  /** Resolves when somebody has decided, and never before the decision, and that it is used up, are on disk. */
  answer(): Promise<PermitAnswer>;
};

type AsksNeed = {
  storage: Storage;
  audit: Audit;
  bounds: PendingBounds;
  broadcast: Broadcast;
  now: () => number;
  timeoutSecs: number;
  hold: (approvalId: string) => Disposable;
  onFiled: (asked: ApprovalHead) => void;
  /** Resolves when what the child has said before is on record. */
  caughtUp: (sessionId: string) => Promise<void>;
  /** What a built-in rule decides, so that nobody has to. */
  builtinRule: (session: Session, asked: PermitInput) => BuiltinDecision | undefined;
  onBuiltin: () => void;
};

export function createAsks(need: AsksNeed) {
  const { storage, audit, bounds, broadcast, now, hold } = need;

  /** Files an ask. It waits and holds before the commit makes its row visible, so that no decision can slip past it. */
  async function ask(session: Session, input: PermitInput): Promise<Ask> {
    const decision = need.builtinRule(session, input);
    if (decision) return decided(session, input, decision);
    if (session.kind === "managed") await need.caughtUp(session.id);
    using filing = new DisposableStack();
    const filed = await storage.write((announce) => {
      const row = file(announce, session, input, filing);
      return { row, ask: filing.use(waiting(row, row.asker)) };
    });
    filing.move();
    need.onFiled(filed.row);
    return filed.ask;
  }

  /** Files an ask together with its decision: nobody has to be asked, so nobody is told. */
  async function decided(session: Session, input: PermitInput, { rule, denial }: BuiltinDecision): Promise<Ask> {
    const row = await storage.write(() => {
      const link = audit.next("builtin");
      const status = denial === undefined ? "allowed" : "denied";
      const made = { status, responseMessage: denial ?? null, resolvedBy: `builtin:${rule}` } as const;
      const head = storage.approvals.createDecided(asked(session, input), { ...made, auditSeq: link.seq });
      const { createdAt: at } = head;
      audit.decided(link, head, { ...made, updatedInput: null, interrupt: false, resolvedAt: at, deliveredAt: at });
      return head;
    });
    need.onBuiltin();
    const answer: PermitAnswer =
      denial === undefined
        ? { behavior: "allow", updatedInput: echoed(input.input) }
        : { behavior: "deny", message: denial };
    return { approvalId: row.id, asker: row.asker, answer: async () => answer, [Symbol.dispose]() {} };
  }

  function asked(session: Session, { tool_name, input, tool_use_id }: PermitInput): NewApproval {
    const createdAt = now();
    return {
      id: storage.newId(),
      sessionId: session.id,
      sessionName: session.name,
      // A claude that was started by hand has no turns.
      approvalFromEvent: (session.kind === "managed" && storage.turns.running(session.id)?.id) || session.id,
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

  /** Whatever must be undone should the commit fail goes into `filing`. */
  function file(announce: Announce, session: Session, input: PermitInput, filing: DisposableStack): ApprovalHead {
    const approval = asked(session, input);
    const { id: approvalId, sessionId, approvalFromEvent, toolUseId, asker, askHash, owner, createdAt } = approval;
    // Without an id, two equal asks are two asks: a decision on one must not run the other.
    const same = toolUseId && storage.approvals.findSameAsk({ approvalFromEvent, toolUseId, askHash });
    if (same) {
      storage.approvals.setAsker(same.id, asker);
      return { ...same, asker };
    }
    bounds.admit(session, input.input);
    filing.defer(bounds.loosen);
    const row = storage.approvals.create(approval);
    const event = { approval_id: approvalId, tool_name: input.tool_name, tool_use_id: toolUseId, input: input.input };
    if (approvalFromEvent !== sessionId)
      storage.turns.appendIfRunning(approvalFromEvent, [{ type: "approval_requested", ...event }]);
    announce(
      storage.changes.append({ kind: "approval_requested", owner, sessionId, subjectId: approvalId, at: createdAt }),
    );
    return row;
  }

  /** Waits from now on: whatever becomes of a pending one later wakes it, so that nothing is read before. */
  function waiting({ id: approvalId, status }: ApprovalHead, asker: string | null): Ask {
    let isPending = status === "pending";
    const waiter = broadcast.waitFor(approvalId);
    const held = hold(approvalId);
    return {
      approvalId,
      asker,
      async answer() {
        if (isPending) await waiter.woken();
        isPending = false;
        for (;;) {
          const row = storage.approvals.get(approvalId);
          if (!row) return { behavior: "deny", message: "The request is no longer on record. The tool was not run." };
          if (row.status !== "pending") return delivered(row, asker);
          await waiter.woken();
        }
      },
      [Symbol.dispose]() {
        waiter[Symbol.dispose]();
        held[Symbol.dispose]();
      },
    };
  }

  /**
   * The answer, once it is on record that it is used up: the same ask, made again, is a new one. An allow runs one call,
   * so it is for whoever asked last: the others are connections that a child has lost, or other calls of the same id.
   */
  async function delivered(row: ApprovalRow, asker: string | null): Promise<PermitAnswer> {
    if (row.status === "abandoned") return toPermitAnswer(row);
    const isFor = (asked: Pick<ApprovalRow, "asker">) => row.status !== "allowed" || asked.asker === asker;
    if (row.deliveredAt !== null) return isFor(row) ? toPermitAnswer(row) : askedAgain(row.id);
    const isServed = await storage.write(() => {
      const asked = storage.approvals.head(row.id);
      if (!asked || !isFor(asked)) return false;
      const deliveredAt = now();
      const head = storage.approvals.deliverIfUndelivered(row.id, deliveredAt);
      if (head) audit.delivered(head, deliveredAt);
      return true;
    });
    return isServed ? toPermitAnswer(row) : askedAgain(row.id);
  }

  return {
    ask,
    /** Takes up an ask again after its connection was lost; `undefined` when the caller has no such ask. */
    resume(principal: Principal, { approvalId, asker }: Pick<Ask, "approvalId" | "asker">): Ask | undefined {
      const asked = storage.approvals.head(approvalId);
      return asked && mayAskFor(principal, asked.sessionId) ? waiting(asked, asker) : undefined;
    },
  };
}

/** The same for equal asks whatever the order of their keys; the tool's name counts, or one tool's allow could run another. */
export function hashOf(toolName: string, input: JsonObject): string {
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
