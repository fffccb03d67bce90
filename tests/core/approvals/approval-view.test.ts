import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { Approval, ApprovalStatus, PermitAnswer } from "../../../src/contract/approvals/approval.ts";
import { ChangeEvent } from "../../../src/contract/change.ts";
import { toApproval, toChangeEvent, toPermitAnswer } from "../../../src/core/approvals/approval-view.ts";
import type { ApprovalRow } from "../../../src/storage/approvals.ts";
import { newApproval } from "../../storage/rows.ts";

const row = (given: Partial<ApprovalRow> = {}): ApprovalRow => ({
  ...newApproval(),
  status: "allowed",
  responseMessage: null,
  updatedInput: null,
  interrupt: false,
  resolvedAt: 2_999,
  resolvedBy: "operator",
  isBuiltin: false,
  deliveredAt: 3_999,
  resultAt: null,
  auditSeq: 1,
  inputCutAt: null,
  heldBy: null,
  heldUntil: null,
  ...given,
});

describe("the answer to a child", () => {
  test("echoes an input of up to 8,000 bytes, and sends {} for a longer one", () => {
    const ofBytes = (bytes: number) => ({ a: "é".repeat((bytes - 8) / 2) });
    const [small, large] = [ofBytes(8_000), ofBytes(8_002)];
    expect(toPermitAnswer(row({ input: small }))).toEqual({ behavior: "allow", updatedInput: small });
    expect(toPermitAnswer(row({ input: large }))).toEqual({ behavior: "allow", updatedInput: {} });
  });

  test("carries the edited input, however long it or the original is", () => {
    const edited = { command: "y".repeat(20_000) };
    const answer = toPermitAnswer(row({ input: { command: "x".repeat(20_000) }, updatedInput: edited }));
    expect(answer).toEqual({ behavior: "allow", updatedInput: edited });
  });

  test("denies an edit whose input was removed, and allows an unedited call whose input was removed", () => {
    const removed = { input: {}, inputCutAt: 5_000 };
    expect(toPermitAnswer(row(removed))).toEqual({ behavior: "allow", updatedInput: {} });
    expect(toPermitAnswer(row({ ...removed, updatedInput: {} }))).toMatchObject({ behavior: "deny" });
  });

  test("interrupts only with a denial", () => {
    expect(toPermitAnswer(row({ status: "denied", responseMessage: "stop", interrupt: true }))).toEqual({
      behavior: "deny",
      message: "stop",
      interrupt: true,
    });
    for (const status of ["allowed", "timed_out", "abandoned"] as const) {
      expect(toPermitAnswer(row({ status, interrupt: true }))).not.toHaveProperty("interrupt");
    }
    expect(toPermitAnswer(row({ status: "denied" }))).not.toHaveProperty("interrupt");
  });

  test("names who denied if no reason was given", () => {
    expect(toPermitAnswer(row({ status: "denied", resolvedBy: "token:ci" }))).toMatchObject({
      message: expect.stringContaining("token:ci"),
    });
  });

  test("is allow exactly when the row says allowed, and a denial always has a message", () => {
    const anyRow = fc.record({
      status: fc.constantFrom(...ApprovalStatus.options),
      responseMessage: fc.option(fc.string()),
      updatedInput: fc.option(fc.dictionary(fc.string(), fc.string(), { minKeys: 1 })),
      interrupt: fc.boolean(),
    });
    fc.assert(
      fc.property(anyRow, (given) => {
        if (given.status === "pending") return expect(() => toPermitAnswer(row(given))).toThrow("still pending");
        const answer = PermitAnswer.parse(toPermitAnswer(row(given)));
        expect(answer.behavior).toBe(given.status === "allowed" ? "allow" : "deny");
        if (answer.behavior === "allow" && given.updatedInput) expect(answer.updatedInput).toEqual(given.updatedInput);
      }),
    );
  });
});

describe("what others see of an approval", () => {
  test("fits its schema, with times in whole seconds", () => {
    expect(Approval.parse(toApproval(row()))).toMatchObject({ created_at: 1, expires_at: 301, resolved_at: 2 });
    expect(Approval.parse(toApproval(row({ resolvedAt: null, resolvedBy: null }))).resolved_at).toBeNull();
  });

  test("announces a request at any time, and a resolution only once there is one", () => {
    const pending = row({ status: "pending", resolvedAt: null, resolvedBy: null });
    expect(ChangeEvent.parse(toChangeEvent("approval_requested", pending)).type).toBe("approval_requested");
    expect(ChangeEvent.parse(toChangeEvent("approval_requested", row())).type).toBe("approval_requested");
    expect(toChangeEvent("approval_resolved", pending)).toBeUndefined();
    expect(ChangeEvent.parse(toChangeEvent("approval_resolved", row()))).toMatchObject({ status: "allowed" });
  });
});
