import { describe, expect, test } from "bun:test";
import type { Principal } from "../../../src/core/access/principals.ts";
import type { NumberedEvent } from "../../../src/core/events/feed.ts";
import { createEventFeed } from "../../../src/core/events/feed.ts";
import { ANY_PENDING, newApproval, outcome } from "../../storage/rows.ts";
import { allow, type Domain, deny, OPERATOR, temporaryDomain } from "../open-core.ts";

const CI: Principal = { kind: "token", id: "1", name: "ci" };
const never = new AbortController().signal;
const LONG_MS = 60_000;

describe("eventFeed.wait", () => {
  const waiting = { timeoutMs: LONG_MS, limit: 100, signal: never };

  test("returns at once when something is pending, oldest first", async () => {
    await using domain = await temporaryDomain();
    const session = await domain.session();
    const asks = [await domain.ask(session), await domain.ask(session)];
    const { approvals } = await domain.eventFeed.wait(OPERATOR, waiting);
    expect(approvals.map(({ id }) => id)).toEqual(asks.map(({ approvalId }) => approvalId));
  });

  test("returns as soon as something is asked", async () => {
    await using domain = await temporaryDomain();
    const session = await domain.session();
    const wait = domain.eventFeed.wait(OPERATOR, waiting);
    expect(Bun.peek.status(wait)).toBe("pending");
    using ask = await domain.ask(session);
    const { approvals, cursor } = await wait;
    expect(approvals.map(({ id }) => id)).toEqual([ask.approvalId]);
    expect(cursor).toBe(1);
  });

  test("returns without anything when its time is up", async () => {
    await using domain = await temporaryDomain();
    expect(await domain.eventFeed.wait(OPERATOR, { ...waiting, timeoutMs: 5 })).toMatchObject({
      approvals: [],
      cursor: 0,
    });
  });

  test("returns when the caller has gone, before or meanwhile", async () => {
    await using domain = await temporaryDomain();
    const gone = new AbortController();
    const wait = domain.eventFeed.wait(OPERATOR, { ...waiting, signal: gone.signal });
    gone.abort();
    expect((await wait).approvals).toEqual([]);
    expect((await domain.eventFeed.wait(OPERATOR, { ...waiting, signal: AbortSignal.abort() })).approvals).toEqual([]);
  });

  test("goes on waiting when what was asked has been decided by somebody else", async () => {
    await using domain = await temporaryDomain({ rereadEveryMs: 10 });
    const session = await domain.session();
    const wait = domain.eventFeed.wait(OPERATOR, waiting);
    const quick = newApproval({ sessionId: session.id });
    const { approvals } = domain.storage;
    // In one commit, so that nobody sees it pending.
    await Promise.all([approvals.file(quick, ANY_PENDING), approvals.settleIfPending(quick.id, outcome(), undefined)]);
    using ask = await domain.ask(session);
    expect((await wait).approvals.map(({ id }) => id)).toEqual([ask.approvalId]);
  });

  test("does not miss what is asked between its read and its sleep", async () => {
    await using domain = await temporaryDomain();
    const session = await domain.session();
    let asked: Promise<{ approvalId: string }> | undefined;
    const { changes } = domain.storage;
    const awaited: typeof changes.awaited = async (...query) => {
      const found = await changes.awaited(...query);
      asked ??= domain.ask(session);
      await asked;
      return found;
    };
    const storage = { ...domain.storage, changes: { ...changes, awaited } };
    const feed = createEventFeed({ storage, broadcast: domain.broadcast, onError: () => {} });
    const { approvals } = await feed.wait(OPERATOR, waiting);
    expect(approvals.map(({ id }) => id)).toEqual([(await asked)?.approvalId ?? ""]);
  });

  test("is not woken by what concerns another session, or another owner", async () => {
    await using domain = await temporaryDomain();
    const [mine, other] = [await domain.session("mine"), await domain.session("other")];
    const ofSession = domain.eventFeed.wait(OPERATOR, { ...waiting, sessionId: mine.id });
    const ofOwner = domain.eventFeed.wait(CI, waiting);
    using _ = await domain.ask(other);
    expect([Bun.peek.status(ofSession), Bun.peek.status(ofOwner)]).toEqual(["pending", "pending"]);
    using ask = await domain.ask(mine);
    expect((await ofSession).approvals.map(({ id }) => id)).toEqual([ask.approvalId]);
    using own = await domain.ask(await domain.sessions.createByHand(CI, "own"));
    expect((await ofOwner).approvals.map(({ id }) => id)).toEqual([own.approvalId]);
  });

  test("lets nothing fall between two waits", async () => {
    await using domain = await temporaryDomain();
    const session = await domain.session();
    const seen = new Set<string>();
    const asking = Promise.all(
      Array.from({ length: 200 }, async (_, number) => {
        for (let turn = 0; turn < number % 50; turn++) await new Promise((resolve) => setImmediate(resolve));
        using ask = await domain.ask(session);
        await ask.answer();
      }),
    );
    while (seen.size < 200) {
      const { approvals } = await domain.eventFeed.wait(OPERATOR, { ...waiting, limit: 3 });
      for (const { id } of approvals) {
        expect(seen.has(id)).toBe(false);
        seen.add(id);
        await domain.approvals.decide(OPERATOR, id, allow);
      }
    }
    await asking;
  });

  test("leaves nothing behind", async () => {
    await using domain = await temporaryDomain();
    const gone = new AbortController();
    const waits = Array.from({ length: 5 }, () => domain.eventFeed.wait(OPERATOR, { ...waiting, signal: gone.signal }));
    gone.abort();
    await Promise.all(waits);
    expect([...domain.broadcast.waitedFor()]).toEqual([]);
  });
});

