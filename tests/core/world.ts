import { expect } from "bun:test";
import type { PermitAnswer } from "../../src/contract/approvals/approval.ts";
import { Decision, type RespondResult } from "../../src/contract/approvals/decision.ts";
import { AppError } from "../../src/contract/refusals/errors.ts";
import type { Principal } from "../../src/core/access/principals.ts";
import { toPermitAnswer } from "../../src/core/approvals/approval-view.ts";
import type { WaitingRequest } from "../../src/core/approvals/request.ts";
import type { ApprovalRow } from "../../src/storage/approvals.ts";
import { type Core, OPERATOR, openCore, stoppedClock } from "./open-core.ts";

type Role = "operator" | "creator" | "stranger" | "child";
export type Step =
  | { do: "ask"; slot: number }
  | { do: "respond"; slot: number; as: Role; how: "allow" | "deny" | "edit" }
  | { do: "advance"; ms: number }
  | { do: "expire" }
  | { do: "abandon"; slot: number }
  | { do: "leave"; slot: number }
  | { do: "sweep" }
  | { do: "restart" }
  | { do: "turn" }
  | { do: "rest" };

const CREATOR: Principal = { kind: "token", id: "1", name: "creator" };
const STRANGER: Principal = { kind: "token", id: "2", name: "stranger" };
const RETENTION_DAYS = 2;

/** One answer about an approval that somebody got. */
type Told =
  | { to: "decider"; mark: string; as: Role; result: RespondResult | "not_found" | "storage_unavailable" }
  | { to: "child"; answer: PermitAnswer };

/** A server that takes random steps, and a record outside of it of every answer that it gave. */
export async function createWorld(dataDir: string, options: { abandonAfterMs: number }) {
  const clock = stoppedClock();
  const told = new Map<string, Told[]>();
  const announced = new Map<string, string[]>();
  const settled = new Map<string, ApprovalRow>();
  const known = new Map<number, Set<string>>();
  const holding = new Map<number, WaitingRequest[]>();
  const removed = new Set<string>();
  const inFlight: Promise<unknown>[] = [];
  let marks = 0;
  let core = await open();
  const session = await core.sessions.createByHand(CREATOR, "child");

  async function open(): Promise<Core> {
    const opened = await openCore(dataDir, {
      tokens: [CREATOR, STRANGER],
      clock,
      timeoutSecs: 300,
      retentionDays: RETENTION_DAYS,
      ...options,
    });
    opened.broadcast.listen(({ subjectId, kind }) => add(announced, subjectId, kind));
    return opened;
  }

  async function ask(slot: number): Promise<void> {
    try {
      const asked = await core.ask(session, { input: { slot }, toolUseId: `slot-${slot}` });
      known.set(slot, (known.get(slot) ?? new Set()).add(asked.approvalId));
      add(holding, slot, asked);
      // Never settles if the server stops before a decision.
      void asked.answer().then((answer) => add(told, asked.approvalId, { to: "child", answer }), expectClosed);
    } catch (cause) {
      expectClosed(cause);
    }
  }

  async function respond({ slot, as, how }: Extract<Step, { do: "respond" }>): Promise<void> {
    const { approvals } = core;
    const mark = `${how}-${++marks}`;
    const decisions = {
      allow: { approve: true, message: mark },
      deny: { approve: false, message: mark },
      edit: { approve: true, message: mark, updated_input: { description: mark }, merge: true },
    };
    for (const id of idsOf(slot)) {
      const result = await approvals.decide(principalOf(as), id, Decision.parse(decisions[how])).catch(refusalCode);
      add(told, id, { to: "decider", mark, as, result });
    }
  }

  function principalOf(role: Role): Principal {
    if (role === "operator") return OPERATOR;
    if (role === "creator") return CREATOR;
    return role === "stranger" ? STRANGER : { kind: "session", sessionId: session.id };
  }

  function idsOf(slot: number): string[] {
    return [...(known.get(slot) ?? [])];
  }

  /** Records new decisions, and checks that earlier ones have not changed. */
  async function observe(): Promise<void> {
    for (const id of [...known.values()].flatMap((ids) => [...ids])) {
      const row = await core.storage.approvals.get(id);
      const before = settled.get(id);
      if (row === undefined) removed.add(id);
      // An undelivered decision is delivered later, to the latest asker. Nothing else of it may change.
      else if (before?.deliveredAt === null)
        expect(row).toEqual({ ...before, deliveredAt: row.deliveredAt, asker: row.asker });
      else if (before) expect(row).toEqual(before);
      else if (row.status !== "pending") settled.set(id, row);
    }
  }

  async function sweep(): Promise<void> {
    await rest();
    const before = clock.now() - RETENTION_DAYS * 86_400_000;
    await core.retention.sweep();
    for (const [id, row] of settled) {
      const wanted = row.resolvedAt !== null && row.resolvedAt < before;
      expect((await core.storage.approvals.get(id)) === undefined || !wanted).toBe(true);
    }
  }

  async function restart(): Promise<void> {
    core[Symbol.dispose]();
    await rest();
    holding.clear();
    core = await open();
    await observe();
  }

  /** Waits for all steps that were started. */
  async function rest(): Promise<void> {
    while (inFlight.length > 0) await Promise.all(inFlight.splice(0));
    await turn();
  }

  const start = (work: Promise<unknown>) => void inFlight.push(work);

  return {
    async take(step: Step): Promise<void> {
      switch (step.do) {
        case "ask":
          return start(ask(step.slot));
        case "respond":
          return start(respond(step));
        case "advance":
          return clock.advance(step.ms);
        case "expire":
          return start(core.approvals.expire().catch(expectClosed));
        case "abandon":
          return start(core.approvals.abandon(idsOf(step.slot), "the child has ended").catch(expectClosed));
        case "leave":
          for (const held of holding.get(step.slot)?.splice(0) ?? []) held[Symbol.dispose]();
          return;
        case "sweep":
          return sweep();
        case "restart":
          return restart();
        case "turn":
          return turn();
        case "rest":
          await rest();
          return observe();
      }
    },

    /** Ends every approval and compares the record with the database. */
    async finish(): Promise<void> {
      await rest();
      await observe();
      clock.advance(3_600_000);
      await core.approvals.expire();
      await rest();
      await observe();
      for (const [id, row] of settled) {
        expect(announced.get(id)).toEqual(["approval_requested", "approval_resolved"]);
        for (const one of told.get(id) ?? []) expectTrue(one, row, removed.has(id));
        const oks = (told.get(id) ?? []).filter((one) => one.to === "decider" && resultType(one.result) === "ok");
        const byPerson = row.status === "allowed" || row.status === "denied";
        expect(oks.length).toBe(byPerson ? 1 : 0);
        const allows = (told.get(id) ?? []).filter((one) => one.to === "child" && one.answer.behavior === "allow");
        expect(allows.length).toBeLessThanOrEqual(1);
      }
      expect(await core.storage.approvals.pendingIds()).toEqual(new Set());
    },

    [Symbol.dispose]() {
      core[Symbol.dispose]();
    },
  };
}

