import { describe, expect, test } from "bun:test";
import { ErrorBody } from "../../../src/contract/refusals/errors.ts";
import { OPERATOR_TOKEN, startPlexus } from "../../support/server/plexus.ts";
import { expectRefusal, namedToken } from "../support/callers.ts";

const METHODS = ["GET", "POST", "PUT", "PATCH", "DELETE", "OPTIONS", "HEAD", "PROPFIND"];
const PATHS = [
  "/mcp",
  "/mcp/",
  "//mcp",
  "/api/v1/approvals",
  "/api/v1/approvals/0190",
  "/api/v1/approvals/0190/respond",
  "/api/v1/events",
  "/api/v1/tokens",
  "/api/v1/tokens/x",
  "/api/v1/openapi.json",
  "/metrics",
  "/healthz/",
  "/healthz/x",
  "/readyz.json",
  "/%",
  "/nowhere",
];

describe("a request without a token", () => {
  test("is 401 with WWW-Authenticate and a hint, whatever the path and method", async () => {
    await using plexus = await startPlexus();
    for (const path of PATHS) {
      for (const method of METHODS) {
        const response = await plexus.fetch(path, { method, token: null });
        expect({ path, method, status: response.status }).toEqual({ path, method, status: 401 });
        expect(response.headers.get("www-authenticate")).toBe('Bearer realm="plexus"');
        if (method === "HEAD") continue;
        const { error } = ErrorBody.parse(await response.json());
        expect(error.code).toBe("unauthorized");
        expect(error.message).toContain("plexus token show");
      }
    }
  });

  test("is answered on /, /healthz and /readyz, with nothing but the status", async () => {
    await using plexus = await startPlexus();
    expect(await (await plexus.fetch("/healthz", { token: null })).json()).toEqual({ status: "ok" });
    expect(await (await plexus.fetch("/readyz", { token: null })).json()).toEqual({ status: "ready" });
    expect((await plexus.fetch("/", { token: null })).status).toBe(200);
  });

  test("is 401 if an open path does not have the method", async () => {
    await using plexus = await startPlexus();
    for (const [method, path] of [
      ["POST", "/"],
      ["DELETE", "/healthz"],
      ["POST", "/readyz"],
      ["PUT", "/api/v1/docs"],
      ["GET", "/api/v1/sign-in"],
      ["GET", "/api/v1/links/open"],
      ["PUT", "/api/v1/links/decide"],
      ["POST", "/link"],
    ] as const)
      await expectRefusal(await plexus.fetch(path, { method, token: null }), 401, "unauthorized");
  });

  test("is never 429, however many are sent", async () => {
    await using plexus = await startPlexus();
    const statuses = await Promise.all(
      Array.from({ length: 300 }, async () => (await plexus.fetch("/api/v1/approvals", { token: null })).status),
    );
    expect(new Set(statuses)).toEqual(new Set([401]));
  });
});

describe("a wrong token", () => {
  test("is 401 a hundred times and 429 from then on, while a valid one still passes", async () => {
    await using plexus = await startPlexus();
    const statuses: number[] = [];
    for (let attempt = 0; attempt < 110; attempt++) {
      statuses.push((await plexus.fetch("/api/v1/approvals", { token: `guess-${attempt}` })).status);
    }
    expect(statuses).toEqual([...Array<number>(100).fill(401), ...Array<number>(10).fill(429)]);
    expect((await plexus.fetch("/api/v1/approvals")).status).toBe(200);
    expect((await plexus.fetch("/api/v1/approvals", { token: null })).status).toBe(401);
  });

  test("is answered with Retry-After after too many attempts", async () => {
    await using plexus = await startPlexus();
    for (let attempt = 0; attempt < 100; attempt++) await plexus.fetch("/mcp", { token: "guess" });
    const response = await plexus.fetch("/mcp", { token: "guess" });
    expect(response.headers.get("retry-after")).toBe("10");
    await expectRefusal(response, 429, "too_many_requests");
  });

  test.each([
    ["another scheme", `Basic ${btoa(`operator:${OPERATOR_TOKEN}`)}`],
    ["no token after the scheme", "Bearer"],
    ["a token without a scheme", OPERATOR_TOKEN],
    ["an empty header", ""],
    ["a part of the operator's token", `Bearer ${OPERATOR_TOKEN.slice(0, -1)}`],
    ["more than the operator's token", `Bearer ${OPERATOR_TOKEN} x`],
    ["the shape of a token that was never made", "Bearer plx_AAAAAAAAAAAA_BBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBB"],
    ["characters of a query", "Bearer plx_' OR 1=1 --_x"],
  ])("is refused when it is %s", async (_, authorization) => {
    await using plexus = await startPlexus();
    const response = await plexus.fetch("/api/v1/approvals", { token: null, headers: { authorization } });
    await expectRefusal(response, 401, "unauthorized");
  });

  test("is refused when its public half is known but its secret half is not", async () => {
    await using plexus = await startPlexus();
    const { token } = await namedToken(plexus, "laptop");
    const forged = `${token.slice(0, token.lastIndexOf("_") + 1)}${"A".repeat(43)}`;
    await expectRefusal(await plexus.fetch("/api/v1/approvals", { token: forged }), 401, "unauthorized");
  });
});

