import { afterEach, beforeEach, describe, expect, jest, test } from "bun:test";
import { createHeldDenials, type HeldDenial } from "../../../src/client/deciding/held-denials.ts";
import { approval, approvals, idOf } from "../requests.ts";

/** Unix seconds; the requests expire at 2,000. */
const NOW = 1_500;

function holding(now = NOW) {
  const sent: string[][] = [];
  const idsOf = (denial: HeldDenial) => denial.approvals.map(({ id }) => id);
  const held = createHeldDenials({
    send: async (denial) => {
      sent.push(idsOf(denial));
    },
    now: () => now,
  });
  return { held, sent, waiting: () => held.all().map((one) => [...idsOf(one), one.secondsLeft]) };
}

describe("a denial that is held", () => {
  beforeEach(() => void jest.useFakeTimers());
  afterEach(() => void jest.useRealTimers());

  test("is sent once after a countdown of three seconds", () => {
    const { held, sent, waiting } = holding();
    let changes = 0;
    held.onChange(() => changes++);
    held.hold([approval(1)], { message: "no" });
    expect(waiting()).toEqual([[idOf(1), 3]]);
    jest.advanceTimersByTime(2_000);
    expect({ waiting: waiting(), sent, changes }).toEqual({ waiting: [[idOf(1), 1]], sent: [], changes: 3 });
    jest.advanceTimersByTime(60_000);
    expect({ waiting: waiting(), sent }).toEqual({ waiting: [], sent: [[idOf(1)]] });
  });

  test("is never sent once it is taken back: by default the last one", () => {
    const { held, sent, waiting } = holding();
    for (const number of [1, 2, 3]) held.hold([approval(number)], {});
    expect(held.takeBack()?.approvals).toEqual([approval(3)]);
    expect(held.takeBack(idOf(1))?.approvals).toEqual([approval(1)]);
    expect(waiting()).toEqual([[idOf(2), 3]]);
    jest.advanceTimersByTime(60_000);
    expect(sent).toEqual([[idOf(2)]]);
    expect(held.takeBack()).toBeUndefined();
  });

  test("is sent at once, and only once, when the page is left", async () => {
    const { held, sent } = holding();
    held.hold([approval(1), approval(2)], {});
    held.hold([approval(3)], {});
    await held.sendAll();
    jest.advanceTimersByTime(60_000);
    await held.sendAll();
    expect(sent).toEqual([[idOf(1), idOf(2)], [idOf(3)]]);
  });

  test("drops requests that have ended meanwhile, and ends when none is left", () => {
    const { held, sent, waiting } = holding();
    held.hold([approval(1), approval(2)], {});
    held.hold([approval(3)], {});
    expect(held.ended(new Set([idOf(2), idOf(3), idOf(4)]))).toEqual([approval(2), approval(3)]);
    expect(waiting()).toEqual([[idOf(1), 3]]);
    jest.advanceTimersByTime(60_000);
    expect(sent).toEqual([[idOf(1)]]);
  });

  test("is discarded, with its number of requests, when it may no longer be sent", () => {
    const { held, sent } = holding();
    held.hold([approval(1), approval(2)], {});
    held.hold([approval(3)], {});
    expect(held.drop()).toBe(3);
    jest.advanceTimersByTime(60_000);
    expect(sent).toEqual([]);
  });
});

describe("a denial that can't be held", () => {
  test("is for a request that expires soon, and would come too late", () => {
    const late = { ...approval(2), expires_at: NOW + 10 };
    const { held } = holding();
    expect(held.hold([approval(1), late], {})).toEqual({ held: [approval(1)], urgent: [late] });
    expect(held.hold([late], {})).toEqual({ held: [], urgent: [late] });
    expect(held.drop()).toBe(1);
  });

  test("would exceed, with all others, what a closing page can send", () => {
    const message = "é".repeat(8_000);
    const { held } = holding();
    expect(held.hold(approvals(3), { message }).urgent).toEqual([]);
    const more = [approval(8)];
    expect(held.hold(more, { message })).toEqual({ held: [], urgent: more });
    expect(held.hold(more, { message: "no" })).toEqual({ held: more, urgent: [] });
    expect(held.drop()).toBe(4);
  });
});