/** Checks that an answer matches the row. */
function expectTrue(one: Told, row: ApprovalRow, isRemoved: boolean): void {
  if (one.to === "child") {
    const forgotten = isRemoved && one.answer.behavior === "deny" && one.answer.message.includes("no longer on record");
    const askedAgain = one.answer.behavior === "deny" && one.answer.message.includes("another connection");
    if (askedAgain) expect(row.status).toBe("allowed");
    else if (!forgotten) expect(one.answer).toEqual(toPermitAnswer(row));
    return;
  }
  if (typeof one.result === "string") {
    if (one.result === "not_found") expect(isRemoved || one.as === "stranger" || one.as === "child").toBe(true);
    expect(row.responseMessage).not.toBe(one.mark);
    return;
  }
  expect(["operator", "creator"]).toContain(one.as);
  expect(one.result.status).toBe(row.status);
  if (one.result.type === "ok") expect(row.responseMessage).toBe(one.mark);
  else {
    expect<unknown>(one.result.resolved_by).toBe(row.resolvedBy);
    expect(one.result.resolved_at).toBe(Math.floor((row.resolvedAt ?? 0) / 1000));
    expect(row.responseMessage).not.toBe(one.mark);
  }
}

function resultType(result: RespondResult | string): string {
  return typeof result === "string" ? result : result.type;
}

function refusalCode(cause: unknown): "not_found" | "storage_unavailable" {
  if (cause instanceof AppError && (cause.code === "not_found" || cause.code === "storage_unavailable")) {
    return cause.code;
  }
  throw cause;
}

/** The only expected error: the server stopped meanwhile. */
function expectClosed(cause: unknown): void {
  if (refusalCode(cause) !== "storage_unavailable") throw cause;
}

function turn(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}

function add<K, V>(map: Map<K, V[]>, key: K, value: V): void {
  const list = map.get(key);
  if (list) list.push(value);
  else map.set(key, [value]);
}
