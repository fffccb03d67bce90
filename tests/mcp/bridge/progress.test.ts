import { describe, expect, test } from "bun:test";
import { isJsonObject, type JsonObject } from "../../../src/contract/values.ts";
import { createCallProgress } from "../../../src/mcp/bridge/progress.ts";
import { until } from "../../support/until.ts";

const asked = { _meta: { progressToken: "t" } };
const told = (progress: number, progressToken = "t"): JsonObject => ({
  method: "notifications/progress",
  params: { progressToken, progress },
});

describe("the progress of a call", () => {
  test("never goes back, whatever the next server counts from", () => {
    using progress = createCallProgress(asked, false, async () => {});
    const seen = [0, 0.5, 20, 1, 2, 30].map((step) => progress.passed(told(step)));
    expect(seen).toEqual([0, 0.5, 20, 21, 22, 30].map((step) => told(step)));
  });

  test("of other calls is passed on as it is", () => {
    using progress = createCallProgress(asked, false, async () => {});
    progress.passed(told(9));
    for (const other of [told(1, "u"), { method: "notifications/message", params: {} }, { id: 1, result: {} }])
      expect(progress.passed(other)).toBe(other);
  });

  test("goes on while no server says anything, for a call that is held", async () => {
    const written: JsonObject[] = [];
    const write = async (message: JsonObject) => void written.push(message);
    using progress = createCallProgress(asked, true, write, 5);
    progress.passed(told(7));
    await until("three signs of life", () => written.length >= 3);
    const steps = written.map(({ params }) => (isJsonObject(params) ? params["progress"] : undefined));
    expect(steps.slice(0, 3)).toEqual([8, 9, 10]);
  });

  test("stays silent for a call that is not held, and for one that asked for none", async () => {
    const written: JsonObject[] = [];
    const write = async (message: JsonObject) => void written.push(message);
    using _released = createCallProgress(asked, false, write, 1);
    using _unasked = createCallProgress({}, true, write, 1);
    using held = createCallProgress(asked, true, write, 50);
    await until("the one that speaks", () => written.length > 0);
    expect(held.passed(told(0))).toMatchObject({ params: { progress: 2 } });
    expect(written).toHaveLength(1);
  });
});
