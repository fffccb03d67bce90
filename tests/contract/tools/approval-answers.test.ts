import { describe, expect, test } from "bun:test";
import { ConfigureAnswer } from "../../../src/contract/tools/approval-answers.ts";
import { declared } from "../../support/mcp/tool-answers.ts";
import { expectAnswer, expectRefusal } from "./answer.ts";
import { ARGS, supervised } from "./supervised.ts";

describe("loopback_respond", () => {
  test("says what it has recorded", async () => {
    await using world = await supervised();
    const first = await world.ask();
    const allowed = await world.parent.call("loopback_respond", { approval_id: first.id, approve: true });
    expectAnswer("loopback_respond", allowed, { type: "ok", approval_id: first.id, status: "allowed" });
    const second = await world.ask({ ...ARGS, tool_use_id: "toolu_2" });
    const denied = await world.parent.call("loopback_respond", { approval_id: second.id, approve: false });
    expectAnswer("loopback_respond", denied, { type: "ok", approval_id: second.id, status: "denied" });
  });

  test("says who was first, which is no error", async () => {
    await using world = await supervised();
    const { id } = await world.ask();
    await world.parent.call("loopback_respond", { approval_id: id, approve: false });
    const late = await world.parent.call("loopback_respond", { approval_id: id, approve: true });
    expectAnswer("loopback_respond", late, { type: "already_resolved", status: "denied", resolved_by: "operator" });
  });

  test("says that the time was up first", async () => {
    await using world = await supervised();
    const { id } = await world.ask();
    world.pass(301);
    const late = await world.parent.call("loopback_respond", { approval_id: id, approve: true });
    expectAnswer("loopback_respond", late, { type: "already_resolved", status: "timed_out", resolved_by: "timeout" });
  });

  test("refuses an id that it doesn't know", async () => {
    await using world = await supervised();
    const answer = await world.parent.call("loopback_respond", { approval_id: crypto.randomUUID(), approve: true });
    expectRefusal(answer, "not_found");
  });
});

describe("loopback_pending", () => {
  test("lists what waits", async () => {
    await using world = await supervised();
    const { id } = await world.ask();
    const listed = { type: "ok", approvals: [{ id, ...ARGS }], has_more: false };
    expectAnswer("loopback_pending", await world.parent.call("loopback_pending"), listed);
    const ofSession = await world.parent.call("loopback_pending", { session_id: world.worker.sessionId });
    expectAnswer("loopback_pending", ofSession, listed);
  });

  test("lists nothing as []", async () => {
    await using world = await supervised();
    expectAnswer("loopback_pending", await world.parent.call("loopback_pending"), { approvals: [], has_more: false });
  });

  test("lists the oldest first", async () => {
    await using world = await supervised();
    const ids: string[] = [];
    for (const tool_use_id of ["toolu_1", "toolu_2", "toolu_3"])
      ids.push((await world.ask({ ...ARGS, tool_use_id })).id);
    const { value } = await world.parent.call("loopback_pending");
    expect(value["approvals"]).toMatchObject(ids.map((id) => ({ id })));
  });

  test("refuses a session that it doesn't know", async () => {
    await using world = await supervised();
    const answer = await world.parent.call("loopback_pending", { session_id: crypto.randomUUID() });
    expectRefusal(answer, "not_found");
  });
});

describe("loopback_get", () => {
  test("reads one approval", async () => {
    await using world = await supervised();
    const { id } = await world.ask();
    const answer = await world.parent.call("loopback_get", { approval_id: id });
    expectAnswer("loopback_get", answer, { type: "ok", approval: { id, ...ARGS, status: "pending" } });
  });

  test("reads a slice of its input's text", async () => {
    await using world = await supervised();
    const { id } = await world.ask();
    const answer = await world.parent.call("loopback_get", { approval_id: id, offset: 1, length: 9 });
    const part = { approval_id: id, text: '"command"', offset: 1, length: 9, total: 16, has_more: true };
    expectAnswer("loopback_get", answer, { type: "ok", ...part });
  });

  test("refuses an id that it doesn't know", async () => {
    await using world = await supervised();
    const answer = await world.parent.call("loopback_get", { approval_id: crypto.randomUUID() });
    expectRefusal(answer, "not_found");
  });
});

describe("loopback_wait", () => {
  const asked = (id: string) => ({ type: "ok", approvals: [{ id, ...ARGS }], has_more: false, finished: [] });

  test("returns what is pending at once", async () => {
    await using world = await supervised();
    const { id } = await world.ask();
    expectAnswer("loopback_wait", await world.parent.call("loopback_wait"), asked(id));
  });

  test("returns as soon as a child asks", async () => {
    await using world = await supervised();
    const waited = world.parent.call("loopback_wait", { timeout_secs: 60 });
    const { id } = await world.ask();
    expectAnswer("loopback_wait", await waited, asked(id));
  });

  test("says that the time is up, and where to go on", async () => {
    await using world = await supervised();
    const answer = await world.parent.call("loopback_wait", { timeout_secs: 0 });
    expectAnswer("loopback_wait", answer, { type: "timeout", cursor: expect.any(Number) });
  });

  test("takes its cursor as the next since", async () => {
    await using world = await supervised();
    const { value } = await world.parent.call("loopback_wait", { timeout_secs: 0 });
    const { id } = await world.ask();
    const answer = await world.parent.call("loopback_wait", { since: value["cursor"] });
    expectAnswer("loopback_wait", answer, asked(id));
  });
});

describe("loopback_configure", () => {
  const headers = { Authorization: expect.stringMatching(/^Bearer plx_[\w-]+_[\w-]{43}$/) };
  const url = expect.stringMatching(/^http:\/\/127\.0\.0\.1:\d+\/mcp$/);
  const example = declared("loopback_configure").examples[0]?.answer;
  const configured = {
    type: "ok",
    mcp_config: { mcpServers: { plexus: { type: "http", url, headers, timeout: 100_000_000 } } },
    // The last one is the settings, too long for an example.
    args: [...ConfigureAnswer.parse(example).args.slice(0, -1), expect.any(String)],
  };

  test("returns what a claude started by hand needs", async () => {
    await using world = await supervised();
    for (const args of [{ name: "by hand" }, {}]) {
      expectAnswer("loopback_configure", await world.parent.call("loopback_configure", args), configured);
    }
  });

  test("gives a session of the caller's one more token, by its id or its name", async () => {
    await using world = await supervised();
    for (const key of [world.worker.sessionId, "worker"]) {
      const answer = await world.parent.call("loopback_configure", { session_id: key });
      expectAnswer("loopback_configure", answer, { ...configured, session_id: world.worker.sessionId });
    }
  });

  test("refuses a name in use", async () => {
    await using world = await supervised();
    const answer = await world.parent.call("loopback_configure", { name: "worker" });
    expectRefusal(answer, "name_taken");
  });
});
