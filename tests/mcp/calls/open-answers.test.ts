import { afterEach, beforeEach, describe, expect, jest, test } from "bun:test";
import { createOpenAnswers } from "../../../src/mcp/calls/open-answers.ts";

const limits = { quietMs: 100, mostMs: 1_000 };

describe("answers that are being sent", () => {
  beforeEach(() => void jest.useFakeTimers());
  afterEach(() => void jest.useRealTimers());

  test("are all sent if there are none", async () => {
    expect(await status(createOpenAnswers(limits).sent())).toBe("fulfilled");
  });

  test("are awaited while they finish one after the other, up to the limit for all", async () => {
    const answers = createOpenAnswers(limits);
    const open = Array.from({ length: 20 }, () => answers.begin());
    const sent = answers.sent();
    for (const end of open.slice(0, 10)) {
      jest.advanceTimersByTime(99);
      end();
      expect(await status(sent)).toBe("pending");
    }
    jest.advanceTimersByTime(10);
    expect(await status(sent)).toBe("fulfilled");
    expect(jest.getTimerCount()).toBe(0);
  });

  test("are no longer awaited when none has finished for a while", async () => {
    const answers = createOpenAnswers(limits);
    const [first] = [answers.begin(), answers.begin()];
    const sent = answers.sent();
    jest.advanceTimersByTime(50);
    first();
    jest.advanceTimersByTime(99);
    expect(await status(sent)).toBe("pending");
    jest.advanceTimersByTime(1);
    expect(await status(sent)).toBe("fulfilled");
  });
});

async function status(promise: Promise<void>): Promise<string> {
  for (let turn = 0; turn < 5; turn++) await Promise.resolve();
  return Bun.peek.status(promise);
}
