import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { PARENT_TOOLS } from "../../../src/mcp/tools/tools.ts";
import { callModern, modernHeaders, modernMessage, postModern } from "../../support/mcp/modern-mcp.ts";
import { permitMessage, post } from "../../support/mcp/raw-mcp.ts";
import { OPERATOR_TOKEN, type Plexus, startPlexus } from "../../support/server/plexus.ts";
import { temporaryDirectory } from "../../support/temporary.ts";

const PENDING = "loopback://approvals/pending";
const token = OPERATOR_TOKEN;
let plexus: Plexus;
beforeAll(async () => {
  plexus = await startPlexus();
});
afterAll(() => plexus[Symbol.asyncDispose]());

const result = async (method: string, params = {}) =>
  (await (await postModern(plexus.url, method, params, { token })).response()).result;

describe("MCP 2026-07-28", () => {
  test("can be discovered, and explains how to supervise", async () => {
    const { client } = await plexus.connect();
    expect(await result("server/discover")).toMatchObject({
      resultType: "complete",
      supportedVersions: ["2026-07-28"],
      capabilities: { tools: {}, resources: { subscribe: true } },
      instructions: client.getInstructions() ?? "",
      _meta: { "io.modelcontextprotocol/serverInfo": { name: "plexus" } },
    });
  });

  test("lists the same tools and resources as 2025-11-25", async () => {
    const { client } = await plexus.connect();
    expect((await result("tools/list"))?.["tools"]).toEqual((await client.listTools()).tools);
    expect((await result("resources/list"))?.["resources"]).toEqual((await client.listResources()).resources);
    expect((await result("resources/templates/list"))?.["resourceTemplates"]).toEqual([]);
  });

  test.each(["server/discover", "tools/list", "resources/list", "resources/templates/list", "resources/read"])(
    "lets nobody keep what %s answers for somebody else, or for later",
    async (method) => {
      expect(await result(method, { uri: PENDING })).toMatchObject({ cacheScope: "private", ttlMs: 0 });
    },
  );

  test("answers every tool as 2025-11-25 does, refusals included", async () => {
    await using own = await startPlexus();
    await using place = await temporaryDirectory();
    const parent = await own.connect();
    await parent.call("claudecode_create", { name: "worker", working_dir: place.path });
    const changing = ["claudecode_create", "claudecode_fork", "loopback_configure", "claudecode_delete"];
    const compared = PARENT_TOOLS.filter(({ name }) => !changing.includes(name) && !name.includes("_chat"));
    for (const { name, examples } of compared) {
      const args = { ...Object(examples[0]?.input), ...(name === "loopback_wait" && { timeout_secs: 0 }) };
      const earlier = await parent.call(name, args);
      const { result: later } = await callModern(own.url, name, args, { token });
      expect({ name, later }).toEqual({
        name,
        later: {
          content: [{ type: "text", text: earlier.text }],
          structuredContent: earlier.structured,
          ...(earlier.isError && { isError: true }),
          resultType: "complete",
          _meta: { "io.modelcontextprotocol/serverInfo": expect.anything() },
        },
      });
    }
    const { result: created } = await callModern(own.url, "claudecode_create", { name: "worker" }, { token });
    expect(created).toMatchObject({ isError: true, structuredContent: { type: "error", code: "name_taken" } });
  });

  test("knows the tools by their names with dots too", async () => {
    const { result: answered } = await callModern(plexus.url, "loopback.pending", {}, { token });
    expect(answered?.structuredContent).toMatchObject({ type: "ok" });
  });

  test("refuses an unknown resource with -32602, and names it", async () => {
    const { error } = await (await postModern(plexus.url, "resources/read", { uri: "x:y" }, { token })).response();
    expect(error).toMatchObject({ code: -32602, data: { uri: "x:y" } });
  });

  test.each(["initialize", "ping", "logging/setLevel", "resources/subscribe", "prompts/list"])(
    "has no method %s",
    async (method) => {
      const answer = await postModern(plexus.url, method, {}, { token });
      expect(answer.status).toBe(404);
      expect(await answer.response()).toMatchObject({ id: 1, error: { code: -32601 } });
    },
  );

  test("begins the stream of a tool that waits before there is an answer, and ends it with the answer", async () => {
    await using own = await startPlexus();
    const child = await own.child();
    const waiting = await postModern(
      own.url,
      "tools/call",
      { name: "loopback_wait", arguments: { since: 0, timeout_secs: 60 } },
      { token },
    );
    expect(waiting.headers.get("content-type")).toBe("text/event-stream");
    const call = await post(own.url, permitMessage({ command: "ls" }), child);
    const { result: answered } = await waiting.response();
    expect(answered).toMatchObject({
      resultType: "complete",
      structuredContent: { type: "ok", approvals: [{ tool_name: "Bash" }] },
    });
    expect(await waiting.next()).toBeUndefined();
    call.disconnect();
  });

  test("gets its answer as JSON if it comes promptly", async () => {
    const answer = await postModern(plexus.url, "tools/call", { name: "loopback_pending", arguments: {} }, { token });
    expect(answer.headers.get("content-type")).toStartWith("application/json");
  });

  test("uses no session of an earlier revision, and opens none", async () => {
    const { client } = await plexus.connect();
    await client.listTools();
    const headers = { "mcp-session-id": crypto.randomUUID() };
    const answer = await postModern(plexus.url, "tools/list", {}, { token, headers });
    expect({ status: answer.status, session: answer.headers.get("mcp-session-id") }).toEqual({
      status: 200,
      session: null,
    });
  });

  test("leaves earlier revisions to clients that initialize, even on the same connection", async () => {
    const message = modernMessage("tools/list");
    const earlier = await post(plexus.url, { jsonrpc: "2.0", id: 1, method: "tools/list" }, { token });
    const later = await post(plexus.url, message, { token, headers: modernHeaders("tools/list") });
    expect((await earlier.response()).result).not.toHaveProperty("resultType");
    expect((await later.response()).result).toHaveProperty("resultType", "complete");
  });
});
