import { describe, expect, test } from "bun:test";
import { ErrorBody } from "../../../src/contract/refusals/errors.ts";
import { vitalsOf } from "../../support/processes/vitals.ts";
import { OPERATOR_TOKEN, startPlexus } from "../../support/server/plexus.ts";
import { startServerProcess } from "../../support/server/server-process.ts";
import { temporaryDirectory } from "../../support/temporary.ts";
import { until } from "../../support/until.ts";
import { ask, expectRefusal, namedToken, sessionOf } from "../support/callers.ts";
import { head, sendRaw } from "../support/raw-request.ts";

const MB = 1024 * 1024;
const FULL = 32 * MB;
const OPERATOR = { kind: "operator" } as const;
/** Empty JSON of exactly this many bytes. */
const blank = (bytes: number) => "{}".padEnd(bytes);

const headersOf = (token: string) => ({ Authorization: `Bearer ${token}`, "Content-Type": "application/json" });

/** A body of 32 MB whose last byte is sent when `finish` resolves; `isSent` is true once the rest is sent. */
function slowBody(url: string, token: string, finish: Promise<void>) {
  let isSent = false;
  async function* parts() {
    yield head(url, "POST /mcp", { ...headersOf(token), "Content-Length": String(FULL) });
    for (let sent = 0; sent < 31; sent++) yield blank(MB);
    yield blank(MB - 1);
    isSent = true;
    await finish;
    yield " ";
  }
  return { answer: sendRaw(url, parts()), isSent: () => isSent };
}

/** Endless chunks of 1 MB, without a declared length. */
function* endless(url: string, token: string, megabytes: number) {
  yield head(url, "POST /mcp", { ...headersOf(token), "Transfer-Encoding": "chunked" });
  for (let sent = 0; sent < megabytes; sent++) {
    yield `${MB.toString(16)}\r\n`;
    yield blank(MB);
    yield "\r\n";
  }
}

function codeIn(body: string): string {
  return ErrorBody.parse(JSON.parse(body)).error.code;
}

