import { expect, test } from "bun:test";
import { createRepeatedWork } from "../../../src/core/events/repeated-work.ts";
import { until } from "../../support/until.ts";

test("repeated work runs one at a time, and once more if it was called during a run", async () => {
  const gates = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  let begun = 0;
  let ended = 0;
  const call = createRepeatedWork(async () => {
    await gates[begun++]?.promise;
    ended++;
  });
  call();
  call();
  call();
  expect(begun).toBe(1);
  gates[0]?.resolve();
  await until("the second time", () => begun === 2);
  expect(ended).toBe(1);
  gates[1]?.resolve();
  await until("the end", () => ended === 2);
  call();
  await until("the third time", () => ended === 3);
  expect(begun).toBe(3);
});
