import { expect, test } from "bun:test";
import type { Principal } from "../../../src/core/access/principals.ts";
import { createBroadcast } from "../../../src/core/events/broadcast.ts";
import { createEventFeed } from "../../../src/core/events/feed.ts";
import { createPolls } from "../../../src/core/turns/poll.ts";
import { filed, NOW, type OpenForRaces, storedTurn } from "./engine.ts";

const OPERATOR: Principal = { kind: "operator" };
const never = new AbortController().signal;
/** Longer than the tests may take, so only a wake-up ends a wait in time. */
const LONG_MS = 60_000;
const TEST_MS = 5_000;

/** The core's waits on this engine: whatever is announced can be read, so a wait misses nothing. */
export function waitingPromises(open: OpenForRaces): void {
  const misses = "misses nothing that is committed between its read and its sleep";

  test(
    `whoever waits for requests ${misses}`,
    async () => {
      const broadcast = createBroadcast();
      await using opened = await open(broadcast.publish);
      const { storage } = opened;
      const ask = once(() => filed(storage));
      const changes = { ...storage.changes, awaited: followedBy(ask, storage.changes.awaited) };
      const feed = createEventFeed({ storage: { ...storage, changes }, broadcast, now: () => NOW, onError: raise });
      await storedTurn(storage);
      const waited = await feed.wait(OPERATOR, { timeoutMs: LONG_MS, limit: 10, signal: never });
      expect(waited).toMatchObject({ type: "ok", approvals: [{ id: (await ask()).id }] });
    },
    TEST_MS,
  );

  test(
    `whoever polls a session ${misses}`,
    async () => {
      const broadcast = createBroadcast();
      await using opened = await open(broadcast.publish);
      const { storage } = opened;
      const { session, turn } = await storedTurn(storage);
      const failed = { status: "failed", error: "no more", counted: undefined, claudeSessionId: undefined } as const;
      const end = once(() => storage.turns.endIfRunning(turn, failed, NOW));
      const turns = { ...storage.turns, progress: followedBy(end, storage.turns.progress) };
      const polls = createPolls({ storage: { ...storage, turns }, broadcast });
      const seen = { consumer: "", fromSeq: 1, limit: 10, waitMs: LONG_MS, signal: never };
      expect(await polls.poll(session, seen)).toMatchObject({ status: "failed", events: [{ seq: 1 }] });
    },
    TEST_MS,
  );
}

/** The same read, which returns its result only after `work` is done. */
function followedBy<Query extends unknown[], Found>(
  work: () => Promise<unknown>,
  read: (...query: Query) => Promise<Found>,
): (...query: Query) => Promise<Found> {
  return async (...query) => {
    const found = await read(...query);
    await work();
    return found;
  };
}

function once<T>(work: () => Promise<T>): () => Promise<T> {
  let done: Promise<T> | undefined;
  return () => {
    done ??= work();
    return done;
  };
}

function raise(cause: unknown): never {
  throw cause;
}
