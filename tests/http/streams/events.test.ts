import { describe, expect, test } from "bun:test";
import { startPlexus } from "../../support/server/plexus.ts";
import { until } from "../../support/until.ts";
import { ask, expectRefusal, namedToken, sessionOf } from "../support/callers.ts";
import { approvalOf, openEvents } from "../support/event-reader.ts";
import { watchReaders } from "../support/followed.ts";
import { startPaced } from "../support/paced-server.ts";

const OPERATOR = { kind: "operator" } as const;

describe("GET /api/v1/events", () => {
  test("sends each request and each decision as it happens, with growing ids", async () => {
    await using plexus = await startPlexus();
    const { session } = await sessionOf(plexus, OPERATOR, "worker");
    await using reader = await openEvents(plexus.url);
    const { approvalId } = await ask(plexus, session, { tool_use_id: "toolu_1" });
    const asked = await reader.next();
    expect(asked?.event).toMatchObject({
      type: "approval_requested",
      approval_id: approvalId,
      session_name: "worker",
      tool_name: "Bash",
      tool_input: { command: "ls" },
      tool_use_id: "toolu_1",
    });
    await plexus.app.approvals.decide(OPERATOR, approvalId, { approve: false, message: "No." });
    const decided = await reader.next();
    expect(decided?.event).toMatchObject({
      type: "approval_resolved",
      approval_id: approvalId,
      status: "denied",
      response_message: "No.",
      resolved_by: "operator",
    });
    expect(decided?.id).toBeGreaterThan(asked?.id ?? Number.POSITIVE_INFINITY);
  });

  test("is an event stream that must not be cached, with a reconnection time", async () => {
    await using plexus = await startPlexus();
    const { session } = await sessionOf(plexus, OPERATOR);
    await using reader = await openEvents(plexus.url);
    expect(reader.response.headers.get("content-type")).toBe("text/event-stream");
    expect(reader.response.headers.get("cache-control")).toContain("no-cache");
    await ask(plexus, session);
    await reader.next();
    expect(reader.asides).toEqual(["retry: 1000"]);
  });

  test("starts with events after its opening", async () => {
    await using plexus = await startPlexus();
    const { session } = await sessionOf(plexus, OPERATOR);
    await ask(plexus, session, { input: { when: "before" } });
    await using reader = await openEvents(plexus.url);
    await ask(plexus, session, { input: { when: "after" } });
    expect((await reader.next())?.event).toMatchObject({ tool_input: { when: "after" } });
  });

  test("shows a long input shortened, with its size", async () => {
    await using plexus = await startPlexus();
    const { session } = await sessionOf(plexus, OPERATOR);
    await using reader = await openEvents(plexus.url);
    await ask(plexus, session, { input: { content: '"\u0000'.repeat(500_000) } });
    const told = (await reader.next())?.event;
    expect(told).toMatchObject({
      truncated: true,
      input_size: JSON.stringify({ content: '"\u0000'.repeat(500_000) }).length,
    });
    expect(JSON.stringify(told).length).toBeLessThan(42_000);
  });
});

describe("an event", () => {
  test("is shown to the creator of its session and to the operator, live and replayed", async () => {
    await using plexus = await startPlexus();
    const [ann, bob] = [await namedToken(plexus, "ann"), await namedToken(plexus, "bob")];
    const [hers, his] = [await sessionOf(plexus, ann.principal), await sessionOf(plexus, bob.principal)];
    await ask(plexus, hers.session, { input: { of: "ann", when: "before" } });
    await ask(plexus, his.session, { input: { of: "bob", when: "before" } });
    const inputsFor = async (token: string | undefined, count: number) => {
      await using reader = await openEvents(plexus.url, { after: 0, ...(token && { token }) });
      const events = await reader.take(count);
      return events.map(({ event }) => event.type === "approval_requested" && event.tool_input);
    };
    const [forAnn, forBob, forOperator] = [inputsFor(ann.token, 2), inputsFor(bob.token, 2), inputsFor(undefined, 4)];
    await ask(plexus, hers.session, { input: { of: "ann", when: "after" } });
    await ask(plexus, his.session, { input: { of: "bob", when: "after" } });
    const [ofAnn, ofBob] = ["ann", "bob"].map((of) => [
      { of, when: "before" },
      { of, when: "after" },
    ]);
    expect(await forAnn).toEqual(ofAnn ?? []);
    expect(await forBob).toEqual(ofBob ?? []);
    expect(await forOperator).toHaveLength(4);
  });

  test("is never shown to a child", async () => {
    await using plexus = await startPlexus();
    const { token } = await plexus.child();
    await using reader = await openEvents(plexus.url, { token, after: 0 });
    await expectRefusal(reader.response, 403, "forbidden");
  });

  test("is no longer shown to a revoked token, whose open stream closes", async () => {
    await using plexus = await startPlexus();
    const readers = watchReaders(plexus);
    const ann = await namedToken(plexus, "ann");
    await using reader = await openEvents(plexus.url, { token: ann.token });
    await plexus.fetch("/api/v1/tokens/ann", { method: "DELETE" });
    expect(await reader.next()).toBeUndefined();
    expect(readers.map((signal) => signal.aborted)).toEqual([true]);
  });

  test("is still shown to a token when another one is revoked", async () => {
    await using plexus = await startPlexus();
    await namedToken(plexus, "ann");
    const bob = await namedToken(plexus, "bob");
    const his = await sessionOf(plexus, bob.principal);
    await using reader = await openEvents(plexus.url, { token: bob.token });
    await plexus.fetch("/api/v1/tokens/ann", { method: "DELETE" });
    const { approvalId } = await ask(plexus, his.session);
    expect(approvalOf(await reader.next())).toBe(approvalId);
  });
});

describe("a reader", () => {
  test("that disconnects frees its subscription", async () => {
    await using plexus = await startPlexus();
    const { session } = await sessionOf(plexus, OPERATOR);
    const readers = watchReaders(plexus);
    for (let round = 0; round < 50; round++) {
      await using reader = await openEvents(plexus.url);
      // Some disconnect while they wait, some after they have read.
      if (round % 2 === 0) {
        await ask(plexus, session);
        await reader.next();
      }
    }
    await until("all of them to be freed", () => readers.every((signal) => signal.aborted));
    expect(readers).toHaveLength(50);
  });

  test("sees the stream end when the server stops", async () => {
    const plexus = await startPlexus();
    await using reader = await openEvents(plexus.url);
    const end = reader.next().catch(() => undefined);
    await plexus[Symbol.asyncDispose]();
    expect(await end).toBeUndefined();
  });

  test("gets keep-alives while nothing happens", async () => {
    await using plexus = await startPlexus();
    await using server = startPaced(plexus.app, { idleSecs: 60, keepAliveMs: 20 });
    const { session } = await sessionOf(plexus, OPERATOR);
    await using reader = await openEvents(server.url);
    const next = reader.next();
    await until("two keep-alives", () => reader.asides.filter((aside) => aside === ": alive").length >= 2);
    const { approvalId } = await ask(plexus, session);
    expect(approvalOf(await next)).toBe(approvalId);
  });
});
