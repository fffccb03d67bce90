import { expect, test } from "bun:test";
import { ANY_PENDING, builtinOutcome, newApproval, newToken, outcome, UNRULED } from "../rows.ts";
import { filed, NOW, type OpenForRaces, raced, repeated, storedTurn } from "./engine.ts";

/** The promises of every engine about approvals. */
export function approvalPromises(open: OpenForRaces): void {
  test("the first of many decisions on one approval wins, and all others learn which it was", async () => {
    await using opened = await open();
    const { storage } = opened;
    await repeated(async () => {
      const { id } = await filed(storage);
      const names = ["a", "b", "c", "d"];
      const settled = await raced(
        opened,
        names.map(
          (name) => (connection) => connection.approvals.settleIfPending(id, outcome({ resolvedBy: name }), undefined),
        ),
      );
      const winners = names.filter((_, index) => settled[index]?.outcome === "settled");
      expect(winners).toHaveLength(1);
      const told = settled.flatMap((one) => ("approval" in one ? one.approval.resolvedBy : []));
      expect(told).toEqual(names.map(() => winners[0] ?? ""));
      expect((await storage.approvals.get(id))?.resolvedBy).toBe(winners[0] ?? "");
    });
  });

  test("a decision after the deadline is refused, and the approval times out", async () => {
    await using opened = await open();
    const { storage } = opened;
    const { id } = await filed(storage, { expiresAt: NOW });
    const settled = await storage.approvals.settleIfPending(id, outcome({ resolvedAt: NOW }), undefined);
    expect(settled).toMatchObject({ outcome: "settled_before", approval: { status: "timed_out" } });
    expect((await storage.approvals.get(id))?.responseMessage).toContain("Approval timed out");
  });

  test("only the approval's owner decides it, and no other owner learns of it", async () => {
    await using opened = await open();
    const { storage } = opened;
    const { id } = await filed(storage, { owner: "token:1" });
    const { settleIfPending } = storage.approvals;
    expect(await settleIfPending(id, outcome(), { owner: "token:2", token: undefined })).toEqual({
      outcome: "unknown",
    });
    expect(await settleIfPending("none", outcome(), undefined)).toEqual({ outcome: "unknown" });
    expect(await settleIfPending(id, outcome(), { owner: "token:1", token: undefined })).toMatchObject({
      outcome: "settled",
    });
  });

  test("a revoked token decides nothing, nor does a page that acts as it", async () => {
    await using opened = await open();
    const { storage, connections } = opened;
    await storage.tokens.createIfNameFree(newToken({ id: "t1" }));
    await storage.signInCodes.create({ hash: "code", tokenId: "t1", expiresAt: NOW }, 9, 1_000);
    await storage.signInCodes.redeem("code", { ...newToken(), id: "page", kind: "web" }, 9, 1_000);
    const owner = "token:t1";
    const asked = [await filed(storage, { owner }), await filed(storage, { owner })];
    const decide = (at: number, token: string) =>
      connections[1].approvals.settleIfPending(asked[at]?.id ?? "", outcome(), { owner, token });
    expect(await decide(0, "page")).toMatchObject({ outcome: "settled" });
    await storage.tokens.revoke("t1", owner, NOW);
    for (const token of ["t1", "page"]) expect(await decide(1, token)).toEqual({ outcome: "revoked" });
    expect((await storage.approvals.get(asked[1]?.id ?? ""))?.status).toBe("pending");
  });

  test("the same request attaches to the pending one, until the decision is delivered", async () => {
    await using opened = await open();
    const { storage } = opened;
    const ask = (asker: string) =>
      storage.approvals.file(newApproval({ id: storage.newId(), toolUseId: "call", asker }), ANY_PENDING, UNRULED);
    const [first, second] = [await ask("1"), await ask("2")];
    if (first.outcome !== "filed" || second.outcome !== "same") throw new Error("they are not one request");
    expect(second.approval).toMatchObject({ id: first.approval.id, asker: "2" });
    await storage.approvals.settleIfPending(first.approval.id, outcome(), undefined);
    expect(await ask("3")).toMatchObject({ outcome: "filed" });
  });

  test("if equal requests race, one is filed, and all others attach to it", async () => {
    await using opened = await open();
    const { storage } = opened;
    await repeated(async (round) => {
      const asks = Array.from({ length: 5 }, () => newApproval({ id: storage.newId(), toolUseId: `call-${round}` }));
      const results = await raced(
        opened,
        asks.map((one) => (connection) => connection.approvals.file(one, ANY_PENDING, UNRULED)),
      );
      expect(results.map(({ outcome }) => outcome).sort()).toEqual(["filed", "same", "same", "same", "same"]);
      const ids = results.flatMap((one) => ("approval" in one ? one.approval.id : []));
      expect(new Set(ids).size).toBe(1);
    });
  });

  test("a decision is delivered with its commit if a connection holds the approval, otherwise later, to one connection", async () => {
    await using opened = await open();
    const { storage } = opened;
    const held = await filed(storage);
    await storage.approvals.settleIfPending(held.id, outcome({ resolvedAt: NOW }), undefined);
    expect((await storage.approvals.get(held.id))?.deliveredAt).toBe(NOW);
    const lost = await filed(storage, { asker: "last" });
    await storage.approvals.releaseIfPending(lost, 9_000);
    await storage.approvals.settleIfPending(lost.id, outcome({ resolvedAt: NOW }), undefined);
    expect(await storage.approvals.get(lost.id)).toMatchObject({ deliveredAt: null, heldUntil: 9_000 });
    const deliver = (asker: string) => storage.approvals.deliverUnlessAskedAgain(lost.id, asker, 3_000);
    expect([await deliver("before"), await deliver("last"), await deliver("last")]).toEqual([false, true, true]);
    expect((await storage.approvals.get(lost.id))?.deliveredAt).toBe(3_000);
  });

  test("abandoning and reconnecting race without losing a decision: the first wins", async () => {
    await using opened = await open();
    const { storage } = opened;
    await repeated(async () => {
      const { id, asker } = await filed(storage, { asker: "me" });
      await storage.approvals.releaseIfPending({ id, asker }, 9_000);
      const [, back] = await raced<unknown>(opened, [
        () => storage.approvals.abandonIfUnheld([id], "nobody came back", NOW),
        (connection) => connection.approvals.holdAgain(id, undefined),
      ]);
      const row = await storage.approvals.get(id);
      // The reconnecting child sees the status of that moment, and the status stays so.
      expect(back).toMatchObject({ status: row?.status ?? "" });
      expect(row?.status === "pending" ? row.heldUntil : row?.status).toBe(
        row?.status === "pending" ? null : "abandoned",
      );
    });
  });

  test("a closing connection does not release what a later request holds, and a session can't hold another's request", async () => {
    await using opened = await open();
    const { storage } = opened;
    const first = await filed(storage, { toolUseId: "call", asker: "first" });
    await filed(storage, { toolUseId: "call", asker: "second" });
    await storage.approvals.releaseIfPending(first, 9_000);
    expect((await storage.approvals.get(first.id))?.heldUntil).toBeNull();
    expect(await storage.approvals.holdAgain(first.id, "another")).toBeUndefined();
    expect(await storage.approvals.holdAgain(first.id, first.sessionId)).toMatchObject({ id: first.id });
  });

  test("requests of an earlier server wait for their children, and requests held here stay held", async () => {
    await using opened = await open();
    const [lost, decided] = [await filed(opened.storage), await filed(opened.storage)];
    await opened.storage.approvals.settleIfPending(decided.id, outcome(), undefined);
    const storage = await opened.reopen();
    const mine = await filed(storage);
    expect(await storage.approvals.takeOver(9_000)).toEqual([lost.id]);
    expect(await storage.approvals.takeOver(10_000)).toEqual([]);
    const heldUntil = async ({ id }: { id: string }) => (await storage.approvals.get(id))?.heldUntil;
    expect([await heldUntil(lost), await heldUntil(mine)]).toEqual([expect.any(Number), null]);
  });

  test("deadlines and abandonment settle only pending requests, each once", async () => {
    await using opened = await open();
    const { storage } = opened;
    const [due, later, decided] = [
      await filed(storage, { expiresAt: NOW }),
      await filed(storage, { expiresAt: NOW + 1 }),
      await filed(storage, { expiresAt: NOW }),
    ];
    await storage.approvals.settleIfPending(decided.id, outcome({ resolvedAt: NOW - 1 }), undefined);
    expect(await storage.approvals.nextDeadline()).toBe(NOW);
    expect([await storage.approvals.expireDue(NOW, 10), await storage.approvals.expireDue(NOW, 10)]).toEqual([1, 0]);
    await storage.approvals.abandonIfPending([due.id, later.id, decided.id, "none"], "over", NOW);
    const rows = await Promise.all([due, later, decided].map(({ id }) => storage.approvals.get(id)));
    expect(rows.map((row) => row?.status)).toEqual(["timed_out", "abandoned", "allowed"]);
    expect([...(await storage.approvals.pendingIds())]).toEqual([]);
  });

  test("each limit has its own refusal, keeps pending requests, and makes room after a decision", async () => {
    await using opened = await open();
    const { storage } = opened;
    const limits = { ...ANY_PENDING, asksPerSession: 2 };
    const ask = (sessionId: string) =>
      storage.approvals.file(newApproval({ id: storage.newId(), sessionId }), limits, UNRULED);
    const first = await ask("one");
    await ask("one");
    expect(await ask("one")).toEqual({ outcome: "too_many", bound: "session_count", size: expect.anything() });
    expect(await ask("two")).toMatchObject({ outcome: "filed" });
    if (first.outcome === "filed") await storage.approvals.settleIfPending(first.approval.id, outcome(), undefined);
    expect(await ask("one")).toMatchObject({ outcome: "filed" });
  });

  test("a built-in decision is recorded with its position in its chain, and is not announced", async () => {
    const told: unknown[] = [];
    await using opened = await open((changes) => told.push(...changes));
    const { storage } = opened;
    const asked = newApproval({ id: storage.newId() });
    const decided = await storage.approvals.fileDecided(asked, builtinOutcome(), UNRULED);
    expect(decided).toMatchObject({ outcome: "decided", approval: { isBuiltin: true } });
    expect(await storage.approvals.get(asked.id)).toMatchObject({ status: "allowed", auditSeq: 1, deliveredAt: 1_000 });
    expect((await storage.audit.page("builtin", 0, 10)).rows).toMatchObject([{ approvalId: asked.id }]);
    expect(told).toEqual([]);
  });

  test("a request belongs to the running turn, whose events report it and its end", async () => {
    await using opened = await open();
    const { storage } = opened;
    const { session, turn } = await storedTurn(storage);
    const { id } = await filed(storage, { sessionId: session.id, isInTurn: true });
    await storage.approvals.settleIfPending(id, outcome(), undefined);
    expect(await storage.approvals.get(id)).toMatchObject({ askedIn: turn.id, askedSeq: 1 });
    const events = await storage.turns.events(turn.id, 0, 10);
    expect(events.map(({ event }) => event.type)).toEqual(["start", "approval_requested", "approval_resolved"]);
  });

  test("a turn's event contains the edited input, if there is one", async () => {
    await using opened = await open();
    const { storage } = opened;
    const { session, turn } = await storedTurn(storage);
    const [plain, edited] = [
      await filed(storage, { sessionId: session.id, isInTurn: true }),
      await filed(storage, { sessionId: session.id, isInTurn: true }),
    ];
    await storage.approvals.settleIfPending(plain.id, outcome(), undefined);
    const updatedInput = { command: "false" };
    await storage.approvals.settleIfPending(edited.id, outcome({ updatedInput }), undefined);
    const told = (await storage.turns.events(turn.id, 0, 10)).map(({ event }) => event).slice(-2);
    expect(told[0]).not.toHaveProperty("updated_input");
    expect(told[1]).toMatchObject({ type: "approval_resolved", updated_input: updatedInput });
  });

  test("a turn's first interrupting denial is found by turn, and no other decision is", async () => {
    await using opened = await open();
    const { storage } = opened;
    const { session, turn } = await storedTurn(storage);
    const { session: other, turn: otherTurn } = await storedTurn(storage);
    const deny = async (sessionId: string, responseMessage: string, interrupt: boolean) => {
      const { id } = await filed(storage, { sessionId, isInTurn: true });
      const denial = outcome({ status: "denied", responseMessage, interrupt, resolvedBy: "token:ci" });
      await storage.approvals.settleIfPending(id, denial, undefined);
    };
    await deny(session.id, "only this call", false);
    expect(await storage.approvals.interruption(turn.id)).toBeUndefined();
    await deny(other.id, "another turn", true);
    await deny(session.id, "enough", true);
    await deny(session.id, "more than enough", true);
    expect(await storage.approvals.interruption(turn.id)).toEqual({
      responseMessage: "enough",
      resolvedBy: "token:ci",
    });
    expect((await storage.approvals.interruption(otherTurn.id))?.responseMessage).toBe("another turn");
    expect(await storage.approvals.interruption(session.id)).toBeUndefined();
  });
}
