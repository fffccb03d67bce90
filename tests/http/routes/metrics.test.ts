import { describe, expect, setDefaultTimeout, test } from "bun:test";
import { readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { VERSION } from "../../../src/version.ts";
import { type Plexus, startPlexus } from "../../support/server/plexus.ts";
import { startFamily } from "../../support/sessions/family.ts";
import { temporaryDirectory } from "../../support/temporary.ts";
import { until } from "../../support/until.ts";
import { ask, expectRefusal, namedToken, sessionOf } from "../support/callers.ts";
import { openEvents } from "../support/event-reader.ts";

setDefaultTimeout(120_000);

const OPERATOR = { kind: "operator" } as const;
const DASHBOARD = join(import.meta.dir, "../../../docs/grafana-dashboard.json");

describe("/metrics", () => {
  test("is for the operator and named tokens, and for nobody else", async () => {
    await using plexus = await startPlexus();
    const { token } = await namedToken(plexus, "prometheus");
    const response = await plexus.fetch("/metrics", { token });
    expect(response.status).toBe(200);
    expect(response.headers.get("content-type")).toBe("text/plain; version=0.0.4; charset=utf-8");
    await expectRefusal(await plexus.fetch("/metrics", { token: null }), 401, "unauthorized");
    await expectRefusal(await plexus.fetch("/metrics", { token: (await plexus.child()).token }), 403, "forbidden");
  });

  test("counts requests, and decisions by outcome and waiting time", async () => {
    let at = Date.now();
    await using plexus = await startPlexus({ clocks: { now: () => at, elapsed: () => performance.now() } });
    const { session } = await sessionOf(plexus, OPERATOR);
    const asks = [await ask(plexus, session), await ask(plexus, session), await ask(plexus, session)];
    at += 7_000;
    expect(await figure(plexus, "plexus_approvals_pending")).toBe(3);
    expect(await figure(plexus, "plexus_oldest_pending_seconds")).toBe(7);
    const [allowed = "", denied = ""] = asks.map(({ approvalId }) => approvalId);
    await plexus.app.approvals.decide(OPERATOR, allowed, { approve: true });
    await plexus.app.approvals.decide(OPERATOR, allowed, { approve: false });
    await plexus.app.approvals.decide(OPERATOR, denied, { approve: false });
    at += 1_000_000;
    await plexus.app.approvals.expire();
    const figures = await read(plexus);
    const decided = [...figures.keys()].filter((name) => name.startsWith("plexus_decision_seconds"));
    expect(decided.filter((name) => !/outcome="(allowed|denied)"/.test(name))).toEqual([]);
    expect(Object.fromEntries(figures)).toMatchObject({
      plexus_approvals_requested_total: 3,
      'plexus_approvals_total{outcome="allowed"}': 1,
      'plexus_approvals_total{outcome="denied"}': 1,
      'plexus_approvals_total{outcome="timed_out"}': 1,
      'plexus_approvals_total{outcome="abandoned"}': 0,
      'plexus_decision_seconds_sum{outcome="allowed"}': 7,
      'plexus_decision_seconds_count{outcome="denied"}': 1,
      'plexus_decision_seconds_bucket{outcome="allowed",le="5"}': 0,
      'plexus_decision_seconds_bucket{outcome="allowed",le="10"}': 1,
      plexus_approvals_pending: 0,
      plexus_oldest_pending_seconds: 0,
    });
  });

  test("counts turns, their events, tokens and cost, and the children that run", async () => {
    await using family = await startFamily();
    const { plexus } = family;
    await family.create("counted");
    const { events } = await family.run("counted", [{ say: "hello" }]);
    const turn = (
      await plexus.app.sessionViews.turns(await plexus.app.sessions.require(OPERATOR, "counted"), { limit: 1 })
    ).turns[0];
    await family.start("counted", [{ hang: true }]);
    await until("the child", async () => (await figure(plexus, "plexus_children_running")) === 1);
    const during = await figure(plexus, "plexus_turn_events_total");
    expect(during).toBeGreaterThan(events.length);
    await family.call("claudecode_cancel", { name: "counted" });
    const all = await family.ended("counted");
    expect(Object.fromEntries(await read(plexus))).toMatchObject({
      'plexus_turns_total{status="complete"}': 1,
      'plexus_turns_total{status="cancelled"}': 1,
      'plexus_turns_total{status="failed"}': 0,
      plexus_turn_seconds_count: 2,
      'plexus_tokens_total{direction="input"}': turn?.usage?.input_tokens,
      'plexus_tokens_total{direction="output"}': turn?.usage?.output_tokens,
      plexus_cost_usd_total: turn?.usage?.cost_usd,
      plexus_turn_events_total: events.length + all.events.length,
      plexus_children_running: 0,
    });
    expect(turn?.usage?.output_tokens).toBeGreaterThan(0);
  });

  test("shows open streams and pending requests", async () => {
    await using plexus = await startPlexus();
    const open = 'plexus_streams_open{stream="events"}';
    {
      await using reader = await openEvents(plexus.url);
      expect(reader.response.status).toBe(200);
      await until("the stream to count", async () => (await figure(plexus, open)) === 1);
      await plexus.fetch("/api/v1/events", { method: "HEAD" });
      expect(await figure(plexus, open)).toBe(1);
    }
    await until("the stream to be gone", async () => (await figure(plexus, open)) === 0);
    const { session } = await sessionOf(plexus, OPERATOR);
    using _ = await ask(plexus, session);
    expect(await figure(plexus, "plexus_waiters")).toBe(1);
  });

  test("shows the sizes on disk, the memory and the build", async () => {
    await using plexus = await startPlexus();
    const database = join(plexus.dataDir, "plexus.db");
    const sizes = () => [database, `${database}-wal`].map((path) => statSync(path).size);
    // The server also writes by itself, so compare only figures during which nothing was written.
    const [figures, onDisk] = await until("no write beside the reading", async () => {
      const [before, figures] = [sizes(), await read(plexus)];
      return Bun.deepEquals(before, sizes()) && ([figures, before] as const);
    });
    expect(["plexus_database_bytes", "plexus_database_wal_bytes"].map((name) => figures.get(name))).toEqual(onDisk);
    expect(figures.get("process_resident_memory_bytes")).toBeGreaterThan(1e6);
    expect(figures.get("process_start_time_seconds")).toBeCloseTo(performance.timeOrigin / 1000, 0);
    expect(figures.get(`plexus_build_info{version="${VERSION}",commit=""}`)).toBe(1);
  });

  test("restarts its counters with the process, and shows what is still pending", async () => {
    await using directory = await temporaryDirectory();
    {
      await using plexus = await startPlexus({ dataDir: directory.path });
      const { session } = await sessionOf(plexus, OPERATOR);
      for (let asked = 0; asked < 2; asked++) await ask(plexus, session);
      const { approvals } = await plexus.app.approvals.pending(OPERATOR, undefined, 1);
      await plexus.app.approvals.decide(OPERATOR, approvals[0]?.id ?? "", { approve: true });
    }
    await using plexus = await startPlexus({ dataDir: directory.path });
    expect(Object.fromEntries(await read(plexus))).toMatchObject({
      plexus_approvals_requested_total: 0,
      'plexus_approvals_total{outcome="allowed"}': 0,
      plexus_approvals_pending: 1,
    });
  });
});

describe("docs/grafana-dashboard.json", () => {
  test("queries only metrics that exist", async () => {
    await using plexus = await startPlexus();
    const known = new Set([...(await read(plexus)).keys()].map((name) => name.replace(/\{.*/, "")));
    const expressions = [...readFileSync(DASHBOARD, "utf8").matchAll(/"expr": "((?:[^"\\]|\\.)*)"/g)];
    expect(expressions.length).toBeGreaterThan(10);
    const named = expressions.flatMap(([, text = ""]) => text.match(/\b(?:plexus|process)_\w+/g) ?? []);
    expect(named.filter((name) => !known.has(name))).toEqual([]);
  });

  test("shows every metric of Plexus", async () => {
    await using plexus = await startPlexus();
    const text = readFileSync(DASHBOARD, "utf8");
    const names = [...(await (await plexus.fetch("/metrics")).text()).matchAll(/^# TYPE (plexus_\w+)/gm)];
    expect(names.map(([, name = ""]) => name).filter((name) => !text.includes(name))).toEqual([]);
  });
});

async function figure(plexus: Plexus, name: string): Promise<number | undefined> {
  return (await read(plexus)).get(name);
}

/** The samples by name and labels, as Prometheus reads them. */
async function read(plexus: Plexus): Promise<Map<string, number>> {
  const text = await (await plexus.fetch("/metrics")).text();
  const samples = text.split("\n").filter((line) => line !== "" && !line.startsWith("#"));
  return new Map(
    samples.map((line) => {
      const [, name = "", value = ""] = /^([a-z_]+(?:\{.*\})?) (\S+)$/.exec(line) ?? [];
      expect({ line, name: name !== "", value: Number.isFinite(Number(value)) }).toEqual({
        line,
        name: true,
        value: true,
      });
      return [name, Number(value)];
    }),
  );
}
