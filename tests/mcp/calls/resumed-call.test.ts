import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from "bun:test";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import type { JsonObject } from "../../../src/contract/values.ts";
import { callEventId, readCallEventId } from "../../../src/mcp/calls/event-id.ts";
import { namedToken } from "../../http/support/callers.ts";
import { RESULT_LINE, writeStandIn } from "../../support/claude/stand-in.ts";
import { get, post, type RawStream } from "../../support/mcp/raw-mcp.ts";
import { OPERATOR_TOKEN, type Plexus, startPlexus } from "../../support/server/plexus.ts";
import { type TemporaryDirectory, temporaryDirectory } from "../../support/temporary.ts";
import { until } from "../../support/until.ts";

setDefaultTimeout(60_000);

const token = OPERATOR_TOKEN;
/** Works until the file that its prompt names exists, then reports its result. */
const STAND_IN = `read -r gate; until [ -e "$gate" ]; do sleep 0.02; done; echo '${RESULT_LINE}'`;

let directory: TemporaryDirectory;
let plexus: Plexus;
beforeAll(async () => {
  directory = await temporaryDirectory();
  plexus = await startPlexus({ flags: { claude: writeStandIn(directory.path, STAND_IN) } });
});
afterAll(async () => {
  await plexus[Symbol.asyncDispose]();
  await directory[Symbol.asyncDispose]();
});

const message = (name: string, args: object, id = 7) => ({
  jsonrpc: "2.0",
  id,
  method: "tools/call",
  params: { name, arguments: args, _meta: { progressToken: "seven" } },
});
const at = (name: string) => join(directory.path, name);
const called = async (tool: string, args: object, as = token): Promise<JsonObject> =>
  JSON.parse(await (await post(plexus.url, message(tool, args), { token: as })).answer());
const create = (name: string, as = token) => called("claudecode_create", { name, working_dir: directory.path }, as);
/** Gives a session work that ends when `open` is called. */
const work = (name: string) => ({ prompt: `${at(name)}\n`, open: () => writeFileSync(at(name), "") });
const resume = (id: string, as = token, server = plexus) =>
  get(server.url, { token: as, headers: { "last-event-id": id } });
const idOf = (tool: string, state: JsonObject) => callEventId({ tool, id: 7, progressToken: "seven", state }) ?? "";

/** The call of a waiting tool, with the id by which it resumes. */
async function waiting(tool: string, args: object): Promise<{ stream: RawStream; id: string }> {
  const stream = await post(plexus.url, message(tool, args), { token });
  for (let event = await stream.next(); event; event = await stream.next()) {
    if (event.id && readCallEventId(event.id)?.state) return { stream, id: event.id };
  }
  throw new Error(`${tool} did not wait`);
}

describe("the answer to a tool that waits", () => {
  test("begins with an id to resume by, then has one with the position, and progress", async () => {
    const { id: session_id } = await create("primed");
    const { open, prompt } = work("primed");
    await called("claudecode_chat_async", { name: "primed", prompt });
    const stream = await post(plexus.url, message("loopback_wait", { session_id }), { token });
    const first = await stream.next();
    expect(first).toMatchObject({ retry: "10000", message: undefined });
    expect(readCallEventId(first?.id ?? "")).toEqual({ tool: "loopback_wait", id: 7, progressToken: "seven" });
    const second = await stream.next();
    expect(readCallEventId(second?.id ?? "")).toMatchObject({
      state: { session_id, since: 0, until: expect.any(Number) },
    });
    expect((await stream.next())?.message).toMatchObject({
      method: "notifications/progress",
      params: { progressToken: "seven", progress: 1 },
    });
    stream.disconnect();
    open();
  });

  test("has no id for a client that would not understand it", async () => {
    const headers = { "mcp-protocol-version": "2025-06-18" };
    const stream = await post(plexus.url, message("loopback_wait", { since: 1_000, timeout_secs: 0.1 }), {
      token,
      headers,
    });
    for (let event = await stream.next(); event; event = await stream.next()) expect(event.id).toBeUndefined();
  });
});

