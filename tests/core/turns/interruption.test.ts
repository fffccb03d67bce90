import { describe, expect, test } from "bun:test";
import { createBroadcast } from "../../../src/core/events/broadcast.ts";
import { createInterruptions } from "../../../src/core/turns/interruption.ts";
import { ANY_NUMBER, ANY_PENDING, newApproval, newSession, outcome, runningTurn, UNRULED } from "../../storage/rows.ts";
import { temporaryStorage } from "../../storage/sqlite/support/temporary-storage.ts";

/** A running turn with its session and its interruptions. */
async function openTurn() {
  await using stack = new AsyncDisposableStack();
  const broadcast = createBroadcast();
  const storage = stack.use(await temporaryStorage());
  const session = newSession({ kind: "managed" });
  await storage.sessions.createIfNameFree(session, "none", ANY_NUMBER);
  const turn = await runningTurn(storage, session);
  const errors: unknown[] = [];
  const onError = (cause: unknown) => void errors.push(cause);
  const interruptions = createInterruptions({ storage, broadcast, onError, graceMs: 5 });
  const decide = async (given: Parameters<typeof outcome>[0]) => {
    const asked = newApproval({ id: storage.newId(), sessionId: session.id, isInTurn: true });
    await storage.approvals.file(asked, ANY_PENDING, UNRULED);
    await storage.approvals.settleIfPending(asked.id, outcome({ status: "denied", ...given }), undefined);
    broadcast.wake(session.id);
  };
  /** Resolves with the reason to stop the child. */
  const stopped = () => {
    const { promise, resolve } = Promise.withResolvers<string>();
    return { promise, watching: interruptions.enforce(turn, resolve) };
  };
  const owned = stack.move();
  return { turn, interruptions, decide, stopped, errors, [Symbol.asyncDispose]: () => owned.disposeAsync() };
}

describe("a child that goes on after a denial that ends its turn", () => {
  test("is stopped with the message of that denial", async () => {
    await using world = await openTurn();
    const { promise, watching } = world.stopped();
    using _ = watching;
    await world.decide({ responseMessage: "not this call" });
    await world.decide({ responseMessage: "enough", interrupt: true });
    expect(await promise).toBe("enough");
    expect(world.errors).toEqual([]);
  });

  test("is stopped by the next server if the one that took the denial was killed", async () => {
    await using world = await openTurn();
    await world.decide({ responseMessage: "enough", interrupt: true });
    const { promise, watching } = world.stopped();
    using _ = watching;
    expect(await promise).toBe("enough");
  });

  test("is not stopped once its turn is over", async () => {
    await using world = await openTurn();
    await world.decide({ responseMessage: "enough", interrupt: true });
    const over = world.stopped();
    // `enforce` has read the denial before this read, so its timer runs by now.
    await world.interruptions.reasonIn(world.turn);
    over.watching[Symbol.dispose]();
    // This timer starts later and so fires later.
    const later = world.stopped();
    using _ = later.watching;
    expect(await Promise.race([over.promise.then(() => "over"), later.promise.then(() => "later")])).toBe("later");
  });
});

test("the reason of a turn's end names the decider if no message was given; without an interrupting denial there is none", async () => {
  await using world = await openTurn();
  await world.decide({ responseMessage: "only this call" });
  expect(await world.interruptions.reasonIn(world.turn)).toBeUndefined();
  await world.decide({ interrupt: true, resolvedBy: "token:ci" });
  expect(await world.interruptions.reasonIn(world.turn)).toContain("token:ci");
});
