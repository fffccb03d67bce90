import { expect, test } from "bun:test";
import type { Output } from "../../../src/storage/turns.ts";
import { ANY_NUMBER, newSession, newToken, outcome, runningTurn } from "../rows.ts";
import {
  begin,
  END,
  filed,
  NOW,
  type OpenedStorage,
  type OpenForRaces,
  raced,
  repeated,
  said,
  storedSession,
  storedTurn,
} from "./engine.ts";

/** The promises of every engine about turns. */
export function turnPromises(open: OpenForRaces): void {
  test("if two turns start in one session, one runs, and the other is refused as busy", async () => {
    await using opened = await open();
    const { storage } = opened;
    await repeated(async () => {
      const { id } = await storedSession(storage);
      const begun = await raced(opened, [(connection) => begin(connection, id), (connection) => begin(connection, id)]);
      expect(begun.map(({ outcome }) => outcome).sort()).toEqual(["busy", "running"]);
    });
  });

  test("a turn stores its child's process, and no other turn has it", async () => {
    await using opened = await open();
    const { storage } = opened;
    const [{ turn }, other] = [await storedTurn(storage), await storedTurn(storage)];
    await storage.turns.setProcess(turn.id, { pid: 42, processStart: "then" });
    expect(await storage.turns.listRunning()).toMatchObject([
      { id: turn.id, pid: 42, processStart: "then" },
      { id: other.turn.id, pid: null, processStart: null },
    ]);
  });

  test("events are numbered without a gap, even with concurrent writers", async () => {
    await using opened = await open();
    const { storage } = opened;
    const { session, turn } = await storedTurn(storage);
    const approvals = await Promise.all(
      Array.from({ length: 6 }, () => filed(storage, { sessionId: session.id, isInTurn: true })),
    );
    await raced<unknown>(opened, [
      ...approvals.map(
        ({ id }) =>
          (connection: OpenedStorage) =>
            connection.approvals.settleIfPending(id, outcome(), undefined),
      ),
      ...["a", "b", "c"].map(
        (text) => (connection: OpenedStorage) => connection.turns.appendIfRunning(turn, said(text, text), NOW),
      ),
    ]);
    const events = await storage.turns.events(turn.id, 0, 100);
    expect(events.map(({ seq }) => seq)).toEqual(events.map((_, index) => index));
    expect(events).toHaveLength(1 + 6 + 6 + 6);
    expect((await storage.turns.get(turn.id))?.eventCount).toBe(events.length);
  });

  test("events are read newest first, with the child's complete text and no other long field", async () => {
    await using opened = await open();
    const { storage } = opened;
    const { turn } = await storedTurn(storage);
    const result = { type: "tool_result", tool_use_id: "call", output: "done", is_error: false } as const;
    const events: Output["events"] = [
      { type: "content", text: "\u0000 \ud800 🙂" },
      { ...result, askedAgain: undefined, isRefused: false },
      { type: "passthrough", event_type: "user/text", data: {} },
    ];
    await storage.turns.appendIfRunning(turn, { ...said(), events }, NOW);
    expect(await storage.turns.wordsBefore(turn.id, 4, 3)).toEqual([
      { seq: 3, type: "passthrough", text: null, beginsAnew: true },
      { seq: 2, type: "tool_result", text: null, beginsAnew: false },
      { seq: 1, type: "content", text: "\u0000 \ud800 🙂", beginsAnew: false },
    ]);
    expect(await storage.turns.wordsBefore(turn.id, 1, 3)).toMatchObject([{ seq: 0, type: "start", text: null }]);
    expect(await storage.turns.wordsBefore("unknown", 9, 3)).toEqual([]);
  });

  test("the short events of a range are read in order, without long events and those beyond the range", async () => {
    await using opened = await open();
    const { storage } = opened;
    const { turn } = await storedTurn(storage);
    await storage.turns.appendIfRunning(turn, said("one", "x".repeat(1_000), "é".repeat(300), "three", "four"), NOW);
    const texts = async (range: { from: number; to: number; maxBytes: number }) =>
      (await storage.turns.shortEvents(turn.id, range)).map(({ seq, event }) =>
        event.type === "content" ? `${seq} ${event.text}` : event.type,
      );
    expect(await texts({ from: 1, to: 5, maxBytes: 500 })).toEqual(["1 one", "4 three"]);
    expect(await texts({ from: 0, to: 2, maxBytes: 500 })).toEqual(["start", "1 one"]);
    expect(await texts({ from: 4, to: 100, maxBytes: 500 })).toEqual(["4 three", "5 four"]);
    expect(await texts({ from: 5, to: 5, maxBytes: 500 })).toEqual([]);
  });

  test("if output and the turn's end race, no event follows the last one", async () => {
    await using opened = await open();
    const { storage } = opened;
    await repeated(async () => {
      const { session, turn } = await storedTurn(storage);
      await raced<unknown>(opened, [
        (connection) => connection.turns.appendIfRunning(turn, said("words"), NOW),
        (connection) => connection.turns.endIfRunning(turn, END, NOW),
        (connection) => connection.turns.endIfRunning(turn, { ...END, status: "failed", error: "late" }, NOW),
      ]);
      const events = await storage.turns.events(turn.id, 0, 10);
      expect(events.at(-1)?.event.type).toBe("error");
      expect(events.filter(({ event }) => event.type === "error")).toHaveLength(1);
      const isStored = events.some(({ event }) => event.type === "content");
      const head = (await storage.sessions.get(session.id))?.headNodeId ?? "";
      const path = await storage.conversations.path(head);
      expect(path.map(({ role }) => role)).toEqual(isStored ? ["root", "user", "assistant"] : ["root", "user"]);
    });
  });

  test("the end of a turn abandons its child's requests, records that before the last event, and deletes its token", async () => {
    await using opened = await open();
    const { storage } = opened;
    const { session, turn } = await storedTurn(storage);
    await storage.tokens.createIfNameFree(newToken({ id: "child", kind: "child", name: null, sessionId: session.id }));
    const { id } = await filed(storage, { sessionId: session.id, isInTurn: true });
    const counted = { inputTokens: 1, outputTokens: 2, numTurns: 3, totalCostUsd: 0.5 };
    await storage.turns.endIfRunning(turn, { ...END, counted, claudeSessionId: "c" }, NOW);
    expect((await storage.approvals.get(id))?.status).toBe("abandoned");
    const types = (await storage.turns.events(turn.id, 0, 10)).map(({ event }) => event.type);
    expect(types.slice(-2)).toEqual(["approval_resolved", "complete"]);
    expect(await storage.tokens.get("child")).toBeUndefined();
    expect(await storage.sessions.get(session.id)).toMatchObject({ claudeSessionId: "c", totalCostUsd: 0.5 });
  });

  test("a session's own cost is the sum of its turns, ephemeral ones included, whatever the conversation had cost before", async () => {
    await using opened = await open();
    const { storage } = opened;
    const session = await storedSession(storage, { forkedFrom: "c", totalCostUsd: 5 });
    const end = async (totalCostUsd: number, costBeforeUsd: number | undefined, ephemeral = false) => {
      const turn = await runningTurn(storage, session, { ephemeral });
      const counted = { inputTokens: 1, outputTokens: 2, numTurns: 3, totalCostUsd, costBeforeUsd };
      await storage.turns.endIfRunning(turn, { ...END, counted, claudeSessionId: "d" }, NOW);
      const { ownCostUsd, totalCostUsd: inAll } = (await storage.sessions.get(session.id)) ?? {};
      return [(await storage.turns.get(turn.id))?.usage?.cost_usd, ownCostUsd, inAll];
    };
    // The parent's conversation continued after the fork was created.
    expect(await end(9, 8)).toEqual([1, 1, 9]);
    expect(await end(11, 9)).toEqual([2, 3, 11]);
    expect(await end(12, 11, true)).toEqual([1, 4, 11]);
    // A killed turn in between had cost 4.
    expect(await end(16, 15)).toEqual([1, 9, 16]);
    // An older CLI reports only the total.
    expect(await end(18, undefined)).toEqual([2, 11, 18]);
    // The CLI could not resume the conversation.
    expect(await end(0, 0)).toEqual([0, 11, 18]);
  });

  test("a result uses up its call's allow; without an allow the call is recorded as unasked and announced", async () => {
    const told: string[] = [];
    await using opened = await open((changes) => told.push(...changes.map(({ kind }) => kind)));
    const { storage } = opened;
    const { session, turn } = await storedTurn(storage);
    const { id } = await filed(storage, { sessionId: session.id, isInTurn: true, toolUseId: "call" });
    await storage.approvals.settleIfPending(id, outcome(), undefined);
    const result = { type: "tool_result", tool_use_id: "call", output: "done", is_error: false } as const;
    const events = [{ ...result, askedAgain: undefined, isRefused: false }];
    const append = () => storage.turns.appendIfRunning(turn, { ...said(), events }, NOW);
    expect([await append(), await append()]).toMatchObject([[], [{ toolUseId: "call", turnId: turn.id }]]);
    const stored = (await storage.turns.events(turn.id, 3, 10)).map(({ event }) => event);
    expect(stored).toMatchObject([{ approval_id: id }, { approval_id: null, unasked: true }]);
    expect(told.at(-1)).toBe("unasked_call");
    expect((await storage.turns.get(turn.id))?.unasked).toBe(1);
  });

  test("the first of removing a session and beginning a turn in it wins", async () => {
    await using opened = await open();
    const { storage } = opened;
    await repeated(async () => {
      const { id } = await storedSession(storage);
      const [removal, begun] = await raced<unknown>(opened, [
        (connection) => connection.sessions.removeIfIdle(id),
        (connection) => begin(connection, id),
      ]);
      const isRemoved = removal === "removed";
      expect({ removal, begun }).toMatchObject(
        isRemoved ? { begun: { outcome: "no_session" } } : { removal: "busy", begun: { outcome: "running" } },
      );
      expect((await storage.sessions.get(id)) === undefined).toBe(isRemoved);
    });
  });

  test("if sessions with one name race, one is created; another owner may use the name too", async () => {
    await using opened = await open();
    await repeated(async (round) => {
      const create = (owner: string) => (connection: OpenedStorage) =>
        connection.sessions.createIfNameFree(newSession({ name: `n-${round}`, owner }), "none", ANY_NUMBER);
      const created = await raced(opened, [create("a"), create("a"), create("b")]);
      expect(created.map(({ outcome }) => outcome).sort()).toEqual(["created", "created", "name_taken"]);
      const named = await raced(
        opened,
        ["1", "2"].map(
          (id) => (connection) =>
            connection.tokens.createIfNameFree(newToken({ id: `${round}-${id}`, name: `n-${round}` })),
        ),
      );
      expect(named.sort()).toEqual([false, true]);
    });
  });
}
