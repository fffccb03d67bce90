import { describe, expect, test } from "bun:test";
import { Statistics } from "../../../src/contract/statistics.ts";
import { type Plexus, startPlexus } from "../../support/server/plexus.ts";
import { ask, expectRefusal, namedToken, sessionOf } from "../support/callers.ts";

const OPERATOR = { kind: "operator" } as const;
const HOUR_MS = 3_600_000;
/** Noon of a day, UTC. */
const NOON = Date.UTC(2026, 5, 15, 12);

async function statistics(plexus: Plexus, query = "", token?: string): Promise<Statistics> {
  const response = await plexus.fetch(`/api/v1/statistics${query}`, token === undefined ? {} : { token });
  expect(response.status).toBe(200);
  return Statistics.parse(await response.json());
}

/** A server whose clock the test sets. */
async function startAt(time: number) {
  const clock = { now: time };
  const plexus = await startPlexus({ clocks: { now: () => clock.now } });
  return { plexus, clock, [Symbol.asyncDispose]: () => plexus[Symbol.asyncDispose]() };
}

describe("/api/v1/statistics", () => {
  test("shows who decided, how fast, and what needs attention", async () => {
    await using server = await startAt(NOON);
    const { plexus, clock } = server;
    const { session } = await sessionOf(plexus, OPERATOR, "builder");
    const slow = await ask(plexus, session);
    const quick = await ask(plexus, session, { input: { command: "two" } });
    clock.now += 2_000;
    await plexus.app.approvals.decide(OPERATOR, quick.approvalId, { approve: true });
    clock.now += 58_000;
    await plexus.app.approvals.decide(OPERATOR, slow.approvalId, { approve: false });
    await ask(plexus, session, { input: { command: "three" } });
    clock.now += 5_000;
    const found = await statistics(plexus);
    expect(found.totals).toMatchObject({ asked: 2, automatic: 0, unanswered: 0, turns: 0, sessions: 1 });
    expect(found.deciders).toHaveLength(1);
    const [{ p50_secs, p95_secs, ...operator } = { p50_secs: 0, p95_secs: 0 }] = found.deciders;
    expect(operator).toEqual({ by: "operator", allowed: 1, denied: 1, timed_out: 0, abandoned: 0 });
    expect(Math.abs((p50_secs ?? 0) - 2)).toBeLessThan(0.3);
    expect(Math.abs((p95_secs ?? 0) - 60)).toBeLessThan(8);
    expect(found.waiting).toEqual({ p50_secs, p95_secs });
    expect(found.sessions).toMatchObject([{ name: "builder", owner: "operator", decisions: 2 }]);
    expect(found.owners).toMatchObject([{ owner: "operator", sessions: 1, decisions: 2 }]);
    expect(found.present).toEqual({ pending: 1, running: 0, queued: 0 });
    expect(found.attention).toEqual([{ kind: "pending", count: 1, oldest_secs: 5 }]);
  });

  test("shows a named token only its own statistics", async () => {
    await using plexus = await startPlexus();
    const [one, other] = [await namedToken(plexus, "one"), await namedToken(plexus, "other")];
    for (const { principal } of [one, other]) {
      const { session } = await sessionOf(plexus, principal, "builder");
      const asked = await ask(plexus, session);
      await plexus.app.approvals.decide(principal, asked.approvalId, { approve: true });
    }
    await ask(plexus, (await sessionOf(plexus, other.principal, "later")).session);
    const own = await statistics(plexus, "", one.token);
    expect(own.owners).toMatchObject([{ owner: "token:one", sessions: 1, decisions: 1 }]);
    expect(own.deciders.map(({ by }) => by)).toEqual(["token:one"]);
    expect([own.present.pending, own.attention]).toEqual([0, []]);
    const all = await statistics(plexus);
    expect(all.owners.map(({ owner }) => owner).sort()).toEqual(["token:one", "token:other"]);
    expect(all.attention).toMatchObject([{ kind: "pending", count: 1 }]);
  });

  test.each([
    { range: "24h", buckets: 24, bucket_secs: 3_600 },
    { range: "7d", buckets: 28, bucket_secs: 21_600 },
    { range: "30d", buckets: 30, bucket_secs: 86_400 },
  ])("has $buckets buckets for $range, each decision in its own", async ({ range, buckets, bucket_secs }) => {
    await using server = await startAt(NOON - 20 * HOUR_MS);
    const { plexus, clock } = server;
    const { session } = await sessionOf(plexus, OPERATOR, "builder");
    for (const at of [NOON - 20 * HOUR_MS, NOON]) {
      clock.now = at;
      const asked = await ask(plexus, session, { input: { command: String(at) } });
      await plexus.app.approvals.decide(OPERATOR, asked.approvalId, { approve: true });
    }
    const found = await statistics(plexus, `?range=${range}`);
    expect([found.buckets.length, found.bucket_secs]).toEqual([buckets, bucket_secs]);
    const counted = found.buckets.filter(({ asked }) => asked > 0);
    expect(counted.map(({ asked }) => asked)).toEqual([1, 1]);
    for (const [index, at] of [NOON - 20 * HOUR_MS, NOON].entries()) {
      const start = counted[index]?.at ?? 0;
      expect(start <= at / 1000 && at / 1000 < start + bucket_secs).toBe(true);
    }
    expect(found.to - found.from).toBe(buckets * bucket_secs);
  });

  test("begins its days in the caller's time zone", async () => {
    await using server = await startAt(NOON);
    const { buckets } = await statistics(server.plexus, "?range=30d&utc_offset_mins=120");
    expect(buckets.at(-1)?.at).toBe(Date.UTC(2026, 5, 14, 22) / 1000);
    const west = await statistics(server.plexus, "?range=30d&utc_offset_mins=-300");
    expect(west.buckets.at(-1)?.at).toBe(Date.UTC(2026, 5, 15, 5) / 1000);
  });

  test("counts unanswered requests, and reports them", async () => {
    await using server = await startAt(NOON);
    const { plexus, clock } = server;
    const { session } = await sessionOf(plexus, OPERATOR, "builder");
    const asked = await ask(plexus, session);
    clock.now += 301_000;
    // A late decision finds that the deadline has decided.
    await plexus.app.approvals.decide(OPERATOR, asked.approvalId, { approve: true });
    const found = await statistics(plexus);
    expect(found.totals).toMatchObject({ asked: 0, unanswered: 1 });
    expect(found.attention).toEqual([{ kind: "timed_out", count: 1 }]);
  });

  test.each(["?range=1y", "?utc_offset_mins=900", "?since=0"])("refuses %s", async (query) => {
    await using plexus = await startPlexus();
    await expectRefusal(await plexus.fetch(`/api/v1/statistics${query}`), 422, "invalid_arguments");
  });

  test("is not for children, nor for callers without a token", async () => {
    await using plexus = await startPlexus();
    const { token } = await plexus.child();
    await expectRefusal(await plexus.fetch("/api/v1/statistics", { token }), 403, "forbidden");
    await expectRefusal(await plexus.fetch("/api/v1/statistics", { token: null }), 401, "unauthorized");
  });
});
