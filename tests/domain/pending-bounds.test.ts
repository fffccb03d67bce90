import { describe, expect, test } from "bun:test";
import { createPendingBounds, type PendingBounds } from "../../src/domain/pending-bounds.ts";
import { AppError } from "../../src/schema/errors.ts";
import { newApproval } from "../storage/rows.ts";
import { deny, OPERATOR, temporaryDomain } from "./open-domain.ts";

const MB = 1024 * 1024;
const BOUNDS: PendingBounds = { asksPerSession: 10, bytesPerSession: 1 * MB, bytesInAll: 2 * MB };
const input = (bytes: number) => ({ a: "x".repeat(bytes) });

function refusal(work: () => void): string | undefined {
  try {
    work();
    return undefined;
  } catch (cause) {
    if (!(cause instanceof AppError)) throw cause;
    return `${cause.code}: ${cause.message}`;
  }
}

describe("pending bounds", () => {
  test("refuses one session by number and by bytes, and says what to do", async () => {
    await using domain = await temporaryDomain();
    const { admit } = createPendingBounds(domain.storage, BOUNDS);
    const refused = (sessionId: string, bytes = 1) => refusal(() => admit(sessionId, input(bytes)));
    const create = (sessionId: string, bytes: number) =>
      domain.storage.write(() => domain.storage.approvals.create(newApproval({ sessionId, input: input(bytes) })));
    for (let count = 0; count < 9; count++) await create("many", 1);
    await create("large", MB - 100);
    expect([refused("many"), refused("large", 100)]).toEqual([undefined, undefined]);
    await create("many", 1);
    await create("large", 100);
    expect(refused("many")).toBe(
      "too_many_requests: This session has 10 undecided asks, which is the limit: wait until some are decided (`plexus pending` lists them), then ask again.",
    );
    expect(refused("large")).toContain("This session has 1 MB of undecided asks");
    expect(refused("other")).toBeUndefined();
  });

  test("refuses every session when all have too many bytes together", async () => {
    await using domain = await temporaryDomain();
    const refused = () => refusal(() => createPendingBounds(domain.storage, BOUNDS).admit("another", input(1)));
    const asks = [];
    for (const name of ["one", "two", "three"]) {
      expect(refused()).toBeUndefined();
      asks.push(await domain.ask(await domain.session(name), { input: input(0.7 * MB) }));
    }
    expect(refused()).toContain("All sessions together have 2 MB of undecided asks");
    await domain.approvals.decide(OPERATOR, asks[0]?.approvalId ?? "", deny("no"));
    expect(refused()).toBeUndefined();
    for (const ask of asks) ask[Symbol.dispose]();
  });
});

describe("what was asked and decided", () => {
  test("makes room again, however much it was since the last count", async () => {
    await using domain = await temporaryDomain();
    const { admit } = createPendingBounds(domain.storage, BOUNDS);
    // None of these is pending: each was decided before the next.
    for (let asked = 0; asked < 100; asked++) admit("one", input(0.3 * MB));
    expect(domain.storage.pendingSizes.ofAll()).toEqual({ count: 0, bytes: 0 });
  });
});

describe("approvals.ask", () => {
  test("takes 256 MB of one session, then none until some of it is decided", async () => {
    await using domain = await temporaryDomain();
    const session = await domain.session();
    const asks = [];
    for (let taken = 0; taken < 8; taken++) asks.push(await domain.ask(session, { input: input(32 * MB) }));
    await expect(domain.ask(session)).rejects.toMatchObject({ code: "too_many_requests" });
    using other = await domain.ask(await domain.session("other"));
    expect(domain.approvals.get(OPERATOR, other.approvalId).status).toBe("pending");
    await domain.approvals.decide(OPERATOR, asks[0]?.approvalId ?? "", deny("no"));
    using next = await domain.ask(session);
    expect(domain.approvals.get(OPERATOR, next.approvalId).status).toBe("pending");
    for (const ask of asks) ask[Symbol.dispose]();
  });

  test("still attaches to an ask that is pending when the bound is reached", async () => {
    await using domain = await temporaryDomain();
    const session = await domain.session();
    await domain.storage.write(() => {
      for (let count = 1; count < 20_000; count++)
        domain.storage.approvals.create(newApproval({ sessionId: session.id }));
    });
    using first = await domain.ask(session, { toolUseId: "toolu_1" });
    using again = await domain.ask(session, { toolUseId: "toolu_1" });
    expect(again.approvalId).toBe(first.approvalId);
    await expect(domain.ask(session, { toolUseId: "toolu_2" })).rejects.toMatchObject({ code: "too_many_requests" });
  });
});
