import { describe, expect, test } from "bun:test";
import { figureQueries } from "../../../src/storage/sqlite/upkeep/figures.ts";
import { openPlans } from "./plans/query-plans.ts";

describe("figures", () => {
  test("read only pending and running rows, never the history", () => {
    const { orm, plansOf } = openPlans();
    const figures = figureQueries(orm, "/nowhere");
    const plans = [...plansOf(figures.pending), ...plansOf(figures.running)].map(({ plan }) => plan);
    expect(plans).toEqual([
      expect.stringMatching(/^SCAN loopback_approvals USING INDEX approvals_pending_by_\w+$/),
      "SCAN turns USING INDEX turns_running",
    ]);
  });

  test("are 0 for a file that doesn't exist", () => {
    const figures = figureQueries(openPlans().orm, "/nowhere");
    expect([figures.databaseBytes(), figures.logBytes()]).toEqual([0, 0]);
  });
});
