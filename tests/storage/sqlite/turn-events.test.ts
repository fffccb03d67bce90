import { describe, expect, test } from "bun:test";
import type { TurnEvent } from "../../../src/contract/sessions/turn.ts";
import { newSession } from "../rows.ts";
import { type TemporaryDirect, temporaryDirect } from "./support/direct.ts";

const END = { status: "complete", error: null, usage: null, endedAt: 2_000 } as const;
const content = (text: string): TurnEvent => ({ type: "content", text });

describe("turns.appendEventsIfRunning", () => {
  test("numbers events from 0 without a gap, also with concurrent writers", () =>
    withTurn(async ({ turns, write }, id) => {
      await Promise.all(
        [1, 3, 0, 2].map((count) => write(() => turns.appendEventsIfRunning(id, Array(count).fill(content("x")), 1))),
      );
      expect(turns.events(id, 0, 100).map(({ seq }) => seq)).toEqual([0, 1, 2, 3, 4, 5]);
      expect(turns.get(id)?.eventCount).toBe(6);
    }));

  test("reuses the numbers of a write that was rolled back", () =>
    withTurn(async ({ turns, write }, id) => {
      const undone = write(() => {
        turns.appendEventsIfRunning(id, [content("never")], 1);
        throw new Error("undone");
      });
      await expect(undone).rejects.toThrow();
      await write(() => turns.appendEventsIfRunning(id, [content("first")], 1));
      expect(turns.events(id, 0, 100)).toEqual([{ seq: 0, event: content("first"), at: 1 }]);
    }));

  test("refuses events after the turn's end", () =>
    withTurn(async ({ turns, write }, id) => {
      await write(() => turns.endIfRunning(id, END));
      expect(await write(() => turns.appendEventsIfRunning(id, [content("late")], 1))).toBe(false);
      expect(turns.events(id, 0, 100)).toEqual([]);
    }));

  test("stores any text unchanged", () =>
    withTurn(async ({ turns, write }, id) => {
      const odd = ["", "\u0000a\u0000", "\ufffd", "\ud800 alone", "🙂", "x".repeat(16 * 1024 * 1024)];
      await write(() => turns.appendEventsIfRunning(id, odd.map(content), 1));
      const read = turns.events(id, 0, 100).map(({ event }) => (event.type === "content" ? event.text : ""));
      expect(read.map((text) => Bun.hash(text))).toEqual(odd.map((text) => Bun.hash(text)));
    }));
});

describe("turns.eventPage", () => {
  test("returns as many events as fit, and always at least one", () =>
    withTurn(async ({ turns, write }, id) => {
      await write(() => turns.appendEventsIfRunning(id, ["a", "b".repeat(1_000), "c", "d"].map(content), 1));
      const page = (fromSeq: number, maxBytes: number) =>
        turns.eventPage(id, fromSeq, { limit: 3, maxBytes }).map(({ seq }) => seq);
      expect([page(0, 10_000), page(0, 100), page(1, 100), page(2, 100), page(4, 100)]).toEqual([
        [0, 1, 2],
        [0],
        [1],
        [2, 3],
        [],
      ]);
    }));
});

describe("turns.advance", () => {
  test("advances each reader's position, never back", () =>
    withTurn(async ({ turns, write }, id) => {
      for (const position of [3, 5, 4]) await write(() => turns.advance(id, "me", position));
      expect([turns.position(id, "me"), turns.position(id, "other")]).toEqual([5, 0]);
    }));
});

describe("turns.endIfRunning", () => {
  test("ends a turn once, with its usage", () =>
    withTurn(async ({ turns, write }, id) => {
      const usage = { input_tokens: 1, output_tokens: 2, cost_usd: 0.5, num_turns: 3 };
      const [first, second] = await Promise.all([
        write(() => turns.endIfRunning(id, { ...END, usage })),
        write(() => turns.endIfRunning(id, { ...END, status: "failed", error: "late" })),
      ]);
      expect([first?.usage, second]).toEqual([usage, undefined]);
      expect(turns.get(id)).toMatchObject({ status: "complete", error: null, usage, endedAt: 2_000 });
    }));
});

describe("turns.setCheckpoint", () => {
  test("stores the position in a child's output", () =>
    withTurn(async ({ turns, write }, id) => {
      await write(() => turns.setCheckpoint(id, { offset: 7, parser: { toolUseIds: ["a"] } }));
      expect(turns.checkpoint(id)).toEqual({ offset: 7, parser: { toolUseIds: ["a"] } });
      expect(turns.checkpoint("unknown")).toBeUndefined();
    }));
});

async function withTurn(body: (storage: TemporaryDirect, turnId: string) => Promise<void>): Promise<void> {
  await using storage = await temporaryDirect();
  const session = newSession();
  const turn = { id: Bun.randomUUIDv7(), sessionId: session.id, owner: "operator", ephemeral: false, startedAt: 1_000 };
  await storage.write(() => {
    storage.sessions.create(session);
    storage.turns.createIfNoneRuns({ ...turn, checkpoint: { offset: 0 } });
  });
  await body(storage, turn.id);
}
