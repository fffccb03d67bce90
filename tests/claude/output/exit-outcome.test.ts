import { describe, expect, test } from "bun:test";
import { exitOutcome } from "../../../src/claude/output/exit-outcome.ts";
import type { InitFact, ResultFact } from "../../../src/claude/output/facts.ts";

const init: InitFact = { claudeSessionId: "s", model: "m", version: "2.1.325", plexusStatus: "connected" };
const result: ResultFact = {
  subtype: "success",
  is_error: false,
  errors: [],
  text: "done",
  claudeSessionId: "s",
  inputTokens: 1,
  outputTokens: 1,
  numTurns: 1,
  totalCostUsd: 0,
  permissionDenials: [],
};
const well = { exitCode: 0, result, init, stderrTail: "" };

describe("exitOutcome", () => {
  test("is complete when exit code, result and error flag all say so", () => {
    expect(exitOutcome({ ...well, stderrTail: "a warning" })).toEqual({ outcome: "complete" });
  });

  test.each([
    [
      "an API error that is reported as a success",
      { exitCode: 1, result: { ...result, is_error: true, text: "API Error: 529" } },
      "API Error: 529",
    ],
    ["an error with exit code 0", { result: { ...result, is_error: true, text: "bad" } }, "bad"],
    [
      "an interrupt, exit code 0",
      { result: { ...result, subtype: "error_during_execution" } },
      "error_during_execution",
    ],
    ["max turns", { exitCode: 1, result: { ...result, subtype: "error_max_turns", is_error: true } }, "max_turns"],
    ["the budget", { exitCode: 1, result: { ...result, subtype: "error_max_budget_usd" } }, "max_budget_usd"],
    ["an exit code after a result", { exitCode: 1 }, "exit code 1 after it had reported"],
    ["no result", { result: undefined }, "in the middle of its work"],
    [
      "no first line",
      { exitCode: 1, result: undefined, init: undefined, stderrTail: "error: unknown option" },
      "unknown option",
    ],
    ["SIGTERM", { exitCode: 143, result: undefined }, "143 (SIGTERM)"],
    ["no exit code", { exitCode: undefined, result: undefined }, "without an exit code"],
    ["no exit code after a result", { exitCode: undefined }, "without an exit code after it had"],
    [
      "Plexus out of reach",
      { exitCode: 1, result: undefined, init: { ...init, plexusStatus: "failed" } },
      "could not reach Plexus",
    ],
    [
      "no login",
      { exitCode: 1, result: { ...result, is_error: true, text: "Not logged in · Please run /login" } },
      "ANTHROPIC_API_KEY",
    ],
  ])("is failed for %s, and says so", (_, exit, message) => {
    expect(exitOutcome({ ...well, ...exit })).toMatchObject({
      outcome: "failed",
      message: expect.stringContaining(message),
    });
  });

  test("keeps the message short, with the end of stderr", () => {
    const verdict = exitOutcome({
      ...well,
      exitCode: 1,
      result: { ...result, is_error: true, text: "x".repeat(1e6) },
      stderrTail: `${"y".repeat(1e6)}END`,
    });
    expect(verdict.outcome === "failed" && verdict.message.length).toBeLessThan(7_000);
    expect(verdict).toMatchObject({ message: expect.stringMatching(/END$/) });
  });
});
