import { describe, expect, test } from "bun:test";
import { ErrorBody } from "../../../src/contract/refusals/errors.ts";
import { OPERATOR_TOKEN, type Plexus, startPlexus } from "../../support/server/plexus.ts";
import { ask, expectRefusal, namedToken, sessionOf } from "../support/callers.ts";
import { head, sendRaw } from "../support/raw-request.ts";

const MB = 1024 * 1024;
const JSON_HEADERS = { Authorization: `Bearer ${OPERATOR_TOKEN}`, "Content-Type": "application/json" };
const RESPOND = "/api/v1/approvals/0190/respond";

/** This many megabytes of JSON white space, one at a time. */
function* padding(megabytes: number): Generator<Uint8Array> {
  const part = new Uint8Array(MB).fill(0x20);
  for (let sent = 0; sent < megabytes; sent++) yield part;
}

function* withLength(plexus: Plexus, path: string, megabytes: number) {
  yield head(plexus.url, `POST ${path}`, { ...JSON_HEADERS, "Content-Length": String(megabytes * MB) });
  yield* padding(megabytes);
}

function* chunked(plexus: Plexus, path: string, megabytes: number) {
  yield head(plexus.url, `POST ${path}`, { ...JSON_HEADERS, "Transfer-Encoding": "chunked" });
  for (const part of padding(megabytes)) {
    yield `${part.length.toString(16)}\r\n`;
    yield part;
    yield "\r\n";
  }
  yield "0\r\n\r\n";
}

async function oneApproval(plexus: Plexus) {
  const { session } = await sessionOf(plexus, { kind: "operator" });
  const { approvalId } = await ask(plexus, session);
  return { id: approvalId, respond: `/api/v1/approvals/${approvalId}/respond` };
}

const nested = (depth: number, open: string, close: string, inside = "1") =>
  `${open.repeat(depth)}${inside}${close.repeat(depth)}`;
const DEEP = { arrays: nested(100_000, "[", "]"), objects: nested(100_000, '{"a":', "}") };

describe("a body larger than 32 MB", () => {
  for (const path of ["/mcp", RESPOND, "/api/v1/tokens"]) {
    test(`is 413 on ${path}, with and without Content-Length`, async () => {
      await using plexus = await startPlexus();
      for (const body of [withLength(plexus, path, 33), chunked(plexus, path, 33)]) {
        const answer = await sendRaw(plexus.url, body);
        expect(answer.status).toBe(413);
        expect(ErrorBody.parse(JSON.parse(answer.body)).error.code).toBe("payload_too_large");
      }
    });
  }

  test("is refused by its Content-Length before it is sent", async () => {
    await using plexus = await startPlexus();
    const headers = { ...JSON_HEADERS, "Content-Length": String(2 ** 40) };
    expect((await sendRaw(plexus.url, [head(plexus.url, "POST /mcp", headers)])).status).toBe(413);
  });

  test("never makes the server hold more than the limit", async () => {
    await using plexus = await startPlexus();
    Bun.gc(true);
    const before = process.memoryUsage().rss;
    let peak = 0;
    function* watched() {
      for (const part of chunked(plexus, "/mcp", 400)) {
        peak = Math.max(peak, process.memoryUsage().rss);
        yield part;
      }
    }
    expect((await sendRaw(plexus.url, watched())).status).toBe(413);
    // All of it would be 400 MB. Memory that is not collected yet is not part of the promise.
    expect((peak - before) / MB).toBeLessThan(300);
  });

  test("is 401 without a token, and not read", async () => {
    await using plexus = await startPlexus();
    const answer = await sendRaw(plexus.url, [
      head(plexus.url, "POST /mcp", { "Content-Type": "application/json", "Content-Length": String(33 * MB) }),
      ...padding(33),
    ]);
    expect(answer.status).toBe(401);
  });
});

describe("a body of just under 32 MB", () => {
  test("is read, with and without Content-Length", async () => {
    await using plexus = await startPlexus();
    for (const body of [withLength(plexus, RESPOND, 32), chunked(plexus, RESPOND, 32)]) {
      const answer = await sendRaw(plexus.url, body);
      expect(ErrorBody.parse(JSON.parse(answer.body)).error.code).toBe("invalid_json");
    }
  });
});

