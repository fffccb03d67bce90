import { describe, expect, setDefaultTimeout, test } from "bun:test";
import { Validator } from "@seriousme/openapi-schema-validator";
import { createRoutes } from "../../src/http/app.ts";
import { createMcpEndpoint } from "../../src/mcp/endpoint.ts";
import { bash, startFamily } from "../support/family.ts";
import { type Plexus, startPlexus } from "../support/plexus.ts";
import { script } from "../support/scripted-model.ts";
import { until } from "../support/until.ts";
import { namedToken } from "./callers.ts";
import { createChecks, createTraveller, type Document, readDocument } from "./openapi-checks.ts";

setDefaultTimeout(180_000);

describe("/api/v1/openapi.json", () => {
  test("is valid OpenAPI 3.1", async () => {
    await using plexus = await startPlexus();
    const { valid, errors } = await new Validator().validate(await readDocument(plexus));
    expect({ valid, errors }).toEqual({ valid: true, errors: undefined });
  });

  test("describes every route that there is, and no other", async () => {
    await using plexus = await startPlexus();
    const described = operationsOf(await readDocument(plexus)).map(({ route }) => route);
    expect(described.sort()).toEqual((await routesOf(plexus)).sort());
  });

  test("has examples that fit its own schemas, for every body, answer and refusal", async () => {
    await using plexus = await startPlexus();
    const document = await readDocument(plexus);
    const check = createChecks(document);
    for (const { route, described } of operationsOf(document)) {
      const contents = [...Object.values(described.responses), described.requestBody].map((one) => one?.content ?? {});
      for (const media of contents.flatMap((content) => content["application/json"] ?? [])) {
        const examples: unknown[] = "examples" in media ? valuesOf(media["examples"]) : [media["example"]];
        expect({ route, examples: examples.length > 0 && examples.every((one) => one !== undefined) }).toEqual({
          route,
          examples: true,
        });
        for (const example of examples)
          expect({ route, example, problems: check(media.schema, example) }).toMatchObject({ problems: [] });
      }
    }
  });

  test("names each operation once, and every schema that it refers to is there", async () => {
    await using plexus = await startPlexus();
    const document = await readDocument(plexus);
    const ids = operationsOf(document).map(({ described }) => described.operationId);
    expect(new Set(ids).size).toBe(ids.length);
    const referred = [...JSON.stringify(document).matchAll(/"#\/components\/schemas\/(\w+)"/g)].map(([, name]) => name);
    expect(referred.filter((name = "") => !(name in document.components.schemas))).toEqual([]);
  });

  test("tells which routes need no token, and they need none", async () => {
    await using plexus = await startPlexus();
    for (const { route, described } of operationsOf(await readDocument(plexus))) {
      const [method = "", path = ""] = route.split(" ");
      const target = path.replaceAll(/\{\w+\}/g, "0190");
      const response = await plexus.fetch(target, { method: method.toUpperCase(), token: null });
      await response.body?.cancel();
      const isOpen = described.security?.some((one) => Object.keys(Object(one)).length === 0) ?? false;
      const needsNone = isOpen || described.security?.length === 0;
      expect({ route, refused: response.status === 401 }).toEqual({ route, refused: !needsNone });
    }
  });
});

