import { describe, expect, test } from "bun:test";
import { Approval } from "../../../src/contract/approvals/approval.ts";
import { RespondResult } from "../../../src/contract/approvals/decision.ts";
import { ErrorBody } from "../../../src/contract/refusals/errors.ts";
import type { TestClient } from "../../support/mcp/mcp-client.ts";
import { ARGS, OPERATOR, supervised, TIMED_OUT } from "./supervised.ts";

const read = async ({ parent }: { parent: TestClient }, id: string): Promise<Approval> =>
  Approval.parse((await parent.call("loopback_get", { approval_id: id })).value["approval"]);
const undecided = {
  status: "pending",
  response_message: null,
  updated_input: null,
  resolved_at: null,
  resolved_by: null,
};

describe("an Approval", () => {
  test("that is pending has no fields of a decision for an agent", async () => {
    await using world = await supervised();
    const { id } = await world.ask();
    const approval = await read(world, id);
    expect(approval).toMatchObject({ ...ARGS, status: "pending", session_name: "worker" });
    for (const field of [...Object.keys(undecided).filter((key) => key !== "status"), "delivered_at"])
      expect(approval).not.toHaveProperty(field);
  });

  test("that is pending has null for the fields of a decision over REST", async () => {
    await using world = await supervised();
    const { id } = await world.ask();
    const { approval } = Object(await (await world.plexus.fetch(`/api/v1/approvals/${id}`)).json());
    expect(approval).toMatchObject({ ...ARGS, ...undecided, session_name: "worker" });
    expect(approval).not.toHaveProperty("delivered_at");
  });

  test("without a tool_use_id has null there", async () => {
    await using world = await supervised();
    const { id } = await world.ask({ tool_name: "Bash", input: { command: "ls" } });
    expect(await read(world, id)).toMatchObject({ status: "pending", tool_use_id: null });
  });

  test("that was allowed has no message and no updated input", async () => {
    await using world = await supervised();
    const { id } = await world.ask();
    await world.parent.call("loopback_respond", { approval_id: id, approve: true });
    expect(await read(world, id)).toMatchObject({
      status: "allowed",
      response_message: null,
      updated_input: null,
      resolved_at: expect.any(Number),
      resolved_by: "operator",
      delivered_at: expect.any(Number),
    });
  });

  test("that was allowed with another input keeps both", async () => {
    await using world = await supervised();
    const { id } = await world.ask();
    await world.parent.call("loopback_respond", {
      approval_id: id,
      approve: true,
      updated_input: { command: "ls -l" },
    });
    expect(await read(world, id)).toMatchObject({ input: ARGS.input, updated_input: { command: "ls -l" } });
  });

  test("that was denied has the decider and the reason", async () => {
    await using world = await supervised();
    const { token } = await world.plexus.app.tokens.createNamed("laptop");
    const laptop = await world.plexus.connect(token);
    const configured = await laptop.call("loopback_configure", { name: "worker" });
    const session = await world.plexus.app.sessions.get(String(configured.value["session_id"]));
    if (!session) throw new Error("the session was not made");
    const { approvalId } = await world.plexus.app.approvals.request(session, ARGS);
    await laptop.call("loopback_respond", {
      approval_id: approvalId,
      approve: false,
      message: "Not in this directory.",
    });
    expect(await read({ parent: laptop }, approvalId)).toMatchObject({
      status: "denied",
      response_message: "Not in this directory.",
      resolved_by: "token:laptop",
    });
  });

  test("that nobody decided has timed out", async () => {
    await using world = await supervised();
    const { id, answered } = await world.ask();
    world.pass(301);
    await answered;
    expect(await read(world, id)).toMatchObject({
      status: "timed_out",
      response_message: TIMED_OUT,
      resolved_by: "timeout",
    });
  });

  test("whose child is gone is abandoned", async () => {
    await using world = await supervised();
    const { id } = await world.ask();
    await world.plexus.app.approvals.abandon([id], "the test says so");
    expect(await read(world, id)).toMatchObject({
      status: "abandoned",
      response_message: expect.any(String),
      resolved_by: "plexus",
      delivered_at: null,
    });
  });

  test("with a long input is marked as shortened, with the input's size", async () => {
    await using world = await supervised();
    const { id } = await world.ask({ ...ARGS, input: { command: "x".repeat(100_000) } });
    const input_size = JSON.stringify({ command: "x".repeat(100_000) }).length;
    expect(await read(world, id)).toMatchObject({ truncated: true, input_size });
  });

  test("expires after the configured time, in whole seconds", async () => {
    await using world = await supervised();
    const { id } = await world.ask();
    const { created_at, expires_at } = await world.plexus.app.approvals.get(OPERATOR, id);
    expect(expires_at - created_at).toBe(300);
    expect(await read(world, id)).toMatchObject({ expires_in_secs: 300 });
    world.pass(120);
    expect(await read(world, id)).toMatchObject({ expires_in_secs: 180 });
  });

  test("that was decided keeps its dangers, but has no time left and no context for deciding", async () => {
    await using world = await supervised();
    const { id } = await world.ask({ ...ARGS, input: { command: "sudo rm -rf /" } });
    const { dangers } = Object(await read(world, id));
    expect(dangers).toContainEqual({ code: "privileges", text: "runs as root (sudo)" });
    await world.parent.call("loopback_respond", { approval_id: id, approve: false });
    const decided = await read(world, id);
    expect(decided).toMatchObject({ status: "denied", dangers });
    for (const field of ["expires_in_secs", "suggested_rule"]) expect(decided).not.toHaveProperty(field);
  });
});

describe("REST", () => {
  test("lists, reads and decides with the same objects as MCP", async () => {
    await using world = await supervised();
    const { id } = await world.ask();
    const json = async (path: string, init?: RequestInit) => (await world.plexus.fetch(path, init)).json();
    const approval = await read(world, id);
    expect(await json("/api/v1/approvals")).toMatchObject({ type: "ok", approvals: [approval] });
    expect(await json(`/api/v1/approvals/${id}`)).toEqual({ type: "ok", approval: { ...approval, ...undecided } });
    const body = JSON.stringify({ approve: true });
    const respond = () => json(`/api/v1/approvals/${id}/respond`, { method: "POST", body });
    expect(RespondResult.parse(await respond())).toEqual({ type: "ok", approval_id: id, status: "allowed" });
    expect(RespondResult.parse(await respond())).toMatchObject({ type: "already_resolved", status: "allowed" });
  });

  test("refuses with {error: {code, message}}", async () => {
    await using world = await supervised();
    const response = await world.plexus.fetch(`/api/v1/approvals/${crypto.randomUUID()}`);
    expect(response.status).toBe(404);
    expect(ErrorBody.parse(await response.json()).error.code).toBe("not_found");
  });
});
