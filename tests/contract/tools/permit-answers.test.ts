import { describe, expect, test } from "bun:test";
import { PermitAnswer } from "../../../src/contract/approvals/approval.ts";
import { ErrorResult } from "../../../src/contract/refusals/errors.ts";
import type { ToolAnswer } from "../../support/mcp/mcp-client.ts";
import { ARGS, OPERATOR, supervised, TIMED_OUT } from "./supervised.ts";

/** The text is exactly the JSON that the CLI parses, and there is nothing else. */
function expectPermit(answer: ToolAnswer, expected: PermitAnswer): void {
  expect(answer.structured).toBeUndefined();
  expect(answer.isError).toBe(false);
  expect(answer.text).toBe(JSON.stringify(answer.value));
  expect(PermitAnswer.parse(answer.value)).toEqual(expected);
}

describe("loopback_permit", () => {
  test("tells the child that it may, with the input that it asked for", async () => {
    await using world = await supervised();
    const { id, answered } = await world.ask();
    await world.parent.call("loopback_respond", { approval_id: id, approve: true });
    expectPermit(await answered, { behavior: "allow", updatedInput: ARGS.input });
  });

  test("tells the child that it may, with another input", async () => {
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

  test("tells the child that it may not, and why", async () => {
    await using world = await supervised();
    const { id, answered } = await world.ask();
    await world.parent.call("loopback_respond", { approval_id: id, approve: false, message: "Not in this directory." });
    expectPermit(await answered, { behavior: "deny", message: "Not in this directory." });
  });

  test("has a message even where nobody gave one", async () => {
    await using world = await supervised();
    const { id, answered } = await world.ask();
    await world.parent.call("loopback_respond", { approval_id: id, approve: false });
    expectPermit(await answered, {
      behavior: "deny",
      message: "Denied by operator, without a reason. The tool was not run.",
    });
  });

  test("tells the child to stop", async () => {
    await using world = await supervised();
    const { id, answered } = await world.ask();
    await world.parent.call("loopback_respond", { approval_id: id, approve: false, message: "Stop.", interrupt: true });
    expectPermit(await answered, { behavior: "deny", message: "Stop.", interrupt: true });
  });

  test("tells the child that nobody decided in time", async () => {
    await using world = await supervised();
    const { answered } = await world.ask();
    world.pass(301);
    expectPermit(await answered, { behavior: "deny", message: TIMED_OUT });
  });

  test("is lenient: takes arguments that it doesn't know", async () => {
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