describe("a resumed call", () => {
  test("goes on waiting from the same place, and answers the same request", async () => {
    const { id: session_id } = await create("awaited");
    const { open, prompt } = work("awaited");
    await called("claudecode_chat_async", { name: "awaited", prompt });
    const { stream, id } = await waiting("loopback_wait", { session_id, timeout_secs: 60 });
    stream.disconnect();
    open();
    await until(
      "the turn to end",
      async () => (await called("claudecode_poll", { name: "awaited" }))["status"] === "complete",
    );
    const resumed = await resume(id);
    expect(await resumed.next()).toMatchObject({ id, retry: "10000" });
    const answer = await resumed.next();
    expect(answer?.message?.id).toBe(7);
    expect(answer?.message?.result).toMatchObject({ structuredContent: { finished: [{ name: "awaited" }] } });
    expect(await resumed.next()).toBeUndefined();
  });

  test("waits no longer than the original call would have", async () => {
    const { id: session_id } = await create("late");
    const { open, prompt } = work("late");
    await called("claudecode_chat_async", { name: "late", prompt });
    const state = { session_id, since: 0, until: Date.now() - 1 };
    const { headers, answer } = await resume(idOf("loopback_wait", state));
    expect(headers.get("content-type")).toBe("text/event-stream");
    expect(JSON.parse(await answer())).toMatchObject({ type: "timeout" });
    open();
  });

  test("reports immediately that it waits, and the id by which it resumes again", async () => {
    const { id: session_id } = await create("again");
    const { open, prompt } = work("again");
    await called("claudecode_chat_async", { name: "again", prompt });
    const { stream, id } = await waiting("loopback_wait", { session_id, timeout_secs: 60 });
    stream.disconnect();
    const resumed = await resume(id);
    expect([(await resumed.next())?.id, (await resumed.next())?.id]).toEqual([id, id]);
    expect((await resumed.next())?.message).toMatchObject({ method: "notifications/progress" });
    resumed.disconnect();
    open();
  });

  test("never starts a turn: a chat waits for the turn that it had started, even if another has followed", async () => {
    await create("chatted");
    const first = work("chatted");
    const { stream, id } = await waiting("claudecode_chat", { name: "chatted", prompt: first.prompt, wait_secs: 60 });
    stream.disconnect();
    const resumed = await resume(id);
    first.open();
    expect(JSON.parse(await resumed.answer())).toMatchObject({ type: "ok", status: "complete", pending_approvals: [] });
    const second = work("chatted-again");
    await called("claudecode_chat_async", { name: "chatted", prompt: second.prompt });
    expect(JSON.parse(await (await resume(id)).answer())).toMatchObject({ type: "ok", status: "complete" });
    second.open();
    const { session_id } = readCallEventId(id)?.state ?? {};
    const { streams } = await called("claudecode_streams", { session_id });
    expect(streams).toHaveLength(2);
  });

  test("reads again the events of a poll that may not have arrived, and moves its reader past them once", async () => {
    await create("polled");
    const { open, prompt } = work("polled");
    await called("claudecode_chat_async", { name: "polled", prompt });
    const poll = { name: "polled", wait_secs: 60 };
    await until("all events so far", async () => (await called("claudecode_poll", { name: "polled" }))["total_events"]);
    await until(
      "nothing new",
      async () => JSON.stringify((await called("claudecode_poll", { name: "polled" }))["events"]) === "[]",
    );
    const { stream, id } = await waiting("claudecode_poll", poll);
    open();
    // Treat this answer as lost on its way.
    const lost = JSON.parse(await stream.answer());
    expect(lost.events).not.toEqual([]);
    const again = JSON.parse(await (await resume(id)).answer());
    expect(again.events.slice(0, lost.events.length)).toEqual(lost.events);
    const next = await called("claudecode_poll", { name: "polled" });
    expect(next).toMatchObject({ read_position: again.read_position });
  });

  test("answers outcome_unknown if it was not waiting", async () => {
    const stream = await post(plexus.url, message("loopback_pending", {}), { token });
    const { id } = (await stream.next()) ?? {};
    await stream.answer();
    expect(JSON.parse(await (await resume(id ?? "")).answer())).toMatchObject({
      type: "error",
      code: "outcome_unknown",
    });
  });

  test.each(["zzz", "9999-99-99", "2026-07-29"])("is refused in the unknown revision %s", async (revision) => {
    const id = idOf("loopback_wait", { since: 0, until: 0 });
    const headers = { "last-event-id": id, "mcp-protocol-version": revision };
    const answer = await plexus.fetch("/mcp", { headers: { ...headers, accept: "text/event-stream" } });
    expect([answer.status, await answer.text()]).toEqual([
      400,
      expect.stringContaining("Unsupported protocol version"),
    ]);
    const known = await plexus.fetch("/mcp", {
      headers: { ...headers, accept: "text/event-stream", "mcp-protocol-version": "2026-07-28" },
    });
    expect(known.status).toBe(200);
    await known.body?.cancel();
  });

  test("answers at once when the server stops", async () => {
    await using own = await startPlexus({ dataDir: at("own"), flags: { claude: at("claude") } });
    const resumed = await resume(idOf("loopback_wait", { since: 1_000, until: Date.now() + 60_000 }), token, own);
    await resumed.next();
    const stopped = own[Symbol.asyncDispose]();
    expect(JSON.parse(await resumed.answer())).toMatchObject({ cursor: expect.any(Number) });
    await stopped;
  });

  test("is refused if its token is revoked meanwhile, like the call itself", async () => {
    const { token: named } = await namedToken(plexus, "revoked");
    await create("of-revoked", named);
    const { open, prompt } = work("of-revoked");
    await called("claudecode_chat_async", { name: "of-revoked", prompt }, named);
    const direct = await post(plexus.url, message("loopback_wait", { timeout_secs: 60 }), { token: named });
    const resumed = await resume(idOf("loopback_wait", { since: 1_000, until: Date.now() + 60_000 }), named);
    await Promise.all([direct.next(), resumed.next()]);
    await plexus.app.tokens.revoke("revoked");
    for (const stream of [direct, resumed]) {
      expect(JSON.parse(await stream.answer())).toMatchObject({ code: "unauthorized" });
    }
    open();
  });
});

