import { expect, test } from "bun:test";
import type { ApprovalOutcome } from "../../../../src/storage/approvals.ts";
import { ANY_PENDING, newApproval, outcome, UNRULED } from "../../rows.ts";
import { begin, END, NOW, type OpenedStorage, type OpenForRaces, storedSession, storedTurn } from "../engine.ts";

type Call = Parameters<typeof newApproval>[0];

async function ask(storage: OpenedStorage, call: Call) {
  return storage.approvals.file(newApproval({ id: storage.newId(), ...call }), ANY_PENDING, UNRULED);
}

/** Files a request that a person then decides. */
async function decided(storage: OpenedStorage, call: Call, given: Partial<ApprovalOutcome> = {}): Promise<void> {
  const filed = await ask(storage, call);
  if (filed.outcome !== "filed") throw new Error(`it was not filed: ${filed.outcome}`);
  await storage.approvals.settleIfPending(filed.approval.id, outcome({ status: "denied", ...given }), undefined);
}

const REASONS = ["use the other file", "again: no", "no"];

async function deniedThrice(storage: OpenedStorage, call: Call): Promise<void> {
  for (const responseMessage of REASONS) await decided(storage, call, { responseMessage });
}

/** The promises of every engine about a child that repeats a denied call. */
export function brakePromises(open: OpenForRaces): void {
  test("a call that was denied three times in a row in its turn is denied at once, with the first reason", async () => {
    await using opened = await open();
    const { storage } = opened;
    const { session, turn } = await storedTurn(storage);
    const call = { sessionId: session.id, isInTurn: true };
    await deniedThrice(storage, call);
    for (let count = 0; count < 4; count++) {
      const fourth = await ask(storage, { ...call, createdAt: NOW });
      if (fourth.outcome !== "braked") throw new Error(`it was not braked: ${fourth.outcome}`);
      expect(fourth.message).toBe(REASONS[0] ?? "");
      expect(await storage.approvals.get(fourth.approval.id)).toMatchObject({
        ...{ status: "denied", resolvedBy: "brake", responseMessage: REASONS[0], interrupt: false },
        ...{ deliveredAt: NOW, auditSeq: 4 + count },
      });
    }
    expect(await storage.approvals.countPending(session.id)).toBe(0);
    const events = (await storage.turns.events(turn.id, 0, 100)).map(({ event }) => event);
    expect(events.at(-1)).toMatchObject({ type: "approval_resolved", resolved_by: "brake", status: "denied" });
    expect((await storage.turns.get(turn.id))?.denied).toBe(7);
  });

  test("a call denied without a reason is denied again with a default reason", async () => {
    await using opened = await open();
    const { storage } = opened;
    const { session } = await storedTurn(storage);
    const call = { sessionId: session.id, isInTurn: true };
    for (let count = 0; count < 3; count++) await decided(storage, call);
    expect(await ask(storage, call)).toMatchObject({ outcome: "braked", message: expect.stringContaining("denied") });
  });

  test("another input, two denials, an allow in between, or time-outs don't cause automatic denials", async () => {
    await using opened = await open();
    const { storage } = opened;
    const { session } = await storedTurn(storage);
    const call = { sessionId: session.id, isInTurn: true };
    await decided(storage, call);
    await decided(storage, call);
    expect(await ask(storage, { ...call, toolUseId: "kept" })).toMatchObject({ outcome: "filed" });
    await decided(storage, call, { status: "allowed" });
    await decided(storage, call);
    await decided(storage, call);
    expect(await ask(storage, call)).toMatchObject({ outcome: "filed" });
    const other = { ...call, askHash: "cd".repeat(32) };
    await deniedThrice(storage, other);
    expect(await ask(storage, { ...call, askHash: "ef".repeat(32) })).toMatchObject({ outcome: "filed" });
    const late = { ...call, askHash: "12".repeat(32) };
    for (let count = 0; count < 3; count++) await decided(storage, late, { status: "timed_out" });
    expect(await ask(storage, late)).toMatchObject({ outcome: "filed" });
  });

  test("the next turn may ask again, and so may another session", async () => {
    await using opened = await open();
    const { storage } = opened;
    const { session, turn } = await storedTurn(storage);
    const { session: other } = await storedTurn(storage);
    await deniedThrice(storage, { sessionId: session.id, isInTurn: true });
    expect(await ask(storage, { sessionId: other.id, isInTurn: true })).toMatchObject({ outcome: "filed" });
    await storage.turns.endIfRunning(turn, END, NOW);
    await begin(storage, session.id);
    expect(await ask(storage, { sessionId: session.id, isInTurn: true })).toMatchObject({ outcome: "filed" });
  });

  test("a claude started by hand has no turns, and gets no automatic denials", async () => {
    await using opened = await open();
    const { storage } = opened;
    const session = await storedSession(storage, { kind: "by_hand" });
    await deniedThrice(storage, { sessionId: session.id });
    expect(await ask(storage, { sessionId: session.id })).toMatchObject({ outcome: "filed" });
  });
}
