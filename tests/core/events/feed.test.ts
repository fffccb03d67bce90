import { describe, expect, test } from "bun:test";
import type { Principal } from "../../../src/core/access/principals.ts";
import type { NumberedEvent } from "../../../src/core/events/feed.ts";
import { allow, type Core, deny, OPERATOR, temporaryCore } from "../open-core.ts";

const CI: Principal = { kind: "token", id: "1", name: "ci" };
const never = new AbortController().signal;

describe("eventFeed.follow", () => {
  test("yields all events after a position, then live events", async () => {
    await using core = await temporaryCore();
    const session = await core.session();
    const asks = [await core.ask(session), await core.ask(session)];
    const events = core.eventFeed.follow(OPERATOR, 1, never);
    expect(await next(events)).toMatchObject({ id: 2, event: { approval_id: asks[1]?.approvalId } });
    await core.approvals.decide(OPERATOR, asks[0]?.approvalId ?? "", deny("no"));
    expect(await next(events)).toMatchObject({ id: 3, event: { type: "approval_resolved", response_message: "no" } });
    await events.return(undefined);
  });

  test("starts with live events without a position", async () => {
    await using core = await temporaryCore();
    const session = await core.session();
    using _ = await core.ask(session);
    const events = core.eventFeed.follow(OPERATOR, undefined, never);
    const first = next(events);
    using ask = await core.ask(session);
    expect(await first).toMatchObject({ event: { approval_id: ask.approvalId } });
    await events.return(undefined);
  });

  test("misses no live event with an unknown position", async () => {
    await using core = await temporaryCore();
    const events = core.eventFeed.follow(OPERATOR, 5_000, never);
    const first = next(events);
    using ask = await core.ask(await core.session());
    expect(await first).toMatchObject({ id: 1, event: { approval_id: ask.approvalId } });
    await events.return(undefined);
  });

  test("yields only the principal's own events", async () => {
    await using core = await temporaryCore({ tokens: [CI] });
    using _ = await core.ask(await core.session());
    using own = await core.ask(await core.sessions.createByHand(CI, "own"));
    const events = core.eventFeed.follow(CI, 0, never);
    expect(await next(events)).toMatchObject({ event: { approval_id: own.approvalId } });
    const second = next(events);
    using __ = await core.ask(await core.session());
    await core.approvals.decide(CI, own.approvalId, allow);
    expect(await second).toMatchObject({ event: { type: "approval_resolved", approval_id: own.approvalId } });
    await events.return(undefined);
  });

  test("ends when its reader is gone", async () => {
    await using core = await temporaryCore();
    const gone = new AbortController();
    const events = core.eventFeed.follow(OPERATOR, 0, gone.signal);
    const waiting = events.next();
    gone.abort();
    expect((await waiting).done).toBe(true);
  });

  test("misses and repeats no event that happens while it reads old ones", async () => {
    await using core = await temporaryCore();
    const session = await core.session();
    const askMany = (count: number) => Promise.all(Array.from({ length: count }, () => core.ask(session)));
    await askMany(450);
    const ids: number[] = [];
    for await (const { id } of core.eventFeed.follow(OPERATOR, 0, never)) {
      ids.push(id);
      if (id === 100 || id === 300 || id === 460) await askMany(20);
      if (id === 510) break;
    }
    expect(ids).toEqual(Array.from({ length: 510 }, (_, position) => position + 1));
  });

  test("misses nothing, repeats nothing and keeps the order under load, with readers that leave and return", async () => {
    await using core = await temporaryCore();
    const session = await core.session();
    const total = 600;
    const storm = Promise.all(
      Array.from({ length: total / 2 }, async (_, number) => {
        for (let turn = 0; turn < number % 60; turn++) await new Promise((resolve) => setImmediate(resolve));
        using ask = await core.ask(session);
        await core.approvals.decide(OPERATOR, ask.approvalId, allow);
      }),
    );
    const everything = Array.from({ length: total }, (_, position) => position + 1);
    const readers = [total, 1, 7, 50, 230].map((sitting) => idsInSittings(core, total, sitting));
    for (const ids of await Promise.all(readers)) expect(ids).toEqual(everything);
    await storm;
  });
});

describe("eventFeed.onRequest", () => {
  test("calls back with every request that the principal may decide, until disposed", async () => {
    await using core = await temporaryCore({ tokens: [CI] });
    const told: string[] = [];
    const listening = core.eventFeed.onRequest(CI, ({ approval_id }) => told.push(approval_id));
    const session = await core.sessions.createByHand(CI, "own");
    using _ = await core.ask(await core.session());
    using own = await core.ask(session);
    await core.approvals.decide(OPERATOR, own.approvalId, allow);
    listening[Symbol.dispose]();
    using __ = await core.ask(session);
    expect(told).toEqual([own.approvalId]);
  });
});

/** Reads all events; leaves after every `sitting` of them and returns with the last id. */
async function idsInSittings(core: Pick<Core, "eventFeed">, total: number, sitting: number): Promise<number[]> {
  const ids: number[] = [];
  while (ids.length < total) {
    let left = Math.min(sitting, total - ids.length);
    for await (const { id } of core.eventFeed.follow(OPERATOR, ids.at(-1) ?? 0, never)) {
      ids.push(id);
      if (--left === 0) break;
    }
  }
  return ids;
}

async function next(events: AsyncGenerator<NumberedEvent>): Promise<NumberedEvent> {
  const { done, value } = await events.next();
  if (done) throw new Error("the events have ended");
  return value;
}
