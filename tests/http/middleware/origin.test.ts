import { describe, expect, test } from "bun:test";
import { OPERATOR_TOKEN, type Plexus, startPlexus } from "../../support/server/plexus.ts";
import { expectRefusal } from "../support/callers.ts";
import { head, sendRaw } from "../support/raw-request.ts";

const AUTHORIZATION = { Authorization: `Bearer ${OPERATOR_TOKEN}` };

async function statusFor(plexus: Plexus, headers: Record<string, string>): Promise<number> {
  const answer = await sendRaw(plexus.url, [
    head(plexus.url, "GET /api/v1/approvals", { ...AUTHORIZATION, ...headers }),
  ]);
  return answer.status;
}

describe("the Host header", () => {
  test.each(["127.0.0.1", "localhost", "LOCALHOST", "[::1]"])("may be %s, with or without a port", async (host) => {
    await using plexus = await startPlexus();
    const { port } = new URL(plexus.url);
    expect(await statusFor(plexus, { Host: `${host}:${port}` })).toBe(200);
    expect(await statusFor(plexus, { Host: host })).toBe(200);
  });

  test.each([
    "attacker.example",
    "attacker.example:4445",
    "127.0.0.1.attacker.example",
    "localhost.attacker.example",
    "attacker.example:127.0.0.1",
    "127.0.0.1@attacker.example",
    "attacker.example#127.0.0.1",
    "127.0.0.1, attacker.example",
    "127.0.0.2",
    "0.0.0.0",
    "[::]",
    "[::1",
    "[::ffff:127.0.0.1]",
    "2130706433",
    "localhost.",
    ":4445",
    "",
  ])('is refused when it is "%s"', async (host) => {
    await using plexus = await startPlexus();
    expect(await statusFor(plexus, { Host: host })).toBe(403);
  });

  test("is refused on open paths too, and before the token is checked", async () => {
    await using plexus = await startPlexus();
    for (const path of ["/", "/healthz", "/readyz", "/mcp"]) {
      const response = await plexus.fetch(path, { token: "wrong", headers: { host: "attacker.example" } });
      await expectRefusal(response, 403, "forbidden");
    }
  });

  test("is required", async () => {
    await using plexus = await startPlexus();
    const lines = ["GET /api/v1/approvals", `Authorization: Bearer ${OPERATOR_TOKEN}`];
    for (const version of ["HTTP/1.0", "HTTP/1.1"]) {
      const answer = await sendRaw(plexus.url, [`${lines.join(` ${version}\r\n`)}\r\nConnection: close\r\n\r\n`]);
      expect([400, 403]).toContain(answer.status);
    }
  });

  test("may be a name in --allowed-hosts, and no other", async () => {
    await using plexus = await startPlexus({ flags: { allowedHosts: "plexus.example, Proxy.Example" } });
    expect(await statusFor(plexus, { Host: "plexus.example" })).toBe(200);
    expect(await statusFor(plexus, { Host: "PLEXUS.example:8443" })).toBe(200);
    expect(await statusFor(plexus, { Host: "proxy.example" })).toBe(200);
    expect(await statusFor(plexus, { Host: "other.example" })).toBe(403);
    expect(await statusFor(plexus, { Host: "sub.plexus.example" })).toBe(403);
  });

  test("may be any address, but not any name, on an open interface", async () => {
    await using plexus = await startPlexus({ flags: { host: "0.0.0.0" } });
    expect(await statusFor(plexus, { Host: "192.168.7.7:4445" })).toBe(200);
    expect(await statusFor(plexus, { Host: "[fd00::1]:4445" })).toBe(200);
    expect(await statusFor(plexus, { Host: "attacker.example" })).toBe(403);
  });

  test("is recognised on a server that listens on IPv6", async () => {
    await using plexus = await startPlexus({ flags: { host: "::1" } });
    expect(plexus.url).toStartWith("http://[::1]:");
    expect((await plexus.fetch("/api/v1/approvals")).status).toBe(200);
  });

  test("is refused with an absolute request line too", async () => {
    await using plexus = await startPlexus();
    const line = "GET http://attacker.example/api/v1/approvals";
    const refused = await sendRaw(plexus.url, [head(plexus.url, line, { ...AUTHORIZATION, Host: "attacker.example" })]);
    expect(refused.status).toBe(403);
  });
});

describe("the Origin header", () => {
  test("may be absent, or the server's own", async () => {
    await using plexus = await startPlexus();
    const { port } = new URL(plexus.url);
    expect(await statusFor(plexus, {})).toBe(200);
    expect(await statusFor(plexus, { Origin: plexus.url })).toBe(200);
    expect(await statusFor(plexus, { Host: `localhost:${port}`, Origin: `http://localhost:${port}` })).toBe(200);
    expect(await statusFor(plexus, { Host: `[::1]:${port}`, Origin: `http://[::1]:${port}` })).toBe(200);
  });

  test("may be that of a reverse proxy named in --allowed-hosts", async () => {
    await using plexus = await startPlexus({ flags: { allowedHosts: "plexus.example" } });
    expect(await statusFor(plexus, { Host: "plexus.example", Origin: "https://plexus.example" })).toBe(200);
  });

  test.each([
    "null",
    "",
    "http://attacker.example",
    "http://localhost:3000",
    "http://127.0.0.1:3000",
    "http://127.0.0.1",
    "https://127.0.0.1",
    "http://localhost",
    "file://",
    "chrome-extension://abcdef",
    "127.0.0.1",
    "javascript:127.0.0.1",
    "http://127.0.0.1:99999",
  ])('is refused when it is "%s"', async (origin) => {
    await using plexus = await startPlexus();
    expect(await statusFor(plexus, { Origin: origin })).toBe(403);
  });

  test("is refused when it is the server's port under another of its names", async () => {
    await using plexus = await startPlexus();
    const { port } = new URL(plexus.url);
    expect(await statusFor(plexus, { Origin: `http://localhost:${port}` })).toBe(403);
  });

  test("is never granted by CORS", async () => {
    await using plexus = await startPlexus();
    const preflight = await plexus.fetch("/mcp", {
      method: "OPTIONS",
      token: null,
      headers: { origin: "http://attacker.example", "access-control-request-method": "POST" },
    });
    expect(preflight.status).toBe(403);
    const own = await plexus.fetch("/api/v1/approvals", { headers: { origin: plexus.url } });
    for (const response of [preflight, own]) {
      expect([...response.headers.keys()].filter((name) => name.startsWith("access-control-"))).toEqual([]);
    }
  });
});
