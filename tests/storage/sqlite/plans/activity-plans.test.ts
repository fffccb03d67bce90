import { expect, test } from "bun:test";
import { activityQueries } from "../../../../src/storage/sqlite/activity/activity.ts";
import { openPlans } from "./query-plans.ts";

const { orm, plansOf } = openPlans();
const activity = activityQueries(orm);
const plansIn = (work: () => unknown) => plansOf(work).map(({ plan }) => plan);

test("sums read only the hours of the query", () => {
  const hours = { from: 1, to: 2 };
  for (const owner of [undefined, "operator"])
    for (const work of [() => activity.sums(owner, hours), () => activity.sessions(owner, hours)])
      expect(plansIn(work)[0]).toMatch(/^SEARCH activity_hours USING INDEX \S+ \(hour>\? AND hour<\?\)/);
});

test("pending, running and queued rows are read without reading ended ones", () => {
  for (const plan of plansIn(() => activity.present("operator")))
    expect(plan).toMatch(/INDEX (approvals_pending_\w+|turns_running|turns_in_slots|turns_queued)/);
});

test("budgets are read in index order, and sessions without a budget are not read", () => {
  expect(plansIn(() => activity.budgets(undefined, 5))).toEqual(["SCAN sessions USING INDEX sessions_budget"]);
});
