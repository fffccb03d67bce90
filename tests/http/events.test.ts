import { describe, expect, test } from "bun:test";
import { startHttpServer } from "../../src/http/server.ts";
import { OPERATOR_TOKEN, type Plexus, startPlexus } from "../support/plexus.ts";
import { temporaryDirectory } from "../support/temporary.ts";
import { until } from "../support/until.ts";
import { ask, expectRefusal, namedToken, sessionOf } from "./callers.ts";
import { openEvents, type ReadEvent } from "./event-reader.ts";

const OPERATOR = { kind: "operator" } as const;

/** The signals of the readers that the server follows for; an aborted one has no subscription any more. */
function watchReaders(plexus: Plexus): AbortSignal[] {
  const signals: AbortSignal[] = [];
  const follow = plexus.app.watching.follow;
  plexus.app.watching.follow = (principal, after, signal) => {
    signals.push(signal);
    return follow(principal, after, signal);
  };
  return signals;
}

async function askAndDecide(plexus: Plexus, session: Parameters<typeof ask>[1], count: number): Promise<void> {
  await Promise.all(
    Array.from({ length: count }, async (_, index) => {
      const { approvalId } = await ask(plexus, session, { input: { index } });
      await plexus.app.approvals.decide(OPERATOR, approvalId, { approve: index % 3 === 0 });
    }),
  );
}

