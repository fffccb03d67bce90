import { expect, test } from "bun:test";
import { duration, shortDuration } from "../../../src/contract/text/duration.ts";

test.each([
  [-5, "0s", "0s"],
  [0.9, "0s", "0s"],
  [59.9, "59s", "59s"],
  [60, "1m0s", "1m"],
  [3_599, "59m59s", "59m"],
  [3_600, "1h0m", "1h"],
  [172_799, "47h59m", "47h"],
  [172_800, "2d0h", "2d"],
  [363_600, "4d5h", "4d"],
  [604_800, "7d0h", "7d"],
])("a duration of %d seconds is %s, and %s where there is little room", (seconds, long, short) => {
  expect([duration(seconds), shortDuration(seconds)]).toEqual([long, short]);
});
