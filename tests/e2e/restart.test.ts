import { describe, expect, setDefaultTimeout, test } from "bun:test";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { interrupted, killUnderPermit } from "../../soak/crash/kills.ts";
import { readResults } from "../support/model/scripted-model.ts";
import { until } from "../support/until.ts";

setDefaultTimeout(180_000);

describe("a permit of the real CLI, when the server is killed with kill -9", () => {
  // The CLI comes back ten seconds after each kill, as its `retry` says; `npm run soak` has five kills.
  test("waits through three kills, and gets the decision of the fourth server", async () => {
    expect(await killUnderPermit({ kills: 3 })).toEqual({ kills: 3, violations: [] });
  });

  test("gets a decision that was made while it was not connected", () =>
    interrupted(async ({ run, restart, decide }) => {
      await restart();
      expect(await decide({ approve: false, message: "decided in between" })).toMatchObject({ status: "denied" });
      const results = readResults((await run.result()).text);
      expect(results).toMatchObject([{ content: "decided in between" }]);
    }));

  test("fails closed when the server stays away for longer than the child retries", () =>
    interrupted(async ({ run, kill, restart, events }) => {
      await kill();
      const outcome = await run.result(60_000);
      expect(existsSync(join(run.cwd, "made"))).toBe(false);
      expect(outcome.text).not.toContain("allow");
      await restart();
      const last = await until(
        "the ask to be abandoned",
        async () => {
          const seen = await events();
          return seen.find((event) => event.includes("approval_resolved"));
        },
        40_000,
      );
      expect(last).toContain('"status":"abandoned"');
    }));
});
