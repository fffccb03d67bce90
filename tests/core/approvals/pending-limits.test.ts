import { Database } from "bun:sqlite";
import { describe, expect, test } from "bun:test";
import { join } from "node:path";
import { tooManyPending } from "../../../src/core/approvals/pending-limits.ts";
import { newApproval } from "../../storage/rows.ts";
import { deny, OPERATOR, temporaryCore } from "../open-core.ts";

const MB = 1024 * 1024;
const LIMITS = { asksPerSession: 10, bytesPerSession: 1 * MB, bytesInAll: 2 * MB };
const input = (bytes: number) => ({ a: "x".repeat(bytes) });

describe("tooManyPending", () => {
  test("says which bound was reached, by whom, and what to do", () => {
    const size = { count: 10, bytes: 4 * MB };
    const refusal = (bound: Parameters<typeof tooManyPending>[0]["bound"]) =>
      tooManyPending({ outcome: "too_many", bound, size }, LIMITS);
    expect(refusal("session_count")).toMatchObject({
      code: "too_many_requests",
      message: "This session has 10 undecided asks, which is the limit: wait until some are decided, then ask again.",
    });
    expect(refusal("session_bytes").message).toContain("This session has 1 MB of undecided asks");
    expect(refusal("all_bytes").message).toContain("All sessions together have 2 MB of undecided asks");
    expect(refusal("owner_bytes").message).toContain("The sessions of this owner have 4 MB of undecided asks");
  });
});

describe("approvals.request", () => {
  test("accepts 256 MB from one session, then refuses until some of it is decided", async () => {
    await using core = await temporaryCore();
    const session = await core.session();
    const asks = [];
    for (let taken = 0; taken < 8; taken++) asks.push(await core.ask(session, { input: input(32 * MB) }));
    await expect(core.ask(session)).rejects.toMatchObject({ code: "too_many_requests" });
    using other = await core.ask(await core.session("other"));
    expect((await core.approvals.get(OPERATOR, other.approvalId)).status).toBe("pending");
    await core.approvals.decide(OPERATOR, asks[0]?.approvalId ?? "", deny("no"));
    using next = await core.ask(session);
    expect((await core.approvals.get(OPERATOR, next.approvalId)).status).toBe("pending");
    for (const ask of asks) ask[Symbol.dispose]();
  });

  test("does not count a request that could not be filed", async () => {
    await using core = await temporaryCore();
    const session = await core.session();
    using sqlite = new Database(join(core.dataDir, "plexus.db"));
    sqlite.run("CREATE TRIGGER full BEFORE INSERT ON loopback_approvals BEGIN SELECT RAISE(ABORT, 'full'); END");
    for (let tried = 0; tried < 9; tried++)
      await expect(core.ask(session, { input: input(32 * MB) })).rejects.toThrow();
    sqlite.run("DROP TRIGGER full");
    using ask = await core.ask(session);
    expect((await core.approvals.get(OPERATOR, ask.approvalId)).status).toBe("pending");
  });

  test("still attaches to a pending request when the bound is reached", async () => {
    await using core = await temporaryCore();
    const session = await core.session();
    core.direct.write(() => {
      for (let count = 1; count < 20_000; count++) core.direct.approvals.create(newApproval({ sessionId: session.id }));
    });
    using first = await core.ask(session, { toolUseId: "toolu_1" });
    using again = await core.ask(session, { toolUseId: "toolu_1" });
    expect(again.approvalId).toBe(first.approvalId);
    await expect(core.ask(session, { toolUseId: "toolu_2" })).rejects.toMatchObject({ code: "too_many_requests" });
  });
});
