import { describe, expect, setDefaultTimeout, test } from "bun:test";
import { Validator } from "@seriousme/openapi-schema-validator";
import {
  decideApproval,
  decideApprovals,
  getApproval,
  getApprovalContext,
  listApprovals,
} from "../../../src/contract/routes/approvals.ts";
import { exportAudit, verifyAudit } from "../../../src/contract/routes/audit.ts";
import { startDemo } from "../../../src/contract/routes/demo.ts";
import { followEvents } from "../../../src/contract/routes/events.ts";
import { decideByLink, openLink } from "../../../src/contract/routes/links.ts";
import {
  getPush,
  PushStatus,
  PushSubscribed,
  subscribePush,
  testPush,
  unsubscribePush,
} from "../../../src/contract/routes/push.ts";
import {
  addRule,
  changeRule,
  listRules,
  removeRule,
  suggestRules,
  testRule,
} from "../../../src/contract/routes/rules.ts";
import { getDocs, getMetrics, getOpenApi, getVersion, isAlive, isReady } from "../../../src/contract/routes/server.ts";
import {
  cancelTurn,
  chat,
  createSession,
  deleteSession,
  forkSession,
  getContext,
  getSession,
  getTree,
  listSessions,
  run,
  updateSession,
} from "../../../src/contract/routes/sessions.ts";
import { createCode, signIn, signOut, whoAmI } from "../../../src/contract/routes/sign-in.ts";
import { getStatistics } from "../../../src/contract/routes/statistics.ts";
import { createToken, listTokens, revokeToken, signOutPages } from "../../../src/contract/routes/tokens.ts";
import {
  followSession,
  getTurn,
  listTurnEvents,
  listTurns,
  searchSession,
  TurnList,
} from "../../../src/contract/routes/turns.ts";
import { listUnaskedCalls } from "../../../src/contract/routes/unasked-calls.ts";
import { waitForNext } from "../../../src/contract/routes/wait.ts";
import { listWebhooks, testWebhook, WebhookList } from "../../../src/contract/routes/webhooks.ts";
import { OneRule } from "../../../src/contract/rules/answers.ts";
import { SessionCreated } from "../../../src/contract/sessions/answers.ts";
import { SignedIn, SignInCode } from "../../../src/contract/sign-in.ts";
import { createRoutes } from "../../../src/http/app.ts";
import { createPageLoader } from "../../../src/http/page/page.ts";
import { createMcpEndpoint } from "../../../src/mcp/endpoint.ts";
import { startPushService } from "../../outbound/push/push-service.ts";
import { SECRET, startReceiver } from "../../outbound/webhooks/webhook-receiver.ts";
import { script } from "../../support/model/scripted-model.ts";
import { type Plexus, startPlexus } from "../../support/server/plexus.ts";
import { bash, startFamily } from "../../support/sessions/family.ts";
import { until } from "../../support/until.ts";
import { linkIn } from "../links/link.ts";
import { ask, namedToken, sessionOf } from "../support/callers.ts";
import { fieldsOf } from "../support/event-reader.ts";
import { createChecks, createSender, type Document, type Media, readDocument } from "./checks.ts";

setDefaultTimeout(180_000);

