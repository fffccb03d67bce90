import { describe, expect, test } from "bun:test";
import { createConfirmation } from "../../../src/client/deciding/confirmation.ts";

/** A confirmation with a clock that the test sets. */
function confirmationAt() {
  const clock = { ms: 0 };
  const confirmation = createConfirmation({ now: () => clock.ms, armedMs: 8_000 });
  const press = (target: string, reasons: string[] = [], isCurrent = true) =>
    confirmation.press({ target, reasons: async () => reasons, isCurrent: () => isCurrent });
  return { clock, confirmation, press };
}

describe("the second press", () => {
  test("is not needed without a reason", async () => {
    expect(await confirmationAt().press("one")).toBe("confirmed");
  });

  test("confirms only the target of the first press", async () => {
    const { clock, confirmation, press } = confirmationAt();
    expect(await press("one", ["removes files"])).toBe("armed");
    expect(confirmation.armed()).toMatchObject({ target: "one", reasons: ["removes files"] });
    clock.ms = 1_000;
    expect(await press("two", ["removes files"])).toBe("armed");
    clock.ms = 2_000;
    expect(await press("one", ["removes files"])).toBe("armed");
    clock.ms = 3_000;
    expect(await press("one", ["removes files"])).toBe("confirmed");
    expect(confirmation.armed()).toBeUndefined();
  });

  test("comes too soon within 350 ms, so that one key stroke is never two", async () => {
    const { clock, press } = confirmationAt();
    await press("one", ["removes files"]);
    clock.ms = 349;
    expect(await press("one", ["removes files"])).toBe("too_soon");
    clock.ms = 350;
    expect(await press("one", ["removes files"])).toBe("confirmed");
  });

  test("comes too soon when something else has just appeared", async () => {
    const { clock, confirmation, press } = confirmationAt();
    clock.ms = 1_000;
    confirmation.hesitate();
    clock.ms = 1_100;
    expect(confirmation.isTooSoon()).toBe(true);
    expect(await press("one")).toBe("too_soon");
  });

  test("comes too late after 8 seconds, or after the first one was taken back", async () => {
    const { clock, confirmation, press } = confirmationAt();
    await press("one", ["removes files"]);
    clock.ms = 8_000;
    expect(confirmation.armed()).toBeUndefined();
    expect(await press("one", ["removes files"])).toBe("armed");
    confirmation.disarm();
    clock.ms = 9_000;
    expect(await press("one", ["removes files"])).toBe("armed");
  });

  test("is not required if the person moved on while the reasons were read", async () => {
    const { confirmation, press } = confirmationAt();
    expect(await press("one", ["removes files"], false)).toBe("moved_on");
    expect(await press("one", [], false)).toBe("moved_on");
    expect(confirmation.armed()).toBeUndefined();
  });
});
