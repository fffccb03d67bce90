import { describe, expect, test } from "bun:test";
import { type Plexus, startPlexus } from "../../support/server/plexus.ts";
import { temporaryDirectory } from "../../support/temporary.ts";
import { ask, expectRefusal, sessionOf } from "../support/callers.ts";
import { approvalOf, openEvents, type ReadEvent } from "../support/event-reader.ts";
import { idsIn, openStalled } from "../support/stalled-reader.ts";

const OPERATOR = { kind: "operator" } as const;

describe("Last-Event-ID", () => {
  test("0 replays everything stored, across pages", async () => {
    await using plexus = await startPlexus();
    const { session } = await sessionOf(plexus, OPERATOR);
    await askAndDecide(plexus, session, 300);
    await using reader = await openEvents(plexus.url, { after: 0 });
    const events = await reader.take(600);
    expectEachOnce(events, 300);
  });

  test("continues with the event after it", async () => {
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

  test("from another database misses nothing from now on", async () => {
    await using plexus = await startPlexus();
    const { session } = await sessionOf(plexus, OPERATOR);
    await using reader = await openEvents(plexus.url, { after: 1_000_000 });
    const { approvalId } = await ask(plexus, session);
    expect(approvalOf(await reader.next())).toBe(approvalId);
  });

  test("misses and repeats nothing for readers that keep reconnecting under load", async () => {
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
    for (const other of others) expect(other.map(onRecord)).toEqual((first ?? []).map(onRecord));
  }, 30_000);

  test("misses and repeats nothing that happens during the replay", async () => {
    await using plexus = await startPlexus();
    const { session } = await sessionOf(plexus, OPERATOR);
    const large = { content: "x".repeat(35_000) };
    await Promise.all(Array.from({ length: 400 }, () => ask(plexus, session, { input: large })));
    // The reader stops within the first stored page, so that the next events are stored first and then live.
    using stalled = await openStalled(plexus.url, "/api/v1/events", { "Last-Event-ID": "0" });
    await Promise.all(Array.from({ length: 100 }, () => ask(plexus, session)));
    const { approvalId } = await ask(plexus, session);
    const text = await stalled.readTo(new RegExp(`${approvalId}.*\n\n$`));
    expect(idsIn(text)).toEqual(Array.from({ length: 501 }, (_, index) => index + 1));
  }, 30_000);

  test("misses and repeats nothing across a restart", async () => {
    await using directory = await temporaryDirectory();
    const events: ReadEvent[] = [];
    for (let run = 0; run < 3; run++) {
      await using plexus = await startPlexus({ dataDir: directory.path });
      const { session } = await sessionOf(plexus, OPERATOR);
      const after = events.at(-1)?.id ?? 0;
      await using reader = await openEvents(plexus.url, { after });
      const storm = askAndDecide(plexus, session, 50);
      // The reader is behind when the server stops, each time by another number of events.
      events.push(...(await reader.take(70 + run * 10)));
      await storm;
    }
    await using plexus = await startPlexus({ dataDir: directory.path });
    await using reader = await openEvents(plexus.url, { after: events.at(-1)?.id ?? 0 });
    events.push(...(await reader.take(300 - events.length)));
    expectEachOnce(events, 150);
  });
});

/** The event without the fields that only pending requests have. */
function onRecord({ id, event }: ReadEvent): object {
  const { dangers: _, no_rule: __, ...recorded } = { dangers: undefined, no_rule: undefined, ...event };
  return { id, event: recorded };
}

async function askAndDecide(plexus: Plexus, session: Parameters<typeof ask>[1], count: number): Promise<void> {
  await Promise.all(
    Array.from({ length: count }, async (_, index) => {
      const { approvalId } = await ask(plexus, session, { input: { index } });
      await plexus.app.approvals.decide(OPERATOR, approvalId, { approve: index % 3 === 0 });
    }),
  );
}

/** Expects that every approval was requested once and then decided once, in id order. */
function expectEachOnce(events: ReadEvent[], approvals: number): void {
  const ids = events.map(({ id }) => id);
  expect(ids).toEqual(ids.toSorted((a, b) => a - b));
  expect(new Set(ids).size).toBe(events.length);
  const told = Map.groupBy(events, approvalOf);
  expect(told.size).toBe(approvals);
  for (const [id, about] of told) {
    const types = about.map(({ event }) => event.type);
    expect({ id, types }).toEqual({ id, types: ["approval_requested", "approval_resolved"] });
  }
}
