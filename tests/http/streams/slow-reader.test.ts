import { describe, expect, test } from "bun:test";
import { startPlexus } from "../../support/server/plexus.ts";
import { until } from "../../support/until.ts";
import { ask, sessionOf } from "../support/callers.ts";
import { approvalOf, openEvents } from "../support/event-reader.ts";
import { countTaken, watchReaders } from "../support/followed.ts";
import { startPaced } from "../support/paced-server.ts";
import { idsIn, openStalled } from "../support/stalled-reader.ts";

const OPERATOR = { kind: "operator" } as const;
const EVENTS = "/api/v1/events";

describe("a client that does not read", () => {
  test("is dropped with a reason, takes no more than its buffers, and resumes where it was", async () => {
    await using plexus = await startPlexus();
    const { session } = await sessionOf(plexus, OPERATOR);
    const taken = countTaken(plexus);
    using stalled = await openStalled(plexus.url, EVENTS);
    const large = { content: "x".repeat(35_000) };
    await Promise.all(Array.from({ length: 400 }, () => ask(plexus, session, { input: large })));
    await Promise.all(Array.from({ length: 1_500 }, () => ask(plexus, session)));
    // Only what the sockets of both sides can buffer, not everything.
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

  test("is disconnected after the idle limit, while one that reads stays connected", async () => {
    await using plexus = await startPlexus();
    await using server = startPaced(plexus.app, { idleSecs: 8, keepAliveMs: 500 });
    const { session } = await sessionOf(plexus, OPERATOR);
    const readers = watchReaders(plexus);
    using _ = await openStalled(server.url, EVENTS);
    const [stalled] = readers;
    const large = { content: "x".repeat(35_000) };
    await Promise.all(Array.from({ length: 400 }, () => ask(plexus, session, { input: large })));
    await using reader = await openEvents(server.url);
    const next = reader.next();
    await until("the stalled one to be cut off", () => stalled?.aborted);
    const { approvalId } = await ask(plexus, session);
    expect(approvalOf(await next)).toBe(approvalId);
  }, 30_000);

  test("frees its subscription when it disconnects", async () => {
    await using plexus = await startPlexus();
    const { session } = await sessionOf(plexus, OPERATOR);
    const readers = watchReaders(plexus);
    using stalled = await openStalled(plexus.url, EVENTS);
    const large = { content: "x".repeat(35_000) };
    await Promise.all(Array.from({ length: 400 }, () => ask(plexus, session, { input: large })));
    stalled[Symbol.dispose]();
    await until("it to be freed", () => readers.every((signal) => signal.aborted));
  }, 30_000);
});
