import { describe, expect, test } from "bun:test";
import { createMetricText } from "../../../src/outbound/metrics/text.ts";

describe("the text of metrics", () => {
  test("shows a counter with each known value from the start, and a new value when it occurs", async () => {
    const metrics = createMetricText();
    const count = metrics.counter("asks_total", "Asks.", { name: "outcome", values: ["allowed", "denied"] });
    count(2, "denied");
    count(0.5, "denied");
    count(1, "late");
    expect(await metrics.text()).toBe(
      '# HELP asks_total Asks.\n# TYPE asks_total counter\nasks_total{outcome="allowed"} 0\nasks_total{outcome="denied"} 2.5\nasks_total{outcome="late"} 1\n',
    );
  });

  test("shows a histogram as counts up to and including each bound", async () => {
    const metrics = createMetricText();
    const observe = metrics.histogram("wait_seconds", "Waits.", [1, 5]);
    for (const seconds of [0.5, 1, 3, 9]) observe(seconds);
    expect((await metrics.text()).split("\n").slice(2)).toEqual([
      'wait_seconds_bucket{le="1"} 2',
      'wait_seconds_bucket{le="5"} 3',
      'wait_seconds_bucket{le="+Inf"} 4',
      "wait_seconds_sum 13.5",
      "wait_seconds_count 4",
      "",
    ]);
  });

  test("escapes characters that would end a label or a line", async () => {
    const metrics = createMetricText();
    metrics.read("gauge", "odd", "Odd.", () => [{ labels: { a: 'x"y\\z\n', b: "2" }, value: 1e21 }]);
    expect(await metrics.text()).toEndWith('odd{a="x\\"y\\\\z\\n",b="2"} 1e+21\n');
  });
});