describe("eventFeed.follow", () => {
  test("gives everything after a position, then everything that happens", async () => {
    await using domain = await temporaryDomain();
    const session = await domain.session();
    const asks = [await domain.ask(session), await domain.ask(session)];
    const events = domain.eventFeed.follow(OPERATOR, 1, never);
    expect(await next(events)).toMatchObject({ id: 2, event: { approval_id: asks[1]?.approvalId } });
    await domain.approvals.decide(OPERATOR, asks[0]?.approvalId ?? "", deny("no"));
    expect(await next(events)).toMatchObject({ id: 3, event: { type: "approval_resolved", response_message: "no" } });
    await events.return(undefined);
  });

  test("without a position begins with what happens from now on", async () => {
    await using domain = await temporaryDomain();
    const session = await domain.session();
    using _ = await domain.ask(session);
    const events = domain.eventFeed.follow(OPERATOR, undefined, never);
    const first = next(events);
    using ask = await domain.ask(session);
    expect(await first).toMatchObject({ event: { approval_id: ask.approvalId } });
    await events.return(undefined);
  });

  test("with a position that was never given misses nothing that happens", async () => {
    await using domain = await temporaryDomain();
    const events = domain.eventFeed.follow(OPERATOR, 5_000, never);
    const first = next(events);
    using ask = await domain.ask(await domain.session());
    expect(await first).toMatchObject({ id: 1, event: { approval_id: ask.approvalId } });
    await events.return(undefined);
  });

  test("shows a principal its own and nothing else", async () => {
    await using domain = await temporaryDomain();
    using _ = await domain.ask(await domain.session());
    using own = await domain.ask(await domain.sessions.createByHand(CI, "own"));
    const events = domain.eventFeed.follow(CI, 0, never);
    expect(await next(events)).toMatchObject({ event: { approval_id: own.approvalId } });
    const second = next(events);
    using __ = await domain.ask(await domain.session());
    await domain.approvals.decide(CI, own.approvalId, allow);
    expect(await second).toMatchObject({ event: { type: "approval_resolved", approval_id: own.approvalId } });
    await events.return(undefined);
  });

  test("ends when its reader has gone", async () => {
    await using domain = await temporaryDomain();
    const gone = new AbortController();
    const events = domain.eventFeed.follow(OPERATOR, 0, gone.signal);
    const waiting = events.next();
    gone.abort();
    expect((await waiting).done).toBe(true);
  });

  test("misses and repeats nothing of what happens while it is still reading what was", async () => {
    await using domain = await temporaryDomain();
    const session = await domain.session();
    const askMany = (count: number) => Promise.all(Array.from({ length: count }, () => domain.ask(session)));
    await askMany(450);
    const ids: number[] = [];
    for await (const { id } of domain.eventFeed.follow(OPERATOR, 0, never)) {
      ids.push(id);
      if (id === 100 || id === 300 || id === 460) await askMany(20);
      if (id === 510) break;
    }
    expect(ids).toEqual(Array.from({ length: 510 }, (_, position) => position + 1));
  });

  test("misses nothing, repeats nothing and keeps the order under a storm, wherever readers come and go", async () => {
    await using domain = await temporaryDomain();
    const session = await domain.session();
    const total = 600;
    const storm = Promise.all(
      Array.from({ length: total / 2 }, async (_, number) => {
        for (let turn = 0; turn < number % 60; turn++) await new Promise((resolve) => setImmediate(resolve));
        using ask = await domain.ask(session);
        await domain.approvals.decide(OPERATOR, ask.approvalId, allow);
      }),
    );
    const everything = Array.from({ length: total }, (_, position) => position + 1);
    const readers = [total, 1, 7, 50, 230].map((sitting) => idsInSittings(domain, total, sitting));
    for (const ids of await Promise.all(readers)) expect(ids).toEqual(everything);
    await storm;
  });
});

describe("eventFeed.onRequest", () => {
  test("calls back with every ask that the principal may decide, until disposed", async () => {
    await using domain = await temporaryDomain();
    const told: string[] = [];
    const listening = domain.eventFeed.onRequest(CI, ({ approval_id }) => told.push(approval_id));
    const session = await domain.sessions.createByHand(CI, "own");
    using _ = await domain.ask(await domain.session());
    using own = await domain.ask(session);
    await domain.approvals.decide(OPERATOR, own.approvalId, allow);
    listening[Symbol.dispose]();
    using __ = await domain.ask(session);
    expect(told).toEqual([own.approvalId]);
  });
});

/** Reads all events, leaving after every `sitting` of them and coming back with the last id. */
async function idsInSittings(domain: Pick<Domain, "eventFeed">, total: number, sitting: number): Promise<number[]> {
  const ids: number[] = [];
  while (ids.length < total) {
    let left = Math.min(sitting, total - ids.length);
    for await (const { id } of domain.eventFeed.follow(OPERATOR, ids.at(-1) ?? 0, never)) {
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
