import { heapStats } from "bun:jsc";
import { describe, expect, setDefaultTimeout, test } from "bun:test";
import { appendFileSync, writeFileSync } from "node:fs";
import { filesIn } from "../../../src/claude/launch/launch.ts";
import { Checkpoint } from "../../../src/claude/output/checkpoint.ts";
import { createReadProgress } from "../../../src/claude/output/read-progress.ts";
import type { TurnEvent } from "../../../src/contract/sessions/turn.ts";
import { JsonObject } from "../../../src/contract/values.ts";
import { createBroadcast } from "../../../src/core/events/broadcast.ts";
import { type Batch, type ChildEnd, followChild } from "../../../src/core/turns/child-output.ts";
import { createTurnRecord } from "../../../src/core/turns/record.ts";
import type { TurnRow } from "../../../src/storage/turns.ts";
import { ANY_NUMBER, newSession, runningTurn } from "../../storage/rows.ts";
import { type TemporaryStorage, temporaryStorage } from "../../storage/sqlite/support/temporary-storage.ts";
import { temporaryDirectory } from "../../support/temporary.ts";

setDefaultTimeout(60_000);

const MEGABYTE = 1_000_000;
const INIT = JSON.stringify({ type: "system", subtype: "init", session_id: "c", mcp_servers: [] });
const RESULT = JSON.stringify({ type: "result", subtype: "success", is_error: false, result: "", session_id: "c" });
const say = (text: string) => JSON.stringify({ type: "assistant", message: { id: text, content: text } });
const result = (output: string) =>
  JSON.stringify({ type: "user", message: { content: [{ type: "tool_result", tool_use_id: "t", content: output }] } });

describe("followChild", () => {
  test("stores a line of 50 MB whole, in order with the lines around it", () =>
    withChild(async ({ write, follow, events }) => {
      const long = result("€x".repeat(12.5 * MEGABYTE));
      write(`${INIT}\n${say("before")}\n`, long, `\n${say("behind")}\n${RESULT}\n`);
      expect((await follow())?.verdict).toEqual({ outcome: "complete" });
      const stored = await events();
      expect([stored.at(1), stored.at(-1)]).toEqual([said("before"), said("behind")]);
      expect(Bun.hash(oversized(stored).join(""))).toBe(Bun.hash(long));
    }));

  test("resumes in the middle of such a line, with no piece lost or repeated", () =>
    withChild(async ({ write, follow, events }) => {
      const long = result("🙂".repeat(10 * MEGABYTE));
      write(`${INIT}\n`, long, `\n${RESULT}\n`);
      for (let batches = 3; (await follow(batches)) === undefined; batches += 7);
      const pieces = (await events()).flatMap((event) => (event.type === "passthrough" ? [pieceOf(event.data)] : []));
      expect(pieces).toEqual(pieces.map((_, index) => index + 1));
      expect(Bun.hash(oversized(await events()).join(""))).toBe(Bun.hash(long));
    }));

  test("stores results of several megabytes unchanged", () =>
    withChild(async ({ write, follow, events }) => {
      const outputs = [1, 4, 12].map((size) => `${size}→`.repeat(size * 200_000));
      write(`${INIT}\n`, ...outputs.map((output) => `${result(output)}\n`), `${RESULT}\n`);
      await follow();
      const stored = (await events()).flatMap((event) =>
        event.type === "tool_result" ? [Bun.hash(event.output)] : [],
      );
      expect(stored).toEqual(outputs.map((output) => Bun.hash(output)));
    }));

  test("takes the cost before the turn from the first of several results", () =>
    withChild(async ({ write, follow }) => {
      const ended = (total_cost_usd: number, costUSD: number) =>
        JSON.stringify({ ...JSON.parse(RESULT), total_cost_usd, model_usage_since_last_result: { opus: { costUSD } } });
      write(`${INIT}\n${ended(5, 2)}\n${say("work in the background")}\n${ended(6, 1)}\n`);
      expect((await follow())?.result).toMatchObject({ totalCostUsd: 6, costBeforeUsd: 3 });
    }));

  test("adds up the tokens and turns of several results, also when another server reads on", () =>
    withChild(async ({ write, follow }) => {
      const counted = (num_turns: number, input_tokens: number, output_tokens: number) =>
        JSON.stringify({ ...JSON.parse(RESULT), num_turns, usage: { input_tokens, output_tokens } });
      write(`${INIT}\n${counted(2, 20, 10)}\n`);
      expect(await follow(1)).toBeUndefined();
      write(`${say("work in the background")}\n${counted(1, 10, 5)}\n`);
      expect((await follow())?.result).toMatchObject({ numTurns: 3, inputTokens: 30, outputTokens: 15 });
    }));

  test("marks where the child continues after a result, so that its next words are a new message", () =>
    withChild(async ({ write, follow, events }) => {
      write(`${INIT}\n${say("I wait.")}\n${RESULT}\n${INIT}\n${say("It is ready.")}\n${RESULT}\n`);
      await follow();
      const told = (await events()).slice(1);
      expect(told).toMatchObject([said("I wait."), { event_type: "system/init" }, said("It is ready.")]);
    }));

  test("does not take a result of an earlier turn's background work for the turn's own", () =>
    withChild(async ({ write, follow }) => {
      const origin = { kind: "task-notification" };
      const leftOver = JSON.stringify({ ...JSON.parse(RESULT), num_turns: 0, total_cost_usd: 5, origin });
      write(`${INIT}\n${leftOver}\n${say("I begin.")}\n`);
      const ended = await follow();
      expect(ended?.result).toBeUndefined();
      expect(ended?.verdict).toMatchObject({ message: expect.stringContaining("in the middle of its work") });
    }));

  test("reads garbage of every kind without failing, with bounded memory", () =>
    withChild(async ({ write, follow, events, peakBytes }) => {
      write(`${INIT}\n`, Buffer.alloc(40 * MEGABYTE, 0xff), "\n", Buffer.alloc(17 * MEGABYTE), "\n");
      write(
        "y\n".repeat(MEGABYTE / 5),
        "{}\n".repeat(MEGABYTE / 5),
        `{"type":"new","deep":${"[".repeat(8 * MEGABYTE)}\n`,
      );
      write(`{"type":"new","deep":${"[".repeat(4 * MEGABYTE)}${"]".repeat(4 * MEGABYTE)}}\n`);
      write(`{"type":"user","message":{"content":[${"1,".repeat(4 * MEGABYTE)}1]}}\n`, `${say("words")}\n${RESULT}\n`);
      expect((await follow())?.verdict).toEqual({ outcome: "complete" });
      expect((await events()).at(-1)).toEqual(said("words"));
      expect((await events()).length).toBeWithin(50, 1_000);
      expect(peakBytes() / MEGABYTE).toBeLessThan(150);
    }));
});

