import { describe, expect, test } from "bun:test";
import { createConnections } from "../../../src/core/approvals/connections.ts";
import type { WaitingRequest } from "../../../src/core/approvals/request.ts";
import type { LostConnection } from "../../../src/storage/approvals.ts";
import { temporaryDirectory } from "../../support/temporary.ts";
import { until } from "../../support/until.ts";
import {
  allow,
  blockUpdates,
  type Core,
  NEVER_MS,
  OPERATOR,
  openCore,
  stoppedClock,
  temporaryCore,
} from "../open-core.ts";

const GRACE_MS = 15_000;
const realTime = { now: Date.now };

describe("an approval that no connection holds", () => {
  test("becomes abandoned, which is announced as a change", async () => {
    await using core = await temporaryCore({ clock: realTime, abandonAfterMs: 20 });
    const ask = await core.ask(await core.session());
    ask[Symbol.dispose]();
    await until("the approval to be abandoned", async () => (await statusOf(core, ask.approvalId)) === "abandoned");
    expect(await core.approvals.get(OPERATOR, ask.approvalId)).toMatchObject({
      resolved_by: "plexus",
      response_message: expect.stringContaining("no child was connected"),
    });
    expect((await core.storage.changes.listAfter(0, undefined, 10)).map(({ kind }) => kind)).toEqual([
      "approval_requested",
      "approval_resolved",
    ]);
    expect(core.errors).toEqual([]);
  });

  test("stays pending while another connection holds it", async () => {
    await using core = await temporaryCore({ clock: realTime, abandonAfterMs: 20 });
    const session = await core.session();
    const lost = await core.ask(session);
    const first = await core.ask(session, { toolUseId: "toolu_1" });
    using second = await core.ask(session, { toolUseId: "toolu_1" });
    first[Symbol.dispose]();
    first[Symbol.dispose]();
    lost[Symbol.dispose]();
    await until("the other to be abandoned", async () => (await statusOf(core, lost.approvalId)) === "abandoned");
    expect(await statusOf(core, second.approvalId)).toBe("pending");
  });

  test("becomes abandoned after a resume by another session, or after its own child's resume failed", async () => {
    await using core = await temporaryCore({ clock: realTime, abandonAfterMs: 30 });
    const session = await core.session();
    const child = { kind: "session", sessionId: session.id } as const;
    const [foreign, own] = [await core.ask(session), await core.ask(session)];
    foreign[Symbol.dispose]();
    own[Symbol.dispose]();
    expect(await core.approvals.resume({ kind: "session", sessionId: "another" }, foreign)).toBeUndefined();
    {
      using _ = blockUpdates(core.dataDir);
      await expect(core.approvals.resume(child, own)).rejects.toThrow();
    }
    for (const { approvalId } of [foreign, own])
      await until("it to be abandoned", async () => (await statusOf(core, approvalId)) === "abandoned");
  });

  test("stays pending when its child comes back in time", async () => {
    await using core = await temporaryCore({ clock: realTime, abandonAfterMs: 30 });
    const session = await core.session();
    const first = await core.ask(session, { toolUseId: "toolu_1" });
    const lost = await core.ask(session);
    first[Symbol.dispose]();
    using again = await core.ask(session, { toolUseId: "toolu_1" });
    lost[Symbol.dispose]();
    await until("the other to be abandoned", async () => (await statusOf(core, lost.approvalId)) === "abandoned");
    await core.approvals.decide(OPERATOR, again.approvalId, allow);
    expect(again.approvalId).toBe(first.approvalId);
    expect(await again.answer()).toMatchObject({ behavior: "allow" });
  });

  test("stays pending when its child reconnects while it is being abandoned", async () => {
    await using core = await temporaryCore({ clock: realTime, abandonAfterMs: NEVER_MS });
    const session = await core.session();
    const child = { kind: "session", sessionId: session.id } as const;
    const call = { toolUseId: "toolu_1" };
    const givenUp = (lost: WaitingRequest) =>
      core.storage.approvals.abandonIfUnheld([lost.approvalId], "gone", Date.now());
    const lost = await core.ask(session, call);
    lost[Symbol.dispose]();
    // Both commands share one transaction.
    const [resumed] = await Promise.all([core.approvals.resume(child, lost), givenUp(lost)]);
    expect(await statusOf(core, lost.approvalId)).toBe("pending");
    resumed?.[Symbol.dispose]();
    const again = await core.ask(session, call);
    await givenUp(lost);
    expect(await statusOf(core, lost.approvalId)).toBe("pending");
    again[Symbol.dispose]();
    await givenUp(lost);
    expect(await statusOf(core, lost.approvalId)).toBe("abandoned");
  });

  test("is abandoned even if its release could not be written and the row still shows a connection", async () => {
    await using core = await temporaryCore({ clock: realTime, abandonAfterMs: 20 });
    const ask = await core.ask(await core.session());
    {
      using _ = blockUpdates(core.dataDir);
      ask[Symbol.dispose]();
      await until("the failed release", () => core.errors.length > 0);
    }
    expect(core.direct.approvals.get(ask.approvalId)).toMatchObject({ heldUntil: null });
    await until("the approval to be abandoned", async () => (await statusOf(core, ask.approvalId)) === "abandoned");
  });

  test("records in the database which server holds it, and until when its child is expected back", async () => {
    const clock = stoppedClock();
    await using core = await temporaryCore({ clock, abandonAfterMs: GRACE_MS });
    const session = await core.session();
    const held = () => {
      const { heldBy = null, heldUntil = null } = core.direct.approvals.get(first.approvalId) ?? {};
      return { isHeld: heldBy !== null, until: heldUntil };
    };
    const first = await core.ask(session, { toolUseId: "toolu_1" });
    const second = await core.ask(session, { toolUseId: "toolu_1" });
    expect(held()).toEqual({ isHeld: true, until: null });
    second[Symbol.dispose]();
    first[Symbol.dispose]();
    await until("the release", () => held().until !== null);
    expect(held()).toEqual({ isHeld: true, until: clock.now() + GRACE_MS });
    using _ = await core.approvals.resume({ kind: "session", sessionId: session.id }, first);
    expect(held()).toEqual({ isHeld: true, until: null });
  });

  test("keeps a decision that was made before its connection closed", async () => {
    await using core = await temporaryCore({ clock: realTime, abandonAfterMs: 20 });
    const session = await core.session();
    const decided = await core.ask(session);
    await core.approvals.decide(OPERATOR, decided.approvalId, allow);
    decided[Symbol.dispose]();
    const lost = await core.ask(session);
    lost[Symbol.dispose]();
    await until("the other to be abandoned", async () => (await statusOf(core, lost.approvalId)) === "abandoned");
    expect(await statusOf(core, decided.approvalId)).toBe("allowed");
    expect(await core.storage.changes.newestId()).toBe(4);
  });

  test("is abandoned later if the first attempt could not be written", async () => {
    await using core = await temporaryCore({ clock: realTime, abandonAfterMs: 20 });
    const ask = await core.ask(await core.session());
    const block = blockUpdates(core.dataDir);
    ask[Symbol.dispose]();
    await until("a failed attempt", () => core.errors.length > 0);
    expect(await statusOf(core, ask.approvalId)).toBe("pending");
    block[Symbol.dispose]();
    await until("the approval to be abandoned", async () => (await statusOf(core, ask.approvalId)) === "abandoned");
  });

  test("gets the full grace period after a restart, however long that took", async () => {
    await using directory = await temporaryDirectory();
    const clock = stoppedClock();
    let id: string;
    {
      using core = await openCore(directory.path, { clock, timeoutSecs: 86_400, abandonAfterMs: GRACE_MS });
      id = (await core.ask(await core.session(), { toolUseId: "toolu_1" })).approvalId;
    }
    clock.advance(10 * GRACE_MS);
    using core = await openCore(directory.path, { clock, timeoutSecs: 86_400, abandonAfterMs: 20 });
    const session = await core.session();
    expect(await statusOf(core, id)).toBe("pending");
    using again = await core.ask(session, { toolUseId: "toolu_1" });
    expect(again.approvalId).toBe(id);
  });

  test("is abandoned after a restart if its child does not reconnect", async () => {
    await using directory = await temporaryDirectory();
    let id: string;
    {
      using core = await openCore(directory.path, { clock: realTime, abandonAfterMs: 20 });
      id = (await core.ask(await core.session())).approvalId;
    }
    using core = await openCore(directory.path, { clock: realTime, abandonAfterMs: 20 });
    await until("the approval to be abandoned", async () => (await statusOf(core, id)) === "abandoned");
  });
});

