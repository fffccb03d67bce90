import { expect, test } from "bun:test";
import { createBroadcast } from "../../../src/core/events/broadcast.ts";
import { createSessionStream } from "../../../src/core/turns/stream.ts";
import { ANY_NUMBER, newSession, runningTurn } from "../../storage/rows.ts";
import { temporaryStorage } from "../../storage/sqlite/support/temporary-storage.ts";

test("a session's stream has the end of a turn that ends, and is followed by another, during a read", async () => {
  await using storage = await temporaryStorage();
  const session = newSession();
  await storage.sessions.createIfNameFree(session, "none", ANY_NUMBER);
  const first = await runningTurn(storage, session);
  let hasMoved = false;
  const eventPage: typeof storage.turns.eventPage = async (...page) => {
    const found = await storage.turns.eventPage(...page);
    if (found.length > 0 || hasMoved) return found;
    hasMoved = true;
    const end = { status: "failed", error: "the end", counted: undefined, claudeSessionId: undefined } as const;
    await storage.turns.endIfRunning(first, end, 2_000);
    await runningTurn(storage, session);
    return found;
  };
  const turns = { ...storage.turns, eventPage };
  const stream = createSessionStream({ storage: { ...storage, turns }, broadcast: createBroadcast() });
  const signal = new AbortController().signal;
  const told: string[] = [];
  for await (const { event } of stream.follow(session, { turnId: first.id, seq: 0 }, { isLive: false, signal }))
    told.push(event.type);
  expect(told).toEqual(["start", "error", "start"]);
});

test("each event is told with when it was stored, but not those of an earlier version", async () => {
  await using storage = await temporaryStorage();
  const session = newSession();
  await storage.sessions.createIfNameFree(session, "none", ANY_NUMBER);
  const turn = await runningTurn(storage, session);
  const timed = { at: 5_900, event: { type: "content", text: "now" } } as const;
  const untimed = { at: null, event: { type: "content", text: "then" } } as const;
  const eventPage = async (_: string, from: number) =>
    [
      { seq: 0, ...untimed },
      { seq: 1, ...timed },
    ].slice(from);
  const stream = createSessionStream({
    storage: { ...storage, turns: { ...storage.turns, eventPage } },
    broadcast: createBroadcast(),
  });
  const told = [
    { seq: 0, event: untimed.event },
    { seq: 1, at: 5, event: timed.event },
  ];
  expect(await stream.page(turn, 0, 10)).toEqual(told);
  const { signal } = new AbortController();
  const followed = await Array.fromAsync(
    stream.follow(session, { turnId: turn.id, seq: 0 }, { isLive: false, signal }),
  );
  expect(followed).toEqual(told.map((one) => ({ turn_id: turn.id, ...one })));
});
