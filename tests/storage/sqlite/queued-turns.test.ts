import { describe, expect, test } from "bun:test";
import { newSession } from "../rows.ts";
import { type TemporaryDirect, temporaryDirect } from "./support/direct.ts";

describe("a queued turn", () => {
  test("starts once, and returns its prompt once", async () => {
    await using storage = await temporaryDirect();
    const id = await queued(storage, { prompt: "do it" });
    expect(storage.turns.startIfQueued(id, 5)).toMatchObject({
      prompt: "do it",
      turn: { id, status: "running", startedAt: 5 },
    });
    expect(storage.turns.startIfQueued(id, 6)).toBeUndefined();
    expect(storage.turns.queueSize()).toEqual({ count: 0, bytes: 0 });
  });

  test("takes a slot when it starts, unless it has borrowed", async () => {
    await using storage = await temporaryDirect();
    const [first, second] = [await queued(storage, {}), await queued(storage, {})];
    expect(storage.turns.startIfQueued(first, 5, true)?.turn.isBorrowed).toBe(true);
    expect(storage.turns.countInSlots()).toBe(0);
    expect(storage.turns.startIfQueued(second, 5)?.turn.isBorrowed).toBe(false);
    expect(storage.turns.countInSlots()).toBe(1);
  });

  test("is neither ended nor running: it accepts no event and no end, and is not deleted", async () => {
    await using storage = await temporaryDirect();
    const id = await queued(storage, {});
    const { sessionId = "" } = storage.turns.get(id) ?? {};
    expect(storage.turns.isBusy(sessionId)).toBe(true);
    expect(storage.turns.running(sessionId)).toBeUndefined();
    expect(storage.turns.appendEventsIfRunning(id, [{ type: "content", text: "x" }], 1)).toBe(false);
    expect(storage.turns.endIfRunning(id, { status: "failed", error: null, usage: null, endedAt: 1 })).toBeUndefined();
    expect(storage.turns.removeEndedOf(sessionId, 10)).toBe(0);
    expect(storage.turns.removeEndedBefore(Number.MAX_SAFE_INTEGER, 10)).toBe(0);
    expect(storage.turns.get(id)?.status).toBe("queued");
  });

  test("is listed in queue order, and counted with the bytes of its prompt", async () => {
    await using storage = await temporaryDirect();
    const first = await queued(storage, { owner: "b", prompt: "€" });
    const second = await queued(storage, { owner: "a", prompt: "xx" });
    expect(storage.turns.listQueued()).toEqual([
      { id: first, owner: "b" },
      { id: second, owner: "a" },
    ]);
    expect(storage.turns.queueSize()).toEqual({ count: 2, bytes: 5 });
    expect(storage.turns.queueSize("b")).toEqual({ count: 1, bytes: 3 });
  });
});

async function queued(storage: TemporaryDirect, { owner = "operator", prompt = "go" }): Promise<string> {
  const session = newSession({ name: Bun.randomUUIDv7(), owner });
  const id = Bun.randomUUIDv7();
  await storage.write(() => {
    storage.sessions.create(session);
    const turn = { id, sessionId: session.id, owner, ephemeral: false, startedAt: 1 };
    storage.turns.createQueued({ ...turn, prompt, checkpoint: { offset: 0 } });
  });
  return id;
}
