import { describe, expect, test } from "bun:test";
import { createHolds } from "../../../src/core/approvals/connections.ts";
import { createSettlement } from "../../../src/core/approvals/decide.ts";
import { createAudit } from "../../../src/core/audit/audit.ts";
import { temporaryDirectory } from "../../support/temporary.ts";
import { until } from "../../support/until.ts";
import { allow, blockUpdates, type Domain, OPERATOR, openDomain, stoppedClock, temporaryDomain } from "../open-core.ts";

const GRACE_MS = 15_000;
const realTime = { now: Date.now };

describe("an approval that no connection holds", () => {
  test("becomes abandoned, and everyone watching is told", async () => {
    await using domain = await temporaryDomain({ clock: realTime, abandonAfterMs: 20 });
    const ask = await domain.ask(await domain.session());
    ask[Symbol.dispose]();
    await until("the approval to be abandoned", () => statusOf(domain, ask.approvalId) === "abandoned");
    expect(domain.approvals.get(OPERATOR, ask.approvalId)).toMatchObject({
      resolved_by: "plexus",
      response_message: expect.stringContaining("no child was connected"),
    });
    expect(domain.storage.changes.listAfter(0, undefined, 10).map(({ kind }) => kind)).toEqual([
      "approval_requested",
      "approval_resolved",
    ]);
    expect(domain.errors).toEqual([]);
  });

  test("stays pending while another connection holds it", async () => {
    await using domain = await temporaryDomain({ clock: realTime, abandonAfterMs: 20 });
    const session = await domain.session();
    const lost = await domain.ask(session);
    const first = await domain.ask(session, { toolUseId: "toolu_1" });
    using second = await domain.ask(session, { toolUseId: "toolu_1" });
    first[Symbol.dispose]();
    first[Symbol.dispose]();
    lost[Symbol.dispose]();
    await until("the other to be abandoned", () => statusOf(domain, lost.approvalId) === "abandoned");
    expect(statusOf(domain, second.approvalId)).toBe("pending");
  });

  test("stays pending when its child comes back in time", async () => {
    await using domain = await temporaryDomain({ clock: realTime, abandonAfterMs: 30 });
    const session = await domain.session();
    const first = await domain.ask(session, { toolUseId: "toolu_1" });
    const lost = await domain.ask(session);
    first[Symbol.dispose]();
    using again = await domain.ask(session, { toolUseId: "toolu_1" });
    lost[Symbol.dispose]();
    await until("the other to be abandoned", () => statusOf(domain, lost.approvalId) === "abandoned");
    await domain.approvals.decide(OPERATOR, again.approvalId, allow);
    expect(again.approvalId).toBe(first.approvalId);
    expect(await again.answer()).toMatchObject({ behavior: "allow" });
  });

  test("stays pending when its child comes back while it is being given up", async () => {
    const clock = stoppedClock();
    await using domain = await temporaryDomain({ clock });
    using ask = await domain.ask(await domain.session());
    using holds = createHolds({ now: clock.now, graceMs: 0, onDropped: () => {} });
    const settlement = createSettlement({
      storage: domain.storage,
      audit: createAudit({ storage: domain.storage, now: clock.now, onError: (cause) => domain.errors.push(cause) }),
      now: clock.now,
      isHeld: holds.isHeld,
      onSettled: () => {},
    });
    const givingUp = settlement.abandon([ask.approvalId], "nobody held it", holds.isHeld);
    using _ = holds.hold(ask.approvalId);
    await givingUp;
    expect(statusOf(domain, ask.approvalId)).toBe("pending");
  });

  test("keeps its decision when one was made", async () => {
    await using domain = await temporaryDomain({ clock: realTime, abandonAfterMs: 20 });
    const session = await domain.session();
    const decided = await domain.ask(session);
    await domain.approvals.decide(OPERATOR, decided.approvalId, allow);
    decided[Symbol.dispose]();
    const lost = await domain.ask(session);
    lost[Symbol.dispose]();
    await until("the other to be abandoned", () => statusOf(domain, lost.approvalId) === "abandoned");
    expect(statusOf(domain, decided.approvalId)).toBe("allowed");
    expect(domain.storage.changes.newestId()).toBe(4);
  });

  test("is given up later when that could not be written at first", async () => {
    await using domain = await temporaryDomain({ clock: realTime, abandonAfterMs: 20 });
    const ask = await domain.ask(await domain.session());
    const block = blockUpdates(domain.dataDir);
    ask[Symbol.dispose]();
    await until("a failed attempt", () => domain.errors.length > 0);
    expect(statusOf(domain, ask.approvalId)).toBe("pending");
    block[Symbol.dispose]();
    await until("the approval to be abandoned", () => statusOf(domain, ask.approvalId) === "abandoned");
  });

  test("has its full time again after a restart, however long that took", async () => {
    await using directory = await temporaryDirectory();
    const clock = stoppedClock();
    let id: string;
    {
      using domain = openDomain(directory.path, { clock, timeoutSecs: 86_400, abandonAfterMs: GRACE_MS });
      id = (await domain.ask(await domain.session(), { toolUseId: "toolu_1" })).approvalId;
    }
    clock.advance(10 * GRACE_MS);
    using domain = openDomain(directory.path, { clock, timeoutSecs: 86_400, abandonAfterMs: 20 });
    const session = await domain.session();
    expect(statusOf(domain, id)).toBe("pending");
    using again = await domain.ask(session, { toolUseId: "toolu_1" });
    expect(again.approvalId).toBe(id);
  });

  test("is given up after a restart when nobody comes back for it", async () => {
    await using directory = await temporaryDirectory();
    let id: string;
    {
      using domain = openDomain(directory.path, { clock: realTime, abandonAfterMs: 20 });
      id = (await domain.ask(await domain.session())).approvalId;
    }
    using domain = openDomain(directory.path, { clock: realTime, abandonAfterMs: 20 });
    await until("the approval to be abandoned", () => statusOf(domain, id) === "abandoned");
  });
});