describe("bodies that one child sends at once", () => {
  test("are refused unread beyond 128 MB, until others are answered; no other caller is refused", async () => {
    await using plexus = await startPlexus();
    const { token } = await sessionOf(plexus, OPERATOR);
    const { promise: finish, resolve } = Promise.withResolvers<void>();
    const four = Array.from({ length: 4 }, () => slowBody(plexus.url, token, finish));
    await until("four bodies to be here but for a byte", () => four.every(({ isSent }) => isSent()));

    const declared = head(plexus.url, "POST /mcp", { ...headersOf(token), "Content-Length": String(FULL) });
    const refused = await sendRaw(plexus.url, [declared]);
    expect([refused.status, codeIn(refused.body)]).toEqual([429, "too_many_requests"]);
    expect(refused.headers.get("retry-after")).toBe("10");
    const chunked = await sendRaw(plexus.url, endless(plexus.url, token, 1));
    expect([chunked.status, codeIn(chunked.body)]).toEqual([429, "too_many_requests"]);

    const post = (own: string, bytes: number) =>
      plexus.fetch("/mcp", { method: "POST", token: own, body: blank(bytes) });
    const sibling = await sessionOf(plexus, OPERATOR);
    const named = await namedToken(plexus, "laptop");
    for (const [who, own, bytes] of [
      ["the child with a small body", token, 16 * 1024],
      ["a sibling", sibling.token, FULL],
      ["another token", named.token, FULL],
      ["the operator", OPERATOR_TOKEN, FULL],
    ] as const) {
      expect({ who, status: (await post(own, bytes)).status }).not.toEqual({ who, status: 429 });
    }

    resolve();
    for (const { answer } of four) expect((await answer).status).not.toBe(429);
    expect((await post(token, FULL)).status).not.toBe(429);
  }, 60_000);

  test("no longer count when they are cut off, refused, or waiting permission requests", async () => {
    await using plexus = await startPlexus();
    const { token } = await sessionOf(plexus, OPERATOR);
    const waiting = new AbortController();
    // Keep the responses: garbage collection would close their connections.
    const open: Response[] = [];
    for (let sent = 0; sent < 6; sent++) {
      const input = { content: "x".repeat(30 * MB) };
      const params = {
        name: "loopback_permit",
        arguments: { tool_name: "Write", input, tool_use_id: `toolu_${sent}` },
      };
      const body = JSON.stringify({ jsonrpc: "2.0", id: 1, method: "tools/call", params });
      const response = await plexus.fetch("/mcp", { method: "POST", token, body, signal: waiting.signal });
      expect(response.status).toBe(200);
      open.push(response);
    }
    waiting.abort();
    for (let cut = 0; cut < 6; cut++) {
      const broken = sendRaw(plexus.url, [...endless(plexus.url, token, 20), "zz\r\n"]);
      expect((await broken).status).toBe(400);
    }
    expect((await plexus.fetch("/mcp", { method: "POST", token, body: blank(FULL) })).status).not.toBe(429);
  }, 60_000);

  test("count until the answer if a waiting call may hold them", async () => {
    await using plexus = await startPlexus();
    const { token, principal } = await namedToken(plexus, "laptop");
    // Without a session that could ask, the call would not wait.
    await plexus.app.sessions.createByHand(principal, "child");
    const params = { name: "loopback_wait", arguments: { timeout_secs: 110 }, _meta: { x: "x".repeat(30 * MB) } };
    const body = JSON.stringify({ jsonrpc: "2.0", id: 1, method: "tools/call", params });
    const waiting = new AbortController();
    const wait = () => plexus.fetch("/mcp", { method: "POST", token, body, signal: waiting.signal });
    const open: Response[] = [];
    while (open.length < 8) open.push(await wait());
    expect(open.map(({ status }) => status)).toEqual(Array(8).fill(200));
    expect((await wait()).status).toBe(429);
    waiting.abort();
    const again = () => plexus.fetch("/mcp", { method: "POST", token, body: blank(FULL) });
    await until("room", async () => (await again()).status !== 429);
  }, 60_000);

  test("take no more memory than the limit, however many connections send them", async () => {
    await using directory = await temporaryDirectory();
    await using server = await startServerProcess({ dataDir: directory.path, token: OPERATOR_TOKEN });
    const call = async (token: string, path: string, body: object) =>
      (
        await fetch(server.url + path, { method: "POST", headers: headersOf(token), body: JSON.stringify(body) })
      ).text();
    const configure = { name: "loopback_configure", arguments: {} };
    const made = await call(OPERATOR_TOKEN, "/mcp", { jsonrpc: "2.0", id: 1, method: "tools/call", params: configure });
    const token = /Bearer (plx_[\w-]+)/.exec(made)?.[1] ?? "";
    const before = vitalsOf(server.pid).rssMb;
    const { promise: finish, resolve } = Promise.withResolvers<void>();
    const bodies = Array.from({ length: 20 }, () => slowBody(server.url, token, finish));
    await until("all to be sent but for a byte", () => bodies.every(({ isSent }) => isSent()), 40_000);
    // All of them would be 640 MB. Memory that is not collected yet is not part of the promise.
    expect(vitalsOf(server.pid).rssMb - before).toBeLessThan(300);
    resolve();
    const statuses = (await Promise.all(bodies.map(({ answer }) => answer))).map(({ status }) => status);
    expect(statuses.filter((status) => status === 429)).toHaveLength(16);
  }, 60_000);
});

describe("a body that would take seconds to parse", () => {
  test.each([
    ["31 MB of brackets", "[".repeat(31 * MB), 422, "invalid_arguments"],
    [
      "a million names",
      `{${Array.from({ length: 1_000_000 }, (_, at) => `"k${at}":0`).join(",")}}`,
      413,
      "payload_too_large",
    ],
    ["ten million lists", `[${"[],".repeat(10_000_000)}0]`, 413, "payload_too_large"],
  ] as const)("is refused unparsed, on REST and on MCP: %s", async (_, json, status, code) => {
    await using plexus = await startPlexus();
    const { session } = await sessionOf(plexus, OPERATOR);
    const { approvalId } = await ask(plexus, session);
    for (const path of ["/mcp", `/api/v1/approvals/${approvalId}/respond`]) {
      await expectRefusal(await plexus.fetch(path, { method: "POST", body: json }), status, code);
    }
  });
});
