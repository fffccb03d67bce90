import { describe, expect, test } from "bun:test";
import { PermitAnswer } from "../../../src/contract/approvals/approval.ts";
import { ErrorResult } from "../../../src/contract/refusals/errors.ts";
import type { ToolAnswer } from "../../support/mcp/mcp-client.ts";
import { ARGS, OPERATOR, supervised, TIMED_OUT } from "./supervised.ts";

/** Expects one text with exactly the JSON that the CLI parses, and nothing else. */
function expectPermit(answer: ToolAnswer, expected: PermitAnswer): void {
  expect(answer.structured).toBeUndefined();
  expect(answer.isError).toBe(false);
  expect(answer.text).toBe(JSON.stringify(answer.value));
  expect(PermitAnswer.parse(answer.value)).toEqual(expected);
}

describe("loopback_permit", () => {
  test("allows the call with its own input", async () => {
    await using world = await supervised();
    const { id, answered } = await world.ask();
    await world.parent.call("loopback_respond", { approval_id: id, approve: true });
    expectPermit(await answered, { behavior: "allow", updatedInput: ARGS.input });
  });

  test("allows the call with another input", async () => {
    await using world = await supervised();
    const { id, answered } = await world.ask();
    await world.parent.call("loopback_respond", {
      approval_id: id,
      approve: true,
      updated_input: { command: "ls -l" },
    });
    expectPermit(await answered, { behavior: "allow", updatedInput: { command: "ls -l" } });
  });

  test("does not echo a large input: {} means the same to the CLI", async () => {
    await using world = await supervised();
    const { id, answered } = await world.ask({ ...ARGS, input: { command: "x".repeat(10_000) } });
    await world.parent.call("loopback_respond", { approval_id: id, approve: true });
    expectPermit(await answered, { behavior: "allow", updatedInput: {} });
  });

  test("denies the call with the reason", async () => {
    await using world = await supervised();
    const { id, answered } = await world.ask();
    await world.parent.call("loopback_respond", { approval_id: id, approve: false, message: "Not in this directory." });
    expectPermit(await answered, { behavior: "deny", message: "Not in this directory." });
  });

  test("has a message even for a denial without a reason", async () => {
    await using world = await supervised();
    const { id, answered } = await world.ask();
    await world.parent.call("loopback_respond", { approval_id: id, approve: false });
    expectPermit(await answered, {
      behavior: "deny",
      message: "Denied by operator, without a reason. The tool was not run.",
    });
  });

  test("denies the call and stops the child", async () => {
    await using world = await supervised();
    const { id, answered } = await world.ask();
    await world.parent.call("loopback_respond", { approval_id: id, approve: false, message: "Stop.", interrupt: true });
    expectPermit(await answered, { behavior: "deny", message: "Stop.", interrupt: true });
  });

  test("denies the call if nobody decided in time", async () => {
    await using world = await supervised();
    const { answered } = await world.ask();
    world.pass(301);
    expectPermit(await answered, { behavior: "deny", message: TIMED_OUT });
  });

  test("accepts unknown arguments", async () => {
    await using world = await supervised();
    const { id, answered } = await world.ask({ ...ARGS, permission_suggestions: [], session_id: "not-mine" });
    await world.parent.call("loopback_respond", { approval_id: id, approve: true });
    expectPermit(await answered, { behavior: "allow", updatedInput: ARGS.input });
    expect((await world.plexus.app.approvals.get(OPERATOR, id)).session_id).toBe(world.worker.sessionId);
  });

  test("refuses bad arguments without structured content", async () => {
    await using world = await supervised();
    const answer = await world.child.call("loopback_permit", { tool_name: "Bash" });
    expect(answer.isError).toBe(true);
    expect(answer.structured).toBeUndefined();
    expect(ErrorResult.parse(answer.value).code).toBe("invalid_arguments");
  });
});