describe("a made-up id", () => {
  test("shows nothing of another's session", async () => {
    const { token: named } = await namedToken(plexus, "stranger");
    await create("private");
    const { open, prompt } = work("private");
    const { stream, id } = await waiting("claudecode_chat", { name: "private", prompt, wait_secs: 60 });
    expect(JSON.parse(await (await resume(id, named)).answer())).toMatchObject({ code: "not_found" });
    const { session_id, turn_id } = readCallEventId(id)?.state ?? {};
    const own = await create("of-stranger", named);
    const mixed = idOf("claudecode_chat", { session_id: own["id"], turn_id, until: Date.now() + 60_000 });
    expect(JSON.parse(await (await resume(mixed, named)).answer())).toMatchObject({ code: "not_found" });
    const read = idOf("claudecode_poll", { session_id, until: Date.now() + 60_000 });
    expect(JSON.parse(await (await resume(read, named)).answer())).toMatchObject({ code: "not_found" });
    stream.disconnect();
    open();
  });

  test.each<[string, string, JsonObject, string]>([
    ["a state that is none", "loopback_wait", { since: "x" }, "invalid_arguments"],
    ["more than the tool takes", "loopback_wait", { since: 1, until: 0, prompt: "x" }, "invalid_arguments"],
    ["a tool that can't be taken up", "claudecode_chat_async", { name: "worker", prompt: "x" }, "outcome_unknown"],
    ["a decision", "loopback_respond", { approval_id: "x", approve: true }, "invalid_arguments"],
    ["no tool", "nothing", {}, "not_found"],
    ["a permit", "loopback_permit", { tool_name: "Bash", input: {} }, "invalid_arguments"],
  ])("is refused where it holds %s", async (_, tool, state, code) => {
    expect(JSON.parse(await (await resume(idOf(tool, state))).answer())).toMatchObject({ type: "error", code });
  });

  test("does not move a reader beyond the last event", async () => {
    const { id } = await create("read");
    const { open, prompt } = work("read");
    await called("claudecode_chat_async", { name: "read", prompt });
    await until("its first event", async () => (await called("claudecode_streams", { session_id: id }))["streams"]);
    const turn = await plexus.app.polls.latest(String(id));
    const begun = { turn_id: turn?.id, position: 1_000 };
    const state = { session_id: id, until: Date.now() - 1, begun };
    const { read_position } = JSON.parse(await (await resume(idOf("claudecode_poll", state))).answer());
    expect(read_position).toBeLessThan(1_000);
    open();
  });

  test("is of no use to a child", async () => {
    const child = await plexus.child();
    expect((await resume(idOf("loopback_wait", { since: 0, until: 0 }), child.token)).status).toBe(405);
  });
});
