import { describe, expect, test } from "bun:test";
import { budgetLeft } from "../../../src/core/sessions/budget.ts";
import { newConfig } from "../../storage/rows.ts";

const left = (max_budget_usd: number | null, ownCostUsd: number) =>
  budgetLeft({ name: "spender", ownCostUsd }, newConfig({ max_budget_usd }));

describe("budgetLeft", () => {
  test("is what the session's own turns have left, and undefined without a budget", () => {
    expect(left(2, 0)).toBe(2);
    expect(left(2, 0.5)).toBe(1.5);
    expect(left(null, 1_000)).toBeUndefined();
  });

  test("is never more than what is left, in a form that the CLI accepts", () => {
    expect(left(0.3, 0.1)).toBeLessThanOrEqual(0.2);
    expect(String(left(0.000002, 0.0000005))).toBe("0.000001");
  });

  test.each([
    [0.5, 0.5],
    [0.5, 0.7],
    [0.000001, 0.0000001],
  ])("refuses a session with a budget of $%d that has spent $%d, and says what to do", (budget, spent) => {
    expect(() => left(budget, spent)).toThrow(/"spender" has used up its budget: .*Raise it/);
  });
});
