import { Database } from "bun:sqlite";
import { describe, expect, test } from "bun:test";
import { join } from "node:path";
import { AppError } from "../../../src/contract/errors.ts";
import { createPendingBounds, type PendingLimits } from "../../../src/core/approvals/pending-bounds.ts";
import { newApproval } from "../../storage/rows.ts";
import { deny, OPERATOR, temporaryDomain } from "../open-core.ts";

const MB = 1024 * 1024;
const LIMITS: PendingLimits = { asksPerSession: 10, bytesPerSession: 1 * MB, bytesInAll: 2 * MB };
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
    const bounds = createPendingBounds(domain.storage, LIMITS);
    const refused = (id: string, bytes = 1) => refusal(() => bounds.admit({ id, owner: id }, input(bytes)));
    const create = async (id: string, bytes: number) => {
      const approval = newApproval({ sessionId: id, owner: id, input: input(bytes) });
      await domain.storage.write(() => domain.storage.approvals.create(approval));
      bounds.loosen();
    };
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

  test("leaves every owner something, whatever the others hold", async () => {
    await using domain = await temporaryDomain();
    const { admit } = createPendingBounds(domain.storage, { ...LIMITS, bytesPerSession: 9 * MB, bytesInAll: 8 * MB });
    const taken = (owner: string) => {
      let asks = 0;
      for (;;) {
        const id = `${owner}-${asks}`;
        const refused = refusal(() => admit({ id, owner }, input(MB / 8 - '{"a":""}'.length)));
        if (refused) return { asks, refused };
        asks++;
      }
    };
    const first = taken("one");
    expect(first.asks).toBe(32);
    expect(first.refused).toContain("The sessions of this owner have 4 MB of undecided asks, which is the limit");
    expect(["two", "three", "four"].map((owner) => taken(owner).asks)).toEqual([16, 8, 4]);
    expect(taken("one").asks).toBe(0);
  });

  test("refuses everybody when all have too many bytes together", async () => {
    await using domain = await temporaryDomain();
    for (const owner of ["one", "two", "three"]) {
      const approval = newApproval({ owner, sessionId: owner, input: input(0.7 * MB) });
      await domain.storage.write(() => domain.storage.approvals.create(approval));
    }
    const { admit } = createPendingBounds(domain.storage, LIMITS);
    expect(refusal(() => admit({ id: "four", owner: "four" }, input(1)))).toContain(
      "All sessions together have 2 MB of undecided asks",
    );
  });

  test("counts once until something was decided, however often it refuses", async () => {
    await using domain = await temporaryDomain();
    let counted = 0;
    const pendingSizes = {
      ...domain.storage.pendingSizes,
      ofSession() {
        counted++;
        return { count: 10, bytes: 0 };
      },
    };
    const bounds = createPendingBounds({ pendingSizes }, LIMITS);
    const refused = () => refusal(() => bounds.admit({ id: "one", owner: "one" }, input(1)));
    for (let asked = 0; asked < 100; asked++) expect(refused()).toContain("10 undecided asks");
    expect(counted).toBe(1);
    bounds.loosen();
    expect(refused()).toContain("10 undecided asks");
    expect(counted).toBe(2);
  });
});

describe("what was asked and decided", () => {
  test("makes room again, however much it was since the last count", async () => {
    await using domain = await temporaryDomain();
    const { admit, loosen } = createPendingBounds(domain.storage, LIMITS);
    // None of these is pending: each was decided before the next.
    for (let asked = 0; asked < 100; asked++) {
      admit({ id: "one", owner: "one" }, input(0.3 * MB));
      loosen();
    }
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

  test("counts no ask that could not be filed", async () => {
    await using domain = await temporaryDomain();
    const session = await domain.session();
    using sqlite = new Database(join(domain.dataDir, "plexus.db"));
    sqlite.run("CREATE TRIGGER full BEFORE INSERT ON loopback_approvals BEGIN SELECT RAISE(ABORT, 'full'); END");
    for (let tried = 0; tried < 9; tried++)
      await expect(domain.ask(session, { input: input(32 * MB) })).rejects.toThrow();
    sqlite.run("DROP TRIGGER full");
    using ask = await domain.ask(session);
    expect(domain.approvals.get(OPERATOR, ask.approvalId).status).toBe("pending");
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