describe("createConnections", () => {
  test("reports the loss of the last connection at once, and counts the grace period from there", () => {
    using at = stoppedConnections();
    const { clock, lost, dropped, connections } = at;
    const [first, second] = [connections.connect("a", "1"), connections.connect("a", "2")];
    second.noteAsker("2");
    first.lose();
    clock.advance(GRACE_MS * 2);
    connections.sweep();
    expect({ lost, dropped }).toEqual({ lost: [], dropped: [] });
    second.lose();
    second.lose();
    expect(lost).toEqual([{ id: "a", asker: "2" }]);
    clock.advance(GRACE_MS - 1);
    connections.sweep();
    expect(dropped).toEqual([]);
    clock.advance(1);
    connections.sweep();
    connections.sweep();
    expect(dropped).toEqual(["a"]);
  });

  test("does not expect a child back after its last connection finished", () => {
    using at = stoppedConnections();
    const { clock, lost, dropped, connections } = at;
    const [first, second] = [connections.connect("a", "1"), connections.connect("a", "1")];
    first.lose();
    second.finish();
    clock.advance(GRACE_MS);
    connections.sweep();
    expect({ lost, dropped }).toEqual({ lost: [], dropped: [] });
  });

  test("counts from its own start for approvals that were pending then", () => {
    using at = stoppedConnections();
    const { clock, dropped, connections } = at;
    connections.expectBack(["a", "b"].map((id) => ({ id, asker: null })));
    const back = connections.connect("b", "1");
    clock.advance(GRACE_MS);
    connections.sweep();
    expect(dropped).toEqual(["a"]);
    back.lose();
    clock.advance(GRACE_MS);
    connections.sweep();
    expect(dropped).toEqual(["a", "b"]);
  });

  test("starts the grace period again for a child that reconnected in between", () => {
    using at = stoppedConnections();
    const { clock, dropped, connections } = at;
    connections.connect("a", "1").lose();
    clock.advance(GRACE_MS - 1);
    connections.connect("a", "1").lose();
    clock.advance(GRACE_MS - 1);
    connections.sweep();
    expect(dropped).toEqual([]);
  });

  test("reports nothing once disposed, even if a connection is lost afterwards", async () => {
    const told: unknown[] = [];
    const note = (lost: unknown) => void told.push(lost);
    const old = createConnections({ now: Date.now, graceMs: 1, onLost: note, onDropped: note });
    const connection = old.connect("a", "1");
    old[Symbol.dispose]();
    connection.lose();
    const later = Promise.withResolvers<void>();
    const onDropped = () => later.resolve();
    using next = createConnections({ now: Date.now, graceMs: 20, onLost: () => {}, onDropped });
    next.connect("b", "1").lose();
    await later.promise;
    expect(told).toEqual([]);
  });
});

function stoppedConnections() {
  const clock = stoppedClock();
  const lost: LostConnection[] = [];
  const dropped: string[] = [];
  const connections = createConnections({
    now: clock.now,
    graceMs: GRACE_MS,
    onLost: (one) => lost.push(one),
    onDropped: (some) => dropped.push(...some.map(({ id }) => id)),
  });
  return { clock, lost, dropped, connections, [Symbol.dispose]: () => connections[Symbol.dispose]() };
}

async function statusOf(core: Pick<Core, "approvals">, id: string): Promise<string> {
  return (await core.approvals.get(OPERATOR, id)).status;
}