describe("GET /api/v1/events", () => {
  test("tells of each ask and each decision as it happens, with growing ids", async () => {
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

  test("is an event stream that nobody may cache, and says after what time to reconnect", async () => {
    await using plexus = await startPlexus();
    const { session } = await sessionOf(plexus, OPERATOR);
    await using reader = await openEvents(plexus.url);
    expect(reader.response.headers.get("content-type")).toBe("text/event-stream");
    expect(reader.response.headers.get("cache-control")).toContain("no-cache");
    await ask(plexus, session);
    await reader.next();
    expect(reader.asides).toEqual(["retry: 1000"]);
  });

  test("begins with what happens after it was opened", async () => {
    await using plexus = await startPlexus();
    const { session } = await sessionOf(plexus, OPERATOR);
    await ask(plexus, session, { input: { when: "before" } });
    await using reader = await openEvents(plexus.url);
    await ask(plexus, session, { input: { when: "after" } });
    expect((await reader.next())?.event).toMatchObject({ tool_input: { when: "after" } });
  });

  test("shows a long input cut, and its size", async () => {
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

describe("Last-Event-ID", () => {
  test("0 replays everything that is on record, across pages", async () => {
    await using plexus = await startPlexus();
    const { session } = await sessionOf(plexus, OPERATOR);
    await askAndDecide(plexus, session, 300);
    await using reader = await openEvents(plexus.url, { after: 0 });
    const events = await reader.take(600);
    expectEachOnce(events, 300);
  });

  test("goes on with the event after it", async () => {
    await using plexus = await startPlexus();
    const { session } = await sessionOf(plexus, OPERATOR);
    await askAndDecide(plexus, session, 5);
    await using first = await openEvents(plexus.url, { after: 0 });
    const all = await first.take(10);
    await using second = await openEvents(plexus.url, { after: all[3]?.id ?? 0 });
    expect(await second.take(6)).toEqual(all.slice(4));
  });

  test("may be a query parameter, for readers that can't set headers", async () => {
    await using plexus = await startPlexus();
    const { session } = await sessionOf(plexus, OPERATOR);
    await ask(plexus, session);
    const response = await plexus.fetch("/api/v1/events?last_event_id=0");
    const stream = response.body?.getReader();
    let text = "";
    while (!text.includes("approval_requested")) text += new TextDecoder().decode((await stream?.read())?.value);
    await stream?.cancel();
  });

  test.each(["abc", "-1", "1.5", "1e3", "0x10", "99999999999999999999", "1,2", "notifications"])(
    "is refused when it is %s",
    async (after) => {
      await using plexus = await startPlexus();
      await using reader = await openEvents(plexus.url, { after });
      await expectRefusal(reader.response, 422, "invalid_arguments");
    },
  );

  test("of another database misses nothing that happens from now on", async () => {
    await using plexus = await startPlexus();
    const { session } = await sessionOf(plexus, OPERATOR);
    await using reader = await openEvents(plexus.url, { after: 1_000_000 });
    const { approvalId } = await ask(plexus, session);
    expect((await reader.next())?.event.approval_id).toBe(approvalId);
  });

  test("misses nothing and repeats nothing for readers that keep reconnecting in a storm", async () => {
    await using plexus = await startPlexus();
    const sessions = await Promise.all(Array.from({ length: 4 }, () => sessionOf(plexus, OPERATOR)));
    const storm = Promise.all(sessions.map(({ session }) => askAndDecide(plexus, session, 75)));
    const readers = [5, 17, 64, 500].map(async (patience) => {
      const events: ReadEvent[] = [];
      let after = 0;
      while (events.length < 600) {
        await using reader = await openEvents(plexus.url, { after });
        events.push(...(await reader.take(Math.min(patience, 600 - events.length))));
        after = reader.lastId ?? after;
      }
      return events;
    });
    await storm;
    const [first, ...others] = await Promise.all(readers);
    expectEachOnce(first ?? [], 300);
    for (const other of others) expect(other).toEqual(first ?? []);
  }, 30_000);

  test("misses nothing and repeats nothing of what happens while it replays", async () => {
    await using plexus = await startPlexus();
    const { session } = await sessionOf(plexus, OPERATOR);
    const large = { content: "x".repeat(35_000) };
    await Promise.all(Array.from({ length: 400 }, () => ask(plexus, session, { input: large })));
    // The reader stops within the first page of what is on record, so that the next ones are on record and live.
    using stalled = await stalledReader(plexus.url, 0);
    await Promise.all(Array.from({ length: 100 }, () => ask(plexus, session)));
    const { approvalId } = await ask(plexus, session);
    const text = await stalled.readTo(new RegExp(`${approvalId}.*\n\n$`));
    expect(idsIn(text)).toEqual(Array.from({ length: 501 }, (_, index) => index + 1));
  }, 30_000);

  test("misses nothing and repeats nothing across a restart", async () => {
    await using directory = await temporaryDirectory();
    const events: ReadEvent[] = [];
    for (let run = 0; run < 3; run++) {
      await using plexus = await startPlexus({ dataDir: directory.path });
      const { session } = await sessionOf(plexus, OPERATOR);
      const after = events.at(-1)?.id ?? 0;
      await using reader = await openEvents(plexus.url, { after });
      const storm = askAndDecide(plexus, session, 50);
      // The reader is behind when the server stops, by a different number each time.
      events.push(...(await reader.take(70 + run * 10)));
      await storm;
    }
    await using plexus = await startPlexus({ dataDir: directory.path });
    await using reader = await openEvents(plexus.url, { after: events.at(-1)?.id ?? 0 });
    events.push(...(await reader.take(300 - events.length)));
    expectEachOnce(events, 150);
  });
});

describe("who may see an event", () => {
  test("is the creator of the session and the operator, live and replayed", async () => {
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

  test("is no child", async () => {
    await using plexus = await startPlexus();
    const { token } = await plexus.child();
    await using reader = await openEvents(plexus.url, { token, after: 0 });
    await expectRefusal(reader.response, 403, "forbidden");
  });

  test("ends with the token: its open stream closes when it is revoked", async () => {
    await using plexus = await startPlexus();
    const readers = watchReaders(plexus);
    const ann = await namedToken(plexus, "ann");
    await using reader = await openEvents(plexus.url, { token: ann.token });
    await plexus.fetch("/api/v1/tokens/ann", { method: "DELETE" });
    expect(await reader.next()).toBeUndefined();
    expect(readers.map((signal) => signal.aborted)).toEqual([true]);
  });

  test("is not affected by another token's end", async () => {
    await using plexus = await startPlexus();
    await namedToken(plexus, "ann");
    const bob = await namedToken(plexus, "bob");
    const his = await sessionOf(plexus, bob.principal);
    await using reader = await openEvents(plexus.url, { token: bob.token });
    await plexus.fetch("/api/v1/tokens/ann", { method: "DELETE" });
    const { approvalId } = await ask(plexus, his.session);
    expect((await reader.next())?.event.approval_id).toBe(approvalId);
  });
});

describe("a reader", () => {
  test("that has gone frees its subscription", async () => {
    await using plexus = await startPlexus();
    const { session } = await sessionOf(plexus, OPERATOR);
    const readers = watchReaders(plexus);
    for (let round = 0; round < 50; round++) {
      await using reader = await openEvents(plexus.url);
      // Some go while they wait, some after they have read.
      if (round % 2 === 0) {
        await ask(plexus, session);
        await reader.next();
      }
    }
    await until("all of them to be freed", () => readers.every((signal) => signal.aborted));
    expect(readers).toHaveLength(50);
  });

  test("is told good-bye when the server stops", async () => {
    const plexus = await startPlexus();
    await using reader = await openEvents(plexus.url);
    const end = reader.next().catch(() => undefined);
    await plexus[Symbol.asyncDispose]();
    expect(await end).toBeUndefined();
  });

  test("hears from the server in a silence", async () => {
    await using plexus = await startPlexus();
    await using server = startHttpServer(plexus.app, refuseMcp, { idleSecs: 60, keepAliveMs: 20 });
    const { session } = await sessionOf(plexus, OPERATOR);
    await using reader = await openEvents(server.url);
    const next = reader.next();
    await until("two keep-alives", () => reader.asides.filter((aside) => aside === ": alive").length >= 2);
    const { approvalId } = await ask(plexus, session);
    expect((await next)?.event.approval_id).toBe(approvalId);
  });
});

describe("a reader that does not read", () => {
  test("is dropped with a reason, costs no more than its buffers, and resumes where it was", async () => {
    await using plexus = await startPlexus();
    const { session } = await sessionOf(plexus, OPERATOR);
    const taken = countTaken(plexus);
    using stalled = await stalledReader(plexus.url);
    const large = { content: "x".repeat(35_000) };
    await Promise.all(Array.from({ length: 400 }, () => ask(plexus, session, { input: large })));
    await Promise.all(Array.from({ length: 1_500 }, () => ask(plexus, session)));
    // What the sockets of both sides can hold, and not all that there is.
    expect(taken.count).toBeLessThan(380);
    const text = await stalled.readTo(/event: dropped\n.*\n\n$/);
    expect(text).toContain(
      'event: dropped\ndata: {"type":"dropped","reason":"more than 1000 events waited for this reader',
    );
    const seen = idsIn(text);
    expect(seen).toEqual(Array.from(seen, (_, index) => index + 1));
    await using resumed = await openEvents(plexus.url, { after: seen.at(-1) ?? 0 });
    const rest = await resumed.take(1_900 - seen.length);
    expect(rest.map(({ id }) => id)).toEqual(Array.from(rest, (_, index) => seen.length + index + 1));
    expect(seen.length + rest.length).toBe(1_900);
  }, 30_000);

  test("is cut off after the idle limit, while one that reads stays through any silence", async () => {
    await using plexus = await startPlexus();
    await using server = startHttpServer(plexus.app, refuseMcp, { idleSecs: 8, keepAliveMs: 500 });
    const { session } = await sessionOf(plexus, OPERATOR);
    const readers = watchReaders(plexus);
    using _ = await stalledReader(server.url);
    const [stalled] = readers;
    const large = { content: "x".repeat(35_000) };
    await Promise.all(Array.from({ length: 400 }, () => ask(plexus, session, { input: large })));
    await using reader = await openEvents(server.url);
    const next = reader.next();
    await until("the stalled one to be cut off", () => stalled?.aborted);
    const { approvalId } = await ask(plexus, session);
    expect((await next)?.event.approval_id).toBe(approvalId);
  }, 30_000);

  test("frees its subscription when it goes", async () => {
    await using plexus = await startPlexus();
    const { session } = await sessionOf(plexus, OPERATOR);
    const readers = watchReaders(plexus);
    using stalled = await stalledReader(plexus.url);
    const large = { content: "x".repeat(35_000) };
    await Promise.all(Array.from({ length: 400 }, () => ask(plexus, session, { input: large })));
    stalled[Symbol.dispose]();
    await until("it to be freed", () => readers.every((signal) => signal.aborted));
  }, 30_000);
});

const refuseMcp = {
  handle: () => Promise.reject(new Error("there is no MCP in this test")),
  [Symbol.asyncDispose]: () => Promise.resolve(),
};

/** Every approval was asked once and then decided once, in the order of the ids. */
function expectEachOnce(events: ReadEvent[], approvals: number): void {
  const ids = events.map(({ id }) => id);
  expect(ids).toEqual(ids.toSorted((a, b) => a - b));
  expect(new Set(ids).size).toBe(events.length);
  const told = Map.groupBy(events, ({ event }) => event.approval_id);
  expect(told.size).toBe(approvals);
  for (const [id, about] of told) {
    const types = about.map(({ event }) => event.type);
    expect({ id, types }).toEqual({ id, types: ["approval_requested", "approval_resolved"] });
  }
}

/** Counts the events that the server has taken out of the subscription. */
function countTaken(plexus: Plexus): { count: number } {
  const taken = { count: 0 };
  const follow = plexus.app.watching.follow;
  plexus.app.watching.follow = async function* (principal, after, signal) {
    for await (const event of follow(principal, after, signal)) {
      taken.count++;
      yield event;
    }
  };
  return taken;
}

/** Opens the stream on a socket that takes nothing after the headers, until it is told to. */
async function stalledReader(url: string, after?: number) {
  const { hostname, port, host } = new URL(url);
  const received: Buffer[] = [];
  const { promise: begun, resolve: begin } = Promise.withResolvers<void>();
  let isEnded = false;
  const socket = await Bun.connect({
    hostname,
    port: Number(port),
    socket: {
      data(own, data) {
        if (received.push(data) === 1) own.pause();
        begin();
      },
      close() {
        isEnded = true;
      },
    },
  });
  const lastEventId = after === undefined ? "" : `Last-Event-ID: ${after}\r\n`;
  const head = `GET /api/v1/events HTTP/1.1\r\nHost: ${host}\r\nAuthorization: Bearer ${OPERATOR_TOKEN}\r\n`;
  socket.write(`${head}${lastEventId}\r\n`);
  await begun;
  return {
    /** Reads on until the text has this at its end, or the server has closed. */
    async readTo(end: RegExp): Promise<string> {
      socket.resume();
      const text = () => unchunked(Buffer.concat(received).toString());
      await until(`${end}`, () => isEnded || end.test(text().slice(-1_000)));
      return text();
    },
    [Symbol.dispose]: () => socket.terminate(),
  };
}

function idsIn(text: string): number[] {
  return [...text.matchAll(/^id: (\d+)$/gm)].map(([, id]) => Number(id));
}

function unchunked(text: string): string {
  let rest = text.slice(text.indexOf("\r\n\r\n") + 4);
  let body = "";
  for (;;) {
    const size = Number.parseInt(rest, 16);
    if (!size) return body;
    const start = rest.indexOf("\r\n") + 2;
    body += rest.slice(start, start + size);
    rest = rest.slice(start + size + 2);
  }
}