const said = (text: string): TurnEvent => ({ type: "content", text });

function oversized(events: TurnEvent[]): string[] {
  return events.flatMap((event) =>
    event.type === "passthrough" && event.event_type === "oversized"
      ? [String(JsonObject.parse(event.data)["text"])]
      : [],
  );
}

function pieceOf(data: unknown): unknown {
  return JsonObject.parse(data)["piece"];
}

type Setup = {
  write(...output: (string | Buffer)[]): void;
  /** Reads on from the last checkpoint and stores everything, or only so many batches. */
  follow(batches?: number): Promise<ChildEnd | undefined>;
  /** The stored events; fails if their numbers have a gap. */
  events(): Promise<TurnEvent[]>;
  /** The peak memory above that of the start. */
  peakBytes(): number;
};

/** A child that has ended, and the turn that stores its output. */
async function withChild(body: (setup: Setup) => Promise<void>): Promise<void> {
  await using directory = await temporaryDirectory();
  await using storage = await temporaryStorage();
  const files = filesIn(directory.path);
  writeFileSync(files.exit, "0\n");
  const { turn, add } = await beginTurn(storage);
  let most = 0;
  await body({
    write: (...output) => {
      for (const bytes of output) appendFileSync(files.stdout, bytes);
    },
    async follow(batches = Number.MAX_SAFE_INTEGER) {
      const before = liveBytes();
      const leaving = new AbortController();
      let left = batches;
      const store = async (batch: Batch) => {
        await add(batch);
        if (left-- % 5 === 0) most = Math.max(most, liveBytes() - before);
        if (left <= 0) leaving.abort();
        return undefined;
      };
      const from = Checkpoint.parse(await storage.turns.checkpoint(turn.id));
      return followChild(
        { process: undefined, dir: directory.path, readProgress: createReadProgress() },
        from,
        store,
        leaving.signal,
      );
    },
    async events() {
      const stored = await storage.turns.events(turn.id, 0, 1_000_000);
      expect(stored.map(({ seq }) => seq)).toEqual(stored.map((_, index) => index));
      return stored.map(({ event }) => event);
    },
    peakBytes: () => most,
  });
}

async function beginTurn(storage: TemporaryStorage): Promise<{ turn: TurnRow; add(batch: Batch): Promise<unknown> }> {
  const record = createTurnRecord({
    storage,
    broadcast: createBroadcast(),
    abandon: async () => {},
    now: Date.now,
    environmentOf: () => ({}),
  });
  const session = newSession();
  await storage.sessions.createIfNameFree(session, "none", ANY_NUMBER);
  const turn = await runningTurn(storage, session);
  return { turn, add: (batch) => record.add(turn, batch) };
}

function liveBytes(): number {
  Bun.gc(true);
  const { heapSize, extraMemorySize } = heapStats();
  return heapSize + extraMemorySize;
}