describe("a valid token", () => {
  test("of the operator may do everything", async () => {
    await using plexus = await startPlexus();
    expect((await plexus.fetch("/api/v1/approvals")).status).toBe(200);
    expect((await plexus.fetch("/api/v1/tokens")).status).toBe(200);
    expect(await (await plexus.fetch("/readyz")).json()).toMatchObject({ status: "ready", database: "writable" });
  });

  test("is accepted with any spelling of the scheme, and spaces around it", async () => {
    await using plexus = await startPlexus();
    for (const authorization of [`bearer ${OPERATOR_TOKEN}`, `BEARER   ${OPERATOR_TOKEN}  `]) {
      const response = await plexus.fetch("/api/v1/approvals", { token: null, headers: { authorization } });
      expect(response.status).toBe(200);
    }
  });

  test("with a name may read approvals and may not manage tokens", async () => {
    await using plexus = await startPlexus();
    const { token } = await namedToken(plexus, "laptop");
    expect((await plexus.fetch("/api/v1/approvals", { token })).status).toBe(200);
    await expectRefusal(await plexus.fetch("/api/v1/tokens", { token }), 403, "forbidden");
  });

  test("of a child opens no route, known or unknown", async () => {
    await using plexus = await startPlexus();
    const { token } = await plexus.child();
    for (const path of PATHS.filter((candidate) => !candidate.endsWith("/mcp"))) {
      for (const method of METHODS.filter((candidate) => candidate !== "HEAD")) {
        const response = await plexus.fetch(path, { method, token });
        expect({ path, method, status: response.status }).toEqual({ path, method, status: 403 });
        expect(ErrorBody.parse(await response.json()).error.code).toBe("forbidden");
      }
    }
  });

  test("of a child learns no more on /readyz than a request without a token", async () => {
    await using plexus = await startPlexus();
    const { token } = await plexus.child();
    expect(await (await plexus.fetch("/readyz", { token })).json()).toEqual({ status: "ready" });
  });
});

describe("the log", () => {
  test("contains no token, neither accepted nor refused", async () => {
    await using plexus = await startPlexus();
    const named = await namedToken(plexus, "laptop");
    const child = await plexus.child();
    const secrets = [OPERATOR_TOKEN, named.token, child.token, "a-wrong-token-of-some-length"];
    for (const token of secrets) {
      for (const path of ["/mcp", "/api/v1/approvals", "/api/v1/tokens", "/nowhere", `/api/v1/approvals/${token}`]) {
        await plexus.fetch(path, { token });
        await plexus.fetch(path, { token, method: "POST", body: JSON.stringify({ token }) });
        await plexus.fetch(path, { token, method: "POST", body: `{"broken": "${token}` });
      }
    }
    const parent = await plexus.connect(named.token);
    await parent.call("loopback_configure", { name: "by-hand" });
    await plexus.fetch("/api/v1/tokens/laptop", { method: "DELETE" });
    const log = plexus.log.join("");
    for (const secret of secrets) expect(log).not.toContain(secret);
    expect(log).not.toMatch(/plx_[\w-]+_[\w-]{20}/);
  });
});