describe("a deeply nested body", () => {
  for (const [kind, json] of Object.entries(DEEP)) {
    test(`of ${kind} is refused, as a whole and in every part, and decides nothing`, async () => {
      await using plexus = await startPlexus();
      const { id, respond } = await oneApproval(plexus);
      const bodies: [string, string][] = [
        ["/mcp", json],
        ["/mcp", `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":${json}}`],
        [
          "/mcp",
          `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"loopback_respond","arguments":{"approval_id":"${id}","approve":true,"updated_input":${json}}}}`,
        ],
        [
          "/mcp",
          `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"loopback_respond","arguments":${json}}}`,
        ],
        [respond, json],
        [respond, `{"approve":true,"updated_input":{"a":${json}}}`],
        [respond, `{"approve":true,"updated_input":${json}}`],
        [respond, `{"approve":true,"message":${json}}`],
        ["/api/v1/tokens", json],
        ["/api/v1/tokens", `{"name":${json}}`],
      ];
      for (const [path, body] of bodies) {
        const response = await plexus.fetch(path, { method: "POST", body, headers: { accept: "*/*" } });
        const text = await response.text();
        const refused =
          response.status >= 400 ? response.status < 500 : text.includes('"isError":true') || text.includes('"error":');
        expect({ path, body: body.slice(0, 80), refused }).toEqual({ path, body: body.slice(0, 80), refused: true });
      }
      expect((await plexus.app.approvals.get({ kind: "operator" }, id)).status).toBe("pending");
    });

    test(`of ${kind} as the input of a permit is refused, and files nothing`, async () => {
      await using plexus = await startPlexus();
      const { token } = await plexus.child();
      for (const input of [json, `{"a":${json}}`]) {
        const body = `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"loopback_permit","arguments":{"tool_name":"Bash","input":${input}}}}`;
        const text = await (await plexus.fetch("/mcp", { method: "POST", body, token })).text();
        expect(text).toContain("invalid_arguments");
      }
      expect((await plexus.app.approvals.list({ kind: "operator" }, { limit: 1 })).approvals).toEqual([]);
    });
  }

  test("of exactly 100 levels is accepted as an input, and one more is not", async () => {
    await using plexus = await startPlexus();
    const { respond } = await oneApproval(plexus);
    const body = (levels: number) =>
      `{"approve":true,"merge":true,"updated_input":${nested(levels, '{"command":', "}")}}`;
    await expectRefusal(await plexus.fetch(respond, { method: "POST", body: body(101) }), 422, "invalid_arguments");
    expect((await plexus.fetch(respond, { method: "POST", body: body(100) })).status).toBe(200);
  });
});

describe("a body that is not JSON", () => {
  test.each([
    ["empty", ""],
    ["broken", '{"approve": true'],
    ["followed by something", '{"approve": true} {"approve": false}'],
    ["a form", "approve=true"],
    ["a comment", '{"approve": true /* yes */}'],
    ["invalid UTF-8", new Uint8Array([0x7b, 0x22, 0x61, 0x22, 0x3a, 0x22, 0xff, 0xfe, 0x22, 0x7d])],
    [
      "an overlong encoding",
      Buffer.concat([Buffer.from('{"message":"'), Buffer.from([0xc0, 0xaf]), Buffer.from('"}')]),
    ],
    [
      "a surrogate in UTF-8",
      Buffer.concat([Buffer.from('{"message":"'), Buffer.from([0xed, 0xa0, 0x80]), Buffer.from('"}')]),
    ],
    ["UTF-16", Buffer.from('{"approve": true}', "utf16le")],
    ["gzip", Bun.gzipSync(Buffer.from('{"approve": true}'))],
  ])("is 400 when it is %s, on REST and on MCP", async (_, body) => {
    await using plexus = await startPlexus();
    const { id, respond } = await oneApproval(plexus);
    for (const path of [respond, "/api/v1/tokens"]) {
      await expectRefusal(await plexus.fetch(path, { method: "POST", body }), 400, "invalid_json");
    }
    const answer = await plexus.fetch("/mcp", { method: "POST", body });
    expect(answer.status).toBe(400);
    expect(await answer.json()).toMatchObject({ jsonrpc: "2.0", id: null, error: { code: -32700 } });
    expect((await plexus.app.approvals.get({ kind: "operator" }, id)).status).toBe("pending");
  });

  test.each([
    "text/plain",
    "application/x-www-form-urlencoded",
    "multipart/form-data",
    "application/jsonp",
    "text/json",
    "",
  ])('is 400 when its type is "%s"', async (type) => {
    await using plexus = await startPlexus();
    const { respond } = await oneApproval(plexus);
    const response = await plexus.fetch(respond, {
      method: "POST",
      body: '{"approve": true}',
      headers: { "content-type": type },
    });
    expect(await expectRefusal(response, 400, "invalid_json")).toContain("Content-Type: application/json");
  });

  test("is 400 if its chunks are malformed, and is not logged as a server error", async () => {
    await using plexus = await startPlexus();
    const headers = { ...JSON_HEADERS, "Transfer-Encoding": "chunked" };
    const answer = await sendRaw(plexus.url, [head(plexus.url, "POST /mcp", headers), '5\r\n{"a":\r\n', "zz\r\n"]);
    expect(answer.status).toBe(400);
    expect(plexus.log.filter((line) => line.includes('"level":"error"'))).toEqual([]);
  });
});