describe("/api/v1/openapi.json", () => {
  test("is valid OpenAPI 3.1", async () => {
    await using plexus = await startPlexus();
    const { valid, errors } = await new Validator().validate(await readDocument(plexus));
    expect({ valid, errors }).toEqual({ valid: true, errors: undefined });
  });

  test("describes every existing route, and no other", async () => {
    await using plexus = await startPlexus();
    const described = operationsOf(await readDocument(plexus)).map(({ route }) => route);
    expect(described.sort()).toEqual((await routesOf(plexus)).sort());
  });

  test("has examples that fit its own schemas, for every body, answer, event, line and refusal", async () => {
    await using plexus = await startPlexus();
    const document = await readDocument(plexus);
    const check = createChecks(document);
    for (const { route, described } of operationsOf(document)) {
      const contents = [...Object.values(described.responses), described.requestBody].map((one) => one?.content ?? {});
      for (const [type, media] of contents.flatMap((content) => Object.entries(content))) {
        const { schema, examples } = examplesIn(type, media);
        expect({ route, type, examples: examples.length }).not.toMatchObject({ examples: 0 });
        for (const example of examples)
          expect({ route, example, problems: check(schema, example) }).toMatchObject({ problems: [] });
      }
    }
  });

  test("names each operation once, and defines every schema that it refers to", async () => {
    await using plexus = await startPlexus();
    const document = await readDocument(plexus);
    const ids = operationsOf(document).map(({ described }) => described.operationId);
    expect(new Set(ids).size).toBe(ids.length);
    const referred = [...JSON.stringify(document).matchAll(/"#\/components\/schemas\/(\w+)"/g)].map(([, name]) => name);
    expect(referred.filter((name = "") => !(name in document.components.schemas))).toEqual([]);
  });

  test("describes every path parameter", async () => {
    await using plexus = await startPlexus();
    const inPaths = operationsOf(await readDocument(plexus)).flatMap(({ route, described }) =>
      described.parameters
        .filter((one) => one.in === "path")
        .map(({ name, description }) => ({ route, name, description })),
    );
    expect(inPaths.length).toBeGreaterThan(0);
    for (const parameter of inPaths)
      expect(parameter).toEqual({ ...parameter, description: expect.stringMatching(/\w/) });
  });

  test("marks the routes that need no token, and these need none", async () => {
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
    await using receiver = startReceiver();
    await using pushService = startPushService();
    const webhook = { webhook: `${receiver.url}#decide=any`, webhookSecret: SECRET };
    const push = { push: "mailto:me@example.org", pushHosts: pushService.host };
    await using family = await startFamily({ flags: { ...webhook, ...push } });
    const { plexus, place } = family;
    const document = await readDocument(plexus);
    const { send, tried } = createSender(plexus, document);
    const key = { key: "builder" };

    const created = await send(createSession, 201, { body: { name: "builder", working_dir: place } });
    await send(createSession, 409, { body: { name: "builder", working_dir: place } });
    await send(updateSession, 200, { params: key, body: { max_turns: 9 } });
    await send(updateSession, 422, { params: key, body: {} });
    await send(run, 409, { body: { name: "builder", prompt: "x", max_turns: 8 } });
    await send(run, 200, {
      body: { name: "runner", prompt: script([{ say: "x" }]), working_dir: place, wait_secs: 60 },
    });
    await send(run, 202, { body: { name: "runner", prompt: script([{ say: "x" }]) } });
    await family.ended("runner");
    await send(listSessions, 200, { query: "limit=5&status=idle" });
    const prompt = script([{ use: [bash("echo hello > there.txt", "toolu_1")] }, { say: "done" }]);
    await send(chat, 200, { params: key, body: { prompt, wait_secs: 110 } });
    const { id } = await family.ask(SessionCreated.parse(created).id);
    await send(chat, 409, { params: key, body: { prompt } });
    await send(listApprovals, 200, { query: "status=pending&max_chars=2000" });
    await send(waitForNext, 200, { body: { timeout_secs: 0, skip: [], consumer: "one" } });
    await send(waitForNext, 422, { body: { timeout_secs: 111 } });
    await send(waitForNext, 404, { body: { session_id: "unknown" } });
    await send(getApproval, 200, { params: { id } });
    await send(getApprovalContext, 200, { params: { id } });
    await send(decideApproval, 422, { params: { id }, body: { approve: "yes" } });
    const unknown = { approval_id: "0190", approve: true };
    await send(decideApprovals, 200, { body: { decisions: [unknown, { approval_id: id, approve: "yes" }] } });
    await send(decideApprovals, 422, { body: { decisions: [] } });
    await send(decideApproval, 200, { params: { id }, body: { approve: true, message: null } });
    await send(decideApproval, 200, { params: { id }, body: { approve: false } });
    await send(decideApproval, 404, { params: { id: "0190" }, body: { approve: false } });
    await family.ended("builder");
    await send(waitForNext, 200, { body: {} });
    await send(waitForNext, 200, { body: {} });

    const rule = { decision: "deny", match: "Bash(npm *)" };
    const added = OneRule.parse(await send(addRule, 201, { body: rule })).rule;
    await send(addRule, 200, { body: rule });
    await send(addRule, 422, { body: { ...rule, match: "Bash(npm" } });
    await send(addRule, 404, { body: { ...rule, session_id: "0190" } });
    await send(listRules, 200, { query: "session_id=builder" });
    await send(changeRule, 200, { params: { id: added.id }, body: { mode: "shadow", uses: 3, reason: null } });
    await send(changeRule, 404, { params: { id: "0190" }, body: { mode: "shadow" } });
    await send(testRule, 200, { body: { decision: "deny", match: "Bash(echo *)" } });
    const call = { tool_name: "Bash", input: { command: "npm test" } };
    await send(testRule, 200, { body: { ...call, session_id: "builder" } });
    await send(testRule, 422, { body: call });
    await send(suggestRules, 200);
    await send(removeRule, 200, { params: { id: added.id } });
    await send(removeRule, 404, { params: { id: added.id } });

    await send(startDemo, 201);
    await send(getSession, 200, { params: key });
    await send(getTree, 200, { params: key });
    await send(getContext, 200, { params: key });
    const { turns } = TurnList.parse(await send(listTurns, 200, { params: key, query: "limit=1" }));
    await send(followSession, 200, { params: key, query: "follow=false" });
    await send(followEvents, 200, { query: "last_event_id=0" });
    await send(followEvents, 422, { query: "last_event_id=x" });
    const turn = { turn_id: turns[0]?.turn_id ?? "" };
    await send(getTurn, 200, { params: turn });
    await send(searchSession, 200, { params: key, query: "search=hello" });
    await send(listTurnEvents, 200, { params: turn, query: "from_seq=0&limit=1000" });
    await send(forkSession, 201, { params: key, body: { new_name: "another" } });
    await send(forkSession, 422, { params: key, body: { new_name: "another", name: "x" } });
    await send(chat, 202, { params: key, body: { prompt: script([{ hang: true }]), ephemeral: true } });
    await send(cancelTurn, 200, { params: key });
    await send(cancelTurn, 200, { params: key });
    await send(deleteSession, 200, { params: key });
    await send(getSession, 404, { params: key });

    await send(getStatistics, 200, { query: "range=30d" });
    await send(getStatistics, 422, { query: "range=1y" });
    await send(createToken, 201, { body: { name: "ci" } });
    await send(createToken, 409, { body: { name: "ci" } });
    await send(listTokens, 200);
    const { token } = await namedToken(plexus, "other");
    await send(listTokens, 403, { token });
    await send(revokeToken, 200, { params: { name: "ci" } });
    await send(signOutPages, 200, { query: "kind=web" });
    await send(signOutPages, 422);
    await send(whoAmI, 200, { token });
    const { code } = SignInCode.parse(await send(createCode, 201));
    const page = SignedIn.parse(await send(signIn, 200, { body: { code }, token: null })).token;
    await send(signIn, 401, { body: { code }, token: null });
    await send(signOut, 200);

    const { approvalId } = await ask(plexus, (await sessionOf(plexus, { kind: "operator" })).session);
    const { link } = await linkIn(receiver, approvalId);
    for (const [status, body] of [
      [200, { link }],
      [404, { link: link.replace(/.{9}$/, "AAAAAAAAA") }],
    ] as const) {
      await send(openLink, status, { body, token: null });
      await send(decideByLink, status, { body: { ...body, approve: false }, token: null });
    }

    const { webhooks } = WebhookList.parse(await send(listWebhooks, 200));
    await send(listWebhooks, 403, { token });
    await send(testWebhook, 200, { params: { id: webhooks[0]?.id ?? "" } });
    await send(testWebhook, 404, { params: { id: "0190" } });
    const { public_key } = PushStatus.parse(await send(getPush, 200));
    const { endpoint, keys } = await pushService.browser(public_key ?? "");
    await send(subscribePush, 403, { body: { endpoint, keys } });
    await send(subscribePush, 422, { body: { endpoint: "https://127.0.0.1/", keys }, token: page });
    const told = PushSubscribed.parse(await send(subscribePush, 200, { body: { endpoint, keys }, token: page }));
    const subscription = { params: { id: told.subscription.id } };
    await send(testPush, 200, subscription);
    await send(testPush, 404, { params: { id: "0190" } });
    await send(unsubscribePush, 200, subscription);
    await send(unsubscribePush, 404, subscription);
    await send(getVersion, 200);
    await send(getVersion, 403, { token });
    for (const route of [isAlive, isReady, getMetrics, getOpenApi, getDocs]) await send(route, 200);
    await send(isReady, 200, { token: null });
    await send(getMetrics, 401, { token: null });
    await send(listUnaskedCalls, 200, { query: "limit=5" });
    await send(verifyAudit, 200);
    await send(exportAudit, 200);
    await send(verifyAudit, 401, { token: null });

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

/** The paths of the page's files, which are not part of the API. */
const PAGE_PATHS = /^\/($|link$|assets\/|manifest.webmanifest$|worker.js$)/;

/** The router's routes, without the page's files and MCP. */
async function routesOf({ app }: Plexus): Promise<string[]> {
  await using mcp = createMcpEndpoint(app);
  const { routes } = createRoutes({
    app,
    mcp,
    loadPage: createPageLoader(),
    keepAliveMs: 1_000,
    descriptors: 1_000,
    closing: new AbortController().signal,
  });
  const found = routes
    .filter(({ method, path }) => method !== "ALL" && !PAGE_PATHS.test(path))
    .map(({ method, path }) => `${method.toLowerCase()} ${path.replaceAll(/:(\w+)/g, "{$1}")}`);
  return [...new Set(found)];
}

/** The example values for a content type, each with the schema that it must fit. */
function examplesIn(type: string, media: Media): { schema: unknown; examples: unknown[] } {
  if (type === "text/plain" || type === "text/html") return { schema: media.schema, examples: ["any text"] };
  const { example, examples } = media;
  if (type === "application/jsonl") return { schema: media["x-line"], examples: [JSON.parse(String(example))] };
  if (type === "text/event-stream")
    return { schema: media["x-event-data"], examples: [JSON.parse(fieldsOf(String(example).trimEnd()).data ?? "")] };
  const values = Object.values(examples ?? {}).map(({ value }) => value);
  return { schema: media.schema, examples: example === undefined ? values : [example] };
}
