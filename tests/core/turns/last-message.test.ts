import { describe, expect, test } from "bun:test";
import { lastMessage } from "../../../src/core/turns/last-message.ts";
import type { Output } from "../../../src/storage/turns.ts";
import { END, NOW, said, storedTurn } from "../../storage/suite/engine.ts";
import { type TemporaryCore, temporaryCore } from "../open-core.ts";

type Events = Output["events"];
const words = (text: string): Events[number] => ({ type: "content", text });
const call = (id: string): Events => [
  { type: "tool_use", tool_name: "Read", tool_use_id: id, input: { file_path: "/a" } },
  { type: "tool_result", tool_use_id: id, output: "ok", is_error: true, askedAgain: undefined, isRefused: true },
];

describe("lastMessage", () => {
  test("is the child's last message, not all its text", () =>
    withTurn([words("I look first. "), ...call("1"), words("There are "), words("three files.")], async (read) => {
      expect(await read()).toBe("There are three files.");
    }));

  test("is the text before a call that has no result yet", () =>
    withTurn([words("One."), ...call("1"), words("Two."), ...call("2").slice(0, 1)], async (read) => {
      expect(await read()).toBe("Two.");
    }));

  test("is found before thousands of calls without text", () => {
    const silent = Array.from({ length: 2_000 }, (_, number) => call(`${number}`)).flat();
    return withTurn([words("Now to work."), ...silent], async (read) => {
      expect(await read()).toBe("Now to work.");
    });
  });

  test.each([
    ["where the user has said something", "user/text"],
    ["where the child goes on with what was done in the background", "system/init"],
  ])("begins anew %s", (_, event_type) =>
    withTurn([words("Done."), { type: "passthrough", event_type, data: {} }, words("Done again.")], async (read) => {
      expect(await read()).toBe("Done again.");
    }),
  );

  test("is joined across events of other kinds", () =>
    withTurn(
      [words("One "), { type: "passthrough", event_type: "system/task_progress", data: {} }, words("sentence.")],
      async (read) => {
        expect(await read()).toBe("One sentence.");
      },
    ));

  test("is cut in the middle if it is long, and not read further than needed", () => {
    const long = Array.from({ length: 200 }, () => words("x".repeat(16_000)));
    return withTurn([...long, words("the end")], async (read) => {
      const text = await read(300);
      expect(text.length).toBeLessThanOrEqual(300);
      expect(text).toEndWith("the end");
    });
  });

  test("is empty if the child has said nothing", () =>
    withTurn(call("1"), async (read) => {
      expect(await read()).toBe("");
    }));

  async function withTurn(
    events: Events,
    body: (read: (maxChars?: number) => Promise<string>) => Promise<void>,
  ): Promise<void> {
    await using core: TemporaryCore = await temporaryCore();
    const { turn } = await storedTurn(core.storage);
    await core.storage.turns.appendIfRunning(turn, { ...said(), events }, NOW);
    await core.storage.turns.endIfRunning(turn, END, NOW);
    await body((maxChars = 2_000) => lastMessage(core.storage, turn.id, maxChars));
  }
});
