import { describe, expect, test } from "bun:test";
import type { Change } from "../../../src/contract/change.ts";
import { createBroadcast, SlowReader } from "../../../src/core/events/broadcast.ts";

const resolved = (id: number, subjectId = "a"): Change => ({
  id,
  kind: "approval_resolved",
  owner: "operator",
  sessionId: "s",
  subjectId,
  at: id,
});
const requested = (id: number): Change => ({ ...resolved(id), kind: "approval_requested" });
const never = new AbortController().signal;
const all = () => true;

describe("broadcast.waitFor", () => {
  test("is woken by a decision on its approval, and by no other", async () => {
    const broadcast = createBroadcast();
    using mine = broadcast.waitFor("a");
    using other = broadcast.waitFor("b");
    const [woken, asleep] = [mine.woken(), other.woken()];
    broadcast.publish([requested(1), resolved(2, "a")]);
    await woken;
    expect(Bun.peek.status(asleep)).toBe("pending");
  });

  test("wakes all who wait for the same approval", async () => {
    const broadcast = createBroadcast();
    const waiters = Array.from({ length: 5 }, () => broadcast.waitFor("a"));
    const woken = waiters.map((waiter) => waiter.woken());
    broadcast.publish([resolved(1)]);
    await Promise.all(woken);
  });

  test("remembers a wake-up that came before the wait, and reports it once", async () => {
    const broadcast = createBroadcast();
    using waiter = broadcast.waitFor("a");
    broadcast.wake("a");
    broadcast.wake("a");
    await waiter.woken();
    const next = waiter.woken();
    await Promise.resolve();
    expect(Bun.peek.status(next)).toBe("pending");
    broadcast.wake("a");
    await next;
  });

  test("leaves no waiter behind once disposed", () => {
    const broadcast = createBroadcast();
    const waiters = ["a", "a", "b"].map((id) => broadcast.waitFor(id));
    expect([...broadcast.waitedFor()]).toEqual(["a", "b"]);
    waiters[0]?.[Symbol.dispose]();
    waiters[0]?.[Symbol.dispose]();
    expect([...broadcast.waitedFor()]).toEqual(["a", "b"]);
    for (const waiter of waiters) waiter[Symbol.dispose]();
    expect([...broadcast.waitedFor()]).toEqual([]);
  });
});

describe("broadcast.publish", () => {
  test("calls every listener with every change, in order, until it is disposed", () => {
    const broadcast = createBroadcast();
    const [one, two]: [number[], number[]] = [[], []];
    const first = broadcast.listen(({ id }) => one.push(id));
    using _ = broadcast.listen(({ id }) => two.push(id));
    broadcast.publish([requested(1), resolved(2)]);
    first[Symbol.dispose]();
    broadcast.publish([requested(3)]);
    expect([one, two]).toEqual([
      [1, 2],
      [1, 2, 3],
    ]);
  });

  test("calls the other listeners, wakes the waiters and reports the error if a listener throws", async () => {
    const problems: unknown[] = [];
    const broadcast = createBroadcast((cause) => problems.push(cause));
    const broken = new Error("broken listener");
    using _ = broadcast.listen(() => {
      throw broken;
    });
    const told: number[] = [];
    using __ = broadcast.listen(({ id }) => told.push(id));
    using waiter = broadcast.waitFor("a");
    broadcast.publish([requested(1), resolved(2)]);
    await waiter.woken();
    expect(told).toEqual([1, 2]);
    expect(problems).toEqual([broken, broken]);
  });
});

describe("broadcast.subscribe", () => {
  test("yields the accepted changes, in order, to a reader that starts later", async () => {
    const broadcast = createBroadcast();
    using live = broadcast.subscribe(({ id }) => id % 2 === 1, 10, never);
    broadcast.publish([1, 2, 3, 4, 5].map(requested));
    expect(await take(live, 3)).toEqual([1, 3, 5]);
  });

  test("yields a change that comes while the reader waits", async () => {
    const broadcast = createBroadcast();
    using live = broadcast.subscribe(all, 10, never);
    const reading = take(live, 2);
    await Promise.resolve();
    broadcast.publish([requested(1)]);
    await Promise.resolve();
    broadcast.publish([requested(2)]);
    expect(await reading).toEqual([1, 2]);
  });

  test("drops a reader that is too slow after its queued changes, and says how to resume", async () => {
    const broadcast = createBroadcast();
    using live = broadcast.subscribe(all, 3, never);
    broadcast.publish([1, 2, 3, 4, 5].map(requested));
    const seen: number[] = [];
    const reading = async () => {
      for await (const { id } of live) seen.push(id);
    };
    const reason: unknown = await reading().catch((cause: unknown) => cause);
    expect(reason).toBeInstanceOf(SlowReader);
    expect(String(reason)).toContain("more than 3 events waited for this reader; resume after the last id");
    expect(seen).toEqual([1, 2, 3]);
  });

  test("keeps the other readers unaffected by a slow one", async () => {
    const broadcast = createBroadcast();
    using _ = broadcast.subscribe(all, 1, never);
    using quick = broadcast.subscribe(all, 100, never);
    broadcast.publish(Array.from({ length: 50 }, (_, id) => requested(id)));
    expect(await take(quick, 50)).toHaveLength(50);
  });

  test.each(["disposed", "aborted"])("ends when it is %s, even while its reader waits", async (how) => {
    const broadcast = createBroadcast();
    const abort = new AbortController();
    const live = broadcast.subscribe(all, 10, abort.signal);
    const reading = take(live, 5);
    await Promise.resolve();
    broadcast.publish([requested(1)]);
    await new Promise(setImmediate);
    if (how === "disposed") live[Symbol.dispose]();
    else abort.abort();
    expect(await reading).toEqual([1]);
  });

  test("ends at once when it was aborted before", async () => {
    const broadcast = createBroadcast();
    using live = broadcast.subscribe(all, 10, AbortSignal.abort());
    expect(await take(live, 1)).toEqual([]);
  });
});

async function take(changes: AsyncIterable<Change>, count: number): Promise<number[]> {
  const ids: number[] = [];
  for await (const { id } of changes) if (ids.push(id) === count) break;
  return ids;
}