describe("a body with any spelling of the JSON type", () => {
  test.each(["application/json", "application/json; charset=utf-8", "APPLICATION/JSON", "application/vnd.api+json"])(
    "is read when its type is %s",
    async (type) => {
      await using plexus = await startPlexus();
      const { respond } = await oneApproval(plexus);
      const response = await plexus.fetch(respond, {
        method: "POST",
        body: '\ufeff{"approve": true}',
        headers: { "content-type": type },
      });
      expect(response.status).toBe(200);
    },
  );
});

describe("a body that arrives slowly", () => {
  test("decides nothing when its sender's token is revoked before it is complete", async () => {
    await using plexus = await startPlexus();
    const named = await namedToken(plexus, "laptop");
    const { session } = await sessionOf(plexus, named.principal);
    const { approvalId } = await ask(plexus, session);
    const body = '{"approve": true}';
    const { promise: begun, resolve: begin } = Promise.withResolvers<void>();
    const identify = plexus.app.tokens.identify;
    plexus.app.tokens.identify = (secret) => {
      if (secret === named.token) begin();
      return identify(secret);
    };
    async function* parts() {
      yield head(plexus.url, `POST /api/v1/approvals/${approvalId}/respond`, {
        Authorization: `Bearer ${named.token}`,
        "Content-Type": "application/json",
        "Content-Length": String(body.length),
      });
      yield body.slice(0, 5);
      await begun;
      expect((await plexus.fetch("/api/v1/tokens/laptop", { method: "DELETE" })).status).toBe(200);
      yield body.slice(5);
    }
    expect((await sendRaw(plexus.url, parts())).status).toBe(401);
    expect((await plexus.app.approvals.get({ kind: "operator" }, approvalId)).status).toBe("pending");
  });
});

describe("a method that a route does not have", () => {
  test("is 404, and HEAD is a GET without its body", async () => {
    await using plexus = await startPlexus();
    for (const method of ["PUT", "PATCH", "OPTIONS", "DELETE", "PROPFIND"]) {
      await expectRefusal(await plexus.fetch("/api/v1/approvals", { method }), 404, "not_found");
    }
    const response = await plexus.fetch("/api/v1/approvals", { method: "HEAD" });
    expect([response.status, await response.text()]).toEqual([200, ""]);
  });

  test("is refused by MCP without a crash", async () => {
    await using plexus = await startPlexus();
    for (const method of ["PUT", "PATCH", "OPTIONS", "PROPFIND", "HEAD", "GET", "DELETE"]) {
      const { status } = await plexus.fetch("/mcp", { method });
      expect({ method, refused: status >= 400 && status < 500 }).toEqual({ method, refused: true });
    }
  });

  test("ends at once for HEAD on the event stream, without leaving a reader", async () => {
    await using plexus = await startPlexus();
    const follow = plexus.app.eventFeed.follow;
    let started = 0;
    plexus.app.eventFeed.follow = async function* (principal, after, signal) {
      started++;
      yield* follow(principal, after, signal);
    };
    const response = await plexus.fetch("/api/v1/events", { method: "HEAD" });
    expect([response.status, await response.text()]).toEqual([200, ""]);
    expect(started).toBe(0);
  });
});
