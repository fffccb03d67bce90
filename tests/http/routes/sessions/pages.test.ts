import { describe, expect, setDefaultTimeout, test } from "bun:test";
import { TurnEvents } from "../../../../src/contract/routes/turns.ts";
import { newSession } from "../../../storage/rows.ts";
import { openDirect } from "../../../storage/sqlite/support/direct.ts";
import { type Plexus, startPlexus } from "../../../support/server/plexus.ts";
import { temporaryDirectory } from "../../../support/temporary.ts";
import { until } from "../../../support/until.ts";
import { openSessionEvents } from "../../streams/session-reader.ts";
import { openStalled } from "../../support/stalled-reader.ts";

setDefaultTimeout(60_000);

describe("a turn with more events than fit in memory", () => {
  test("is read in pages of a few megabytes, each with at least one event", async () => {
    await using large = await openRecorded(Array.from({ length: 5 }, () => 6 * 1024 * 1024));
    const seen: number[][] = [];
    for (let from = 0, more = true; more; ) {
      const response = await large.plexus.fetch(`/api/v1/turns/${large.turnId}/events?from_seq=${from}&limit=1000`);
      const page = TurnEvents.parse(await response.json());
      seen.push(page.events.map(({ seq }) => seq));
      from += page.events.length;
      more = page.has_more;
      expect(page.total_events).toBe(5);
    }
    expect(seen).toEqual([[0], [1], [2], [3], [4]]);
  });

  test("stays in the database for a stalled reader, delays no other reader, and is finally delivered in full", async () => {
    const count = 20_000;
    await using large = await openRecorded([...Array.from({ length: count - 1 }, () => 2_000), 10]);
    const taken = countTaken(large.plexus);
    const path = `/api/v1/sessions/${large.sessionId}/events?follow=false`;
    using stalled = await openStalled(large.plexus.url, path);
    await (await large.plexus.fetch(path)).bytes();
    // Only what the sockets of both sides can buffer, not everything.
    expect(taken[0]).toBeLessThan(count / 2);
    expect(taken[1]).toBe(count);
    const text = await stalled.readTo(new RegExp(`${large.turnId}~${count - 1}\n.*\n.*\n\n$`));
    const seqs = [...text.matchAll(/^id: [0-9a-f-]+~(\d+)$/gm)].map(([, seq]) => Number(seq));
    expect(seqs).toEqual(Array.from({ length: count }, (_, seq) => seq));
  });

  test("is no longer read when its reader disconnects half-way", async () => {
    await using large = await openRecorded(Array.from({ length: 20_000 }, () => 2_000));
    const { app } = large.plexus;
    const { follow } = app.sessionStream;
    let isOver = false;
    app.sessionStream.follow = async function* (...given) {
      try {
        yield* follow(...given);
      } finally {
        isOver = true;
      }
    };
    const stalled = await openStalled(large.plexus.url, `/api/v1/sessions/${large.sessionId}/events`);
    expect(isOver).toBe(false);
    stalled[Symbol.dispose]();
    await until("the end of its reading", () => isOver);
  });

  test("is continued for a reader that resumes half-way, across pages", async () => {
    await using large = await openRecorded(Array.from({ length: 1_000 }, () => 10));
    const after = `${large.turnId}~399`;
    await using reader = await openSessionEvents(large.plexus.url, large.sessionId, {
      after,
      query: { follow: "false" },
    });
    const seqs: number[] = [];
    for (let one = await reader.next(); one; one = await reader.next()) seqs.push(one.told.seq);
    expect(seqs).toEqual(Array.from({ length: 600 }, (_, index) => 400 + index));
  });
});

/** A server with one ended turn that has events of these sizes. */
async function openRecorded(sizes: number[]) {
  await using stack = new AsyncDisposableStack();
  const directory = stack.use(await temporaryDirectory());
  const session = newSession();
  const turnId = Bun.randomUUIDv7();
  {
    using direct = openDirect(directory.path);
    const turn = { id: turnId, sessionId: session.id, owner: session.owner, ephemeral: false, startedAt: 1_000 };
    direct.sessions.create(session);
    direct.turns.createIfNoneRuns({ ...turn, checkpoint: { offset: 0 } });
    const events = sizes.map((size) => ({ type: "content" as const, text: "x".repeat(size) }));
    direct.turns.appendEventsIfRunning(turnId, events, 1);
    direct.turns.endIfRunning(turnId, { status: "complete", error: null, usage: null, endedAt: Date.now() });
  }
  const plexus = stack.use(await startPlexus({ dataDir: directory.path }));
  const owned = stack.move();
  return { plexus, sessionId: session.id, turnId, [Symbol.asyncDispose]: () => owned.disposeAsync() };
}

/** How many events the server has read for each of its readers, in the order in which these connected. */
function countTaken({ app }: Plexus): number[] {
  const taken: number[] = [];
  const { follow } = app.sessionStream;
  app.sessionStream.follow = async function* (...given) {
    const reader = taken.push(0) - 1;
    for await (const event of follow(...given)) {
      taken[reader] = (taken[reader] ?? 0) + 1;
      yield event;
    }
  };
  return taken;
}
