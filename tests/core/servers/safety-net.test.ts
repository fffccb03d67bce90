import { expect, test } from "bun:test";
import { openSafetyNet } from "../../../src/core/servers/safety-net.ts";
import { until } from "../../support/until.ts";

test("the safety net goes on if one part fails, and never runs twice at once", async () => {
  const errors: unknown[] = [];
  let [runs, atOnce, most] = [0, 0, 0];
  await using _ = openSafetyNet({
    everyMs: 1,
    rereads: [
      async () => {
        throw new Error("no disk");
      },
      async () => {
        most = Math.max(most, ++atOnce);
        await Bun.sleep(5);
        atOnce--;
        runs++;
      },
    ],
    onError: (cause) => void errors.push(cause),
  });
  await until("it to have run three times", () => runs >= 3);
  expect([errors.length >= 3, most]).toEqual([true, 1]);
});
