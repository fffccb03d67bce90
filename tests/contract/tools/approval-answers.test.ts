import { describe, expect, test } from "bun:test";
import { ConfigureAnswer } from "../../../src/contract/tools/approval-answers.ts";
import { declared } from "../../support/mcp/tool-answers.ts";
import { expectAnswer, expectRefusal } from "./answer.ts";
import { ARGS, supervised } from "./supervised.ts";

describe("loopback_respond", () => {
  test("returns what it has recorded", async () => {
    await using world = await supervised();
    const first = await world.ask();
    const allowed = await world.parent.call("loopback_respond", { approval_id: first.id, approve: true });
    expectAnswer("loopback_respond", allowed, { type: "ok", approval_id: first.id, status: "allowed" });
    const second = await world.ask({ ...ARGS, tool_use_id: "toolu_2" });
    const denied = await world.parent.call("loopback_respond", { approval_id: second.id, approve: false });
    expectAnswer("loopback_respond", denied, { type: "ok", approval_id: second.id, status: "denied" });
  });

  test("returns who was first, which is not an error", async () => {
    await using world = await supervised();
    const { id } = await world.ask();
    await world.parent.call("loopback_respond", { approval_id: id, approve: false });
    const late = await world.parent.call("loopback_respond", { approval_id: id, approve: true });
    expectAnswer("loopback_respond", late, { type: "already_resolved", status: "denied", resolved_by: "operator" });
  });

  test("reports that the request had timed out", async () => {
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
  test("lists pending requests", async () => {
    await using world = await supervised();
    const { id } = await world.ask();
    const listed = { type: "ok", approvals: [{ id, ...ARGS }], has_more: false };
    expectAnswer("loopback_pending", await world.parent.call("loopback_pending"), listed);
    const ofSession = await world.parent.call("loopback_pending", { session_id: world.worker.sessionId });
    expectAnswer("loopback_pending", ofSession, listed);
  });

  test("returns [] if nothing is pending", async () => {
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

describe("loopback_get with search", () => {
  const find = async (input: object, given: object) => {
    await using world = await supervised();
    const { id } = await world.ask({ ...ARGS, input });
    return await world.parent.call("loopback_get", { approval_id: id, ...given });
  };

  test("finds every occurrence of a text, with its surroundings", async () => {
    const content = `${"x".repeat(100)}needle${"y".repeat(100)}needle`;
    const answer = await find({ content }, { search: "needle" });
    const total = JSON.stringify({ content }).length;
    expectAnswer("loopback_get", answer, { type: "ok", total, has_more: false });
    const matches = answer.value["matches"];
    const json = JSON.stringify({ content });
    expect(matches).toEqual([112, 218].map((offset) => ({ offset, text: json.slice(offset - 60, offset + 66) })));
  });

  test("returns where it stopped, and continues from there", async () => {
    const content = "ab".repeat(30);
    const first = await find({ content }, { search: "ab" });
    expect(first.value["has_more"]).toBe(true);
    const offsets = (first.value["matches"] as { offset: number }[]).map(({ offset }) => offset);
    expect(offsets).toHaveLength(20);
    const rest = await find({ content }, { search: "ab", offset: (offsets.at(-1) ?? 0) + 1 });
    expectAnswer("loopback_get", rest, { has_more: false });
    expect(rest.value["matches"]).toHaveLength(10);
  });

  test("searches the literal text, quotes, line breaks and unicode included", async () => {
    const content = 'say "hi"\\n.*\n🙂';
    for (const search of ['"hi"', ".*", ".*\n🙂", "\\n.", "🙂"]) {
      const { value } = await find({ content }, { search });
      expect({ search, found: (value["matches"] as unknown[]).length }).toEqual({ search, found: 1 });
    }
    expectAnswer("loopback_get", await find({ content }, { search: "HI" }), { matches: [], has_more: false });
  });

  test("stays within the size of a result, for any text and any number of occurrences", async () => {
    const answer = await find({ content: '"'.repeat(1_000_000) }, { search: '"'.repeat(200) });
    expectAnswer("loopback_get", answer, { has_more: true });
    expect(answer.text.length).toBeLessThan(40_000);
  });

  test("refuses search together with length", async () => {
    expectRefusal(await find({ a: 1 }, { search: "a", length: 5 }), "invalid_arguments");
  });
});

describe("loopback_configure", () => {
  const headers = { Authorization: expect.stringMatching(/^Bearer plx_[\w-]+_[\w-]{43}$/) };
  const url = expect.stringMatching(/^http:\/\/127\.0\.0\.1:\d+\/mcp$/);
  const example = declared("loopback_configure").examples[0]?.answer;
  const configured = {
    type: "ok",
    mcp_config: { mcpServers: { plexus: { type: "http", url, headers, timeout: 700_000_000 } } },
    // The last argument is the settings, which are too long for an example.
    args: [...ConfigureAnswer.parse(example).args.slice(0, -1), expect.any(String)],
  };

  test("returns what a claude started by hand needs", async () => {
    await using world = await supervised();
    for (const args of [{ name: "by hand" }, {}]) {
      expectAnswer("loopback_configure", await world.parent.call("loopback_configure", args), configured);
    }
  });

  test("creates another token for a session of the caller, by its id or its name", async () => {
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
