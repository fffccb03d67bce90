import { describe, expect, test } from "bun:test";
import type { TranscriptHit } from "../../../../src/contract/sessions/transcript-hit.ts";
import { createPromptOf } from "../../../../src/core/turns/prompt.ts";
import { createTranscriptSearch } from "../../../../src/core/turns/search/transcript-search.ts";
import type { Output } from "../../../../src/storage/turns.ts";
import { runningTurn } from "../../../storage/rows.ts";
import { type TemporaryStorage, temporaryStorage } from "../../../storage/sqlite/support/temporary-storage.ts";
import { END, NOW, storedSession } from "../../../storage/suite/engine.ts";

type Events = Output["events"];
type StoredTurn = { prompt: string; events: Events };

const say = (text: string) => ({ type: "content", text }) as const;
const result = (output: string) =>
  ({
    type: "tool_result",
    tool_use_id: "t",
    output,
    is_error: false,
    askedAgain: undefined,
    isRefused: false,
  }) as const;

async function stored(storage: TemporaryStorage, turns: StoredTurn[]) {
  const session = await storedSession(storage);
  const turnIds: string[] = [];
  for (const { prompt, events } of turns) {
    const turn = await runningTurn(storage, session, { prompt });
    await storage.turns.appendIfRunning(turn, { events, blocks: [], checkpoint: {}, mustAsk: false }, NOW);
    await storage.turns.endIfRunning(turn, END, NOW);
    turnIds.push(turn.id);
  }
  const search = createTranscriptSearch({ storage, promptOf: createPromptOf({ storage }) });
  const places = (hits: TranscriptHit[]) => hits.map(({ turn_id, seq }) => `${turnIds.indexOf(turn_id)}:${seq}`);
  return { session, turnIds, search, places };
}

describe("a search of a transcript", () => {
  test("finds what was asked, said, thought, called, answered and told, over all turns, the newest first", async () => {
    await using storage = await temporaryStorage();
    const one: Events = [
      { type: "thinking", thinking: "the NEEDLE is somewhere" },
      { type: "tool_use", tool_name: "Bash", tool_use_id: "a", input: { command: "find needle" } },
      result("no needle here"),
      { type: "passthrough", event_type: "system/init", data: { tools: "needle" } },
      { type: "passthrough", event_type: "subagent/text", data: { block: { text: "a needle!" } } },
    ];
    const { session, search, places, turnIds } = await stored(storage, [
      { prompt: "Look for the needle.", events: one },
      { prompt: "Another task.", events: [say("It was a needle."), result("hay")] },
    ]);
    await stored(storage, [{ prompt: "needle", events: [say("needle")] }]);
    const { hits, cursor } = await search(session, { search: "Needle", limit: 100 });
    expect(cursor).toBeNull();
    expect(places(hits)).toEqual(["1:1", "0:5", "0:3", "0:2", "0:1", "0:0"]);
    expect(hits.map(({ type }) => type)).toEqual([
      "content",
      "passthrough",
      "tool_result",
      "tool_use",
      "thinking",
      "start",
    ]);
    const at = NOW / 1000;
    expect(hits[0]).toEqual({ turn_id: turnIds[1] ?? "", seq: 1, at, type: "content", excerpt: "It was a needle." });
    expect(hits[3]).toMatchObject({ tool_name: "Bash", excerpt: "find needle" });
    expect(hits[5]).toMatchObject({ excerpt: "Look for the needle." });
  });

  test("finds a text that came in pieces, where it begins, and once", async () => {
    await using storage = await temporaryStorage();
    const pieces = [..."It is a needle in the hay"].map(say);
    const { session, search, places } = await stored(storage, [
      {
        prompt: "x",
        events: [say("Before."), result("r"), ...pieces, { type: "thinking", thinking: "a nee" }, say("dle")],
      },
    ]);
    const { hits } = await search(session, { search: "needle", limit: 100 });
    expect(places(hits)).toEqual(["0:3"]);
    expect(hits[0]?.excerpt).toBe("It is a needle in the hay");
  });

  test("goes on from its cursor, with nothing left out or told twice, however short its answers are", async () => {
    await using storage = await temporaryStorage();
    const events = Array.from({ length: 40 }, (_, at) =>
      at % 3 === 0 ? result(`needle ${at}`) : say(at % 3 === 1 ? "nee" : "dle "),
    );
    const turn = { prompt: "the needle", events };
    const { session, places, search } = await stored(storage, [turn, turn, turn]);
    const whole = places((await search(session, { search: "needle", limit: 1_000 })).hits);
    expect(whole.length).toBeGreaterThan(3);
    for (const [forMs, limit] of [
      [0, 100],
      [400, 1],
      [0, 1],
    ] as const) {
      const impatient = createTranscriptSearch({ storage, promptOf: createPromptOf({ storage }), forMs });
      const found: TranscriptHit[] = [];
      let answers = 0;
      for (let cursor: string | undefined; ; answers++) {
        const page = await impatient(session, { search: "needle", limit, cursor });
        found.push(...page.hits);
        expect(page.hits.length).toBeLessThanOrEqual(limit);
        expect(page.searchedBackTo === undefined).toBe(page.cursor === null);
        if (page.cursor === null) break;
        cursor = page.cursor;
      }
      expect({ forMs, limit, found: places(found) }).toEqual({ forMs, limit, found: whole });
      expect(answers).toBeGreaterThan(1);
    }
  });

  test("passes over a turn that was deleted meanwhile, and refuses a cursor of something else", async () => {
    await using storage = await temporaryStorage();
    const turn = { prompt: "x", events: [say("needle")] };
    const { session, search, places } = await stored(storage, [turn, turn]);
    const gone = storage.newId();
    expect(places((await search(session, { search: "needle", limit: 9, cursor: `${gone}~5` })).hits)).toEqual([
      "1:1",
      "0:1",
    ]);
    await expect(search(session, { search: "needle", limit: 9, cursor: "2000~what" })).rejects.toThrow("another list");
  });
});