describe("every route", () => {
  test("answers as the document says", async () => {
    await using family = await startFamily();
    const { plexus, place } = family;
    const document = await readDocument(plexus);
    const { go, tried } = createTraveller(plexus, document);
    const key = { key: "builder" };

    await go({ route: "post /api/v1/sessions", body: { name: "builder", working_dir: place }, status: 201 });
    await go({ route: "post /api/v1/sessions", body: { name: "builder", working_dir: place }, status: 409 });
    await go({ route: "get /api/v1/sessions", query: "limit=5&status=idle", status: 200 });
    const sessionId = (await plexus.app.sessions.require({ kind: "operator" }, "builder")).id;
    const prompt = script([{ use: [bash("echo hello > there.txt", "toolu_1")] }, { say: "done" }]);
    const chat = "post /api/v1/sessions/{key}/chat";
    await go({ route: chat, path: key, body: { prompt, wait_secs: 110 }, status: 200 });
    const { id } = await family.ask(sessionId);
    await go({ route: chat, path: key, body: { prompt }, status: 409 });
    await go({ route: "get /api/v1/approvals", query: "status=pending&max_chars=2000", status: 200 });
    await go({ route: "get /api/v1/approvals/{id}", path: { id }, status: 200 });
    await go({ route: "get /api/v1/approvals/{id}/context", path: { id }, status: 200 });
    const respond = "post /api/v1/approvals/{id}/respond";
    await go({ route: respond, path: { id }, body: { approve: "yes" }, status: 422 });
    await go({ route: respond, path: { id }, body: { approve: true, message: null }, status: 200 });
    await go({ route: respond, path: { id }, body: { approve: false }, status: 200 });
    await go({ route: respond, path: { id: "0190" }, body: { approve: false }, status: 404 });
    await family.ended("builder");

    await go({ route: "get /api/v1/sessions/{key}", path: key, status: 200 });
    await go({ route: "get /api/v1/sessions/{key}/tree", path: key, status: 200 });
    await go({ route: "get /api/v1/sessions/{key}/context", path: key, status: 200 });
    await go({ route: "get /api/v1/sessions/{key}/turns", path: key, query: "limit=1", status: 200 });
    await go({ route: "get /api/v1/sessions/{key}/events", path: key, query: "follow=false", status: 200 });
    await go({ route: "get /api/v1/events", query: "last_event_id=0", status: 200 });
    await go({ route: "get /api/v1/events", query: "last_event_id=x", status: 422 });
    const turn_id = (
      await plexus.app.sessionViews.turns(await plexus.app.sessions.require({ kind: "operator" }, "builder"), {
        limit: 1,
      })
    ).turns[0]?.turn_id;
    const turn = { turn_id: turn_id ?? "" };
    await go({ route: "get /api/v1/turns/{turn_id}", path: turn, status: 200 });
    await go({ route: "get /api/v1/turns/{turn_id}/events", path: turn, query: "from_seq=0&limit=1000", status: 200 });
    const fork = "post /api/v1/sessions/{key}/fork";
    await go({ route: fork, path: key, body: { new_name: "another" }, status: 201 });
    await go({ route: fork, path: key, body: { new_name: "another", name: "x" }, status: 422 });
    await go({ route: chat, path: key, body: { prompt: script([{ hang: true }]), ephemeral: true }, status: 202 });
    await go({ route: "post /api/v1/sessions/{key}/cancel", path: key, status: 200 });
    await go({ route: "post /api/v1/sessions/{key}/cancel", path: key, status: 200 });
    await go({ route: "delete /api/v1/sessions/{key}", path: key, status: 200 });
    await go({ route: "get /api/v1/sessions/{key}", path: key, status: 404 });

    await go({ route: "post /api/v1/tokens", body: { name: "ci" }, status: 201 });
    await go({ route: "post /api/v1/tokens", body: { name: "ci" }, status: 409 });
    await go({ route: "get /api/v1/tokens", status: 200 });
    const { token } = await namedToken(plexus, "other");
    await go({ route: "get /api/v1/tokens", token, status: 403 });
    await go({ route: "delete /api/v1/tokens/{name}", path: { name: "ci" }, status: 200 });
    await go({ route: "delete /api/v1/tokens", query: "kind=web", status: 200 });
    await go({ route: "delete /api/v1/tokens", status: 422 });
    await go({ route: "get /api/v1/me", token, status: 200 });
    await go({ route: "post /api/v1/me/codes", status: 201 });
    const { code } = await plexus.app.signIn.newCode({ kind: "operator" });
    await go({ route: "post /api/v1/sign-in", body: { code }, token: null, status: 200 });
    await go({ route: "post /api/v1/sign-in", body: { code }, token: null, status: 401 });
    await go({ route: "post /api/v1/me/sign-out", status: 200 });

    for (const path of ["/healthz", "/readyz", "/metrics", "/api/v1/openapi.json", "/api/v1/docs"])
      await go({ route: `get ${path}`, status: 200 });
    await go({ route: "get /readyz", token: null, status: 200 });
    await go({ route: "get /metrics", token: null, status: 401 });
    await go({ route: "get /api/v1/unasked", query: "limit=5", status: 200 });
    await go({ route: "get /api/v1/audit/verify", status: 200 });
    await go({ route: "get /api/v1/audit/export", status: 200 });
    await go({ route: "get /api/v1/audit/verify", token: null, status: 401 });

    const promised = operationsOf(document).flatMap(({ route, described }) =>
      Object.keys(described.responses).flatMap((status) => (Number(status) < 300 ? [`${route} ${status}`] : [])),
    );
    expect(promised.filter((one) => !tried.has(one))).toEqual([]);
    await until("nothing to run", () => family.children().length === 0);
  });
});

describe("/api/v1/docs", () => {
  test("shows every operation and schema, and needs no token", async () => {
    await using plexus = await startPlexus();
    const document = await readDocument(plexus);
    const response = await plexus.fetch("/api/v1/docs", { token: null });
    expect(response.headers.get("content-type")).toStartWith("text/html");
    const page = await response.text();
    const anchors = [
      ...operationsOf(document).map(({ described }) => described.operationId),
      ...Object.keys(document.components.schemas).map((name) => `schema-${name}`),
    ];
    expect(anchors.filter((anchor) => !page.includes(`id="${anchor}"`))).toEqual([]);
    const links = [...page.matchAll(/href="#([^"]+)"/g)].map(([, anchor]) => anchor);
    expect(links.filter((anchor) => !page.includes(`id="${anchor}"`))).toEqual([]);
    expect(page).not.toContain("undefined");
    expect(page).not.toContain("[object");
  });

  test("runs no code, loads nothing, and allows its own style sheet only", async () => {
    await using plexus = await startPlexus();
    const response = await plexus.fetch("/api/v1/docs", { token: null });
    const policy = response.headers.get("content-security-policy") ?? "";
    const page = await response.text();
    const style = /<style>(.*)<\/style>/s.exec(page)?.[1] ?? "";
    const hash = new Bun.CryptoHasher("sha256").update(style).digest("base64");
    expect(policy).toStartWith(`default-src 'none'; style-src 'sha256-${hash}';`);
    expect(page).not.toMatch(/<script|<link|<img|<iframe|\ssrc=|\sstyle=|\son\w+=|https?:\/\//);
  });
});

type Operation = { route: string; described: Document["paths"][string][string] };

function operationsOf(document: Document): Operation[] {
  return Object.entries(document.paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, described]) => ({ route: `${method} ${path}`, described })),
  );
}

/** As the router has them; the page's files and MCP apart. */
async function routesOf({ app }: Plexus): Promise<string[]> {
  await using mcp = createMcpEndpoint(app);
  const { routes } = createRoutes({
    app,
    mcp,
    keepAliveMs: 1_000,
    descriptors: 1_000,
    closing: new AbortController().signal,
  });
  const found = routes
    .filter(({ method, path }) => method !== "ALL" && path !== "/" && !path.startsWith("/assets/"))
    .map(({ method, path }) => `${method.toLowerCase()} ${path.replaceAll(/:(\w+)/g, "{$1}")}`);
  return [...new Set(found)];
}

function valuesOf(examples: unknown): unknown[] {
  return Object.values(Object(examples)).map((one) => Object(one).value);
}
