import { describe, expect, test } from "bun:test";
import { OPERATOR_TOKEN, startPlexus } from "../../support/server/plexus.ts";
import { sendRaw } from "../support/raw-request.ts";

const AUTHORIZATION = `Authorization: Bearer ${OPERATOR_TOKEN}`;
const JSON_TYPE = "Content-Type: application/json";
const request = (...lines: string[]) => `${lines.join("\r\n")}\r\n\r\n`;

describe("malformed HTTP", () => {
  test.each<[string, (host: string) => string]>([
    ["a TLS handshake", () => "\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03\r\n\r\n"],
    ["an HTTP/2 preface", () => "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"],
    ["HTTP/0.9", () => "GET /\r\n\r\n"],
    ["a request line without a path", (host) => request("GET HTTP/1.1", `Host: ${host}`)],
    ["a path with a null", (host) => request("GET /a\x00b HTTP/1.1", `Host: ${host}`, AUTHORIZATION)],
    ["a path with a space", (host) => request("GET /a b HTTP/1.1", `Host: ${host}`, AUTHORIZATION)],
    [
      "a path with broken escapes",
      (host) => request("GET /%zz/%E0%A4%A?%=%ff HTTP/1.1", `Host: ${host}`, AUTHORIZATION),
    ],
    ["a path in Latin-1", (host) => request("GET /\xff\xfe HTTP/1.1", `Host: ${host}`, AUTHORIZATION)],
    ["CONNECT", (host) => request("CONNECT attacker.example:443 HTTP/1.1", `Host: ${host}`, AUTHORIZATION)],
    ["OPTIONS *", (host) => request("OPTIONS * HTTP/1.1", `Host: ${host}`, AUTHORIZATION)],
    ["a header without a colon", (host) => request("GET / HTTP/1.1", `Host: ${host}`, "no colon")],
    ["a folded header", (host) => request("GET / HTTP/1.1", `Host: ${host}`, "X: a\r\n b")],
    ["a header of 100 kB", (host) => request("GET / HTTP/1.1", `Host: ${host}`, `X: ${"a".repeat(100_000)}`)],
    [
      "500 headers",
      (host) => request("GET / HTTP/1.1", `Host: ${host}`, ...Array.from({ length: 500 }, (_, n) => `X${n}: 1`)),
    ],
    ["two hosts", (host) => request("GET / HTTP/1.1", `Host: ${host}`, "Host: attacker.example", AUTHORIZATION)],
    [
      "two origins",
      (host) => request("GET / HTTP/1.1", `Host: ${host}`, `Origin: http://${host}`, "Origin: http://attacker.example"),
    ],
    ["two tokens", (host) => request("GET /mcp HTTP/1.1", `Host: ${host}`, AUTHORIZATION, "Authorization: Bearer x")],
    [
      "a negative length",
      (host) => `${request("POST /mcp HTTP/1.1", `Host: ${host}`, AUTHORIZATION, JSON_TYPE, "Content-Length: -1")}{}`,
    ],
    [
      "a length that is no number",
      (host) => `${request("POST /mcp HTTP/1.1", `Host: ${host}`, AUTHORIZATION, JSON_TYPE, "Content-Length: abc")}{}`,
    ],
    [
      "two lengths",
      (host) =>
        `${request("POST /mcp HTTP/1.1", `Host: ${host}`, AUTHORIZATION, "Content-Length: 2", "Content-Length: 3")}{}`,
    ],
    [
      "a length and chunks",
      (host) =>
        `${request("POST /mcp HTTP/1.1", `Host: ${host}`, AUTHORIZATION, "Content-Length: 2", "Transfer-Encoding: chunked")}0\r\n\r\n`,
    ],
    [
      "an unknown transfer encoding",
      (host) => `${request("POST /mcp HTTP/1.1", `Host: ${host}`, AUTHORIZATION, "Transfer-Encoding: gzip")}{}`,
    ],
    [
      "a chunk of 16 EB",
      (host) =>
        `${request("POST /mcp HTTP/1.1", `Host: ${host}`, AUTHORIZATION, "Transfer-Encoding: chunked")}FFFFFFFFFFFFFFFF\r\n{}`,
    ],
  ])("(%s) is refused, and the server goes on", async (_, bytes) => {
    await using plexus = await startPlexus();
    const { status } = await sendRaw(plexus.url, [Buffer.from(bytes(new URL(plexus.url).host), "latin1")]);
    expect(status === 505 || (status >= 400 && status < 500)).toBe(true);
    expect((await plexus.fetch("/healthz")).status).toBe(200);
    expect(plexus.log.filter((line) => line.includes('"level":"error"'))).toEqual([]);
  });
});

describe("a path that looks open", () => {
  test.each([
    "/healthz/../api/v1/approvals",
    "/healthz/%2e%2e/api/v1/approvals",
    "/api/v1/approvals?/healthz",
    "/api/v1/approvals#/healthz",
    "/healthz;/../mcp",
    "//attacker.example/healthz",
    "/./api/v1/approvals",
    "/HEALTHZ",
    "/healthz/",
  ])("is 401 without a token when it is %s", async (path) => {
    await using plexus = await startPlexus();
    const { status } = await sendRaw(plexus.url, [
      request(`GET ${path} HTTP/1.1`, `Host: ${new URL(plexus.url).host}`),
    ]);
    expect(status).toBe(401);
  });
});