describe("createHolds", () => {
  test("counts from when the last of several let go", () => {
    using at = stoppedHolds();
    const { clock, dropped, holds } = at;
    const [first, second] = [holds.hold("a"), holds.hold("a")];
    first[Symbol.dispose]();
    clock.advance(GRACE_MS * 2);
    holds.sweep();
    expect(dropped).toEqual([]);
    second[Symbol.dispose]();
    clock.advance(GRACE_MS - 1);
    holds.sweep();
    expect(dropped).toEqual([]);
    clock.advance(1);
    holds.sweep();
    holds.sweep();
    expect(dropped).toEqual(["a"]);
  });

  test("counts from our own start for what was pending then", () => {
    using at = stoppedHolds();
    const { clock, dropped, holds } = at;
    holds.expectHolder(["a", "b"]);
    const back = holds.hold("b");
    clock.advance(GRACE_MS);
    holds.sweep();
    expect(dropped).toEqual(["a"]);
    back[Symbol.dispose]();
    clock.advance(GRACE_MS);
    holds.sweep();
    expect(dropped).toEqual(["a", "b"]);
  });

  test("begins anew for whoever was back in between", () => {
    using at = stoppedHolds();
    const { clock, dropped, holds } = at;
    holds.hold("a")[Symbol.dispose]();
    clock.advance(GRACE_MS - 1);
    holds.hold("a")[Symbol.dispose]();
    clock.advance(GRACE_MS - 1);
    holds.sweep();
    expect(dropped).toEqual([]);
  });

  test("stays silent once disposed, whoever lets go afterwards", async () => {
    const dropped: string[] = [];
    const old = createHolds({ now: Date.now, graceMs: 1, onDropped: (ids) => dropped.push(...ids) });
    const hold = old.hold("a");
    old[Symbol.dispose]();
    hold[Symbol.dispose]();
    const later = Promise.withResolvers<void>();
    using next = createHolds({ now: Date.now, graceMs: 20, onDropped: () => later.resolve() });
    next.hold("b")[Symbol.dispose]();
    await later.promise;
    expect(dropped).toEqual([]);
  });
});

function stoppedHolds() {
  const clock = stoppedClock();
  const dropped: string[] = [];
  const holds = createHolds({ now: clock.now, graceMs: GRACE_MS, onDropped: (ids) => dropped.push(...ids) });
  return { clock, dropped, holds, [Symbol.dispose]: () => holds[Symbol.dispose]() };
}

function statusOf(domain: Pick<Domain, "approvals">, id: string): string {
  return domain.approvals.get(OPERATOR, id).status;
}
