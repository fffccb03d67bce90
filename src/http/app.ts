import { Hono } from "hono";
import type { App } from "../app.ts";
import { AppError } from "../contract/errors.ts";
import { VERSION } from "../version.ts";
import { authenticate, type Env, refuseChildren, refusePages } from "./middleware/auth.ts";
import { readJson } from "./middleware/body.ts";
import { answerError } from "./middleware/errors.ts";
import { checkOrigin } from "./middleware/origin.ts";
import { privateAnswers } from "./middleware/private-answers.ts";
import { limitRequests } from "./middleware/request-limits.ts";
import { DOCS_PATH, openApiRoutes } from "./openapi/openapi.ts";
import { isPagePath, pageRoutes } from "./page/page.ts";
import { approvalRoutes } from "./routes/approvals.ts";
import { auditRoutes } from "./routes/audit.ts";
import { eventRoutes } from "./routes/events.ts";
import { metricsRoute } from "./routes/metrics.ts";
import { sessionEventRoutes } from "./routes/session-events.ts";
import { sessionRoutes } from "./routes/sessions.ts";
import { callerRoutes, SIGN_IN_PATH, signInRoute } from "./routes/sign-in.ts";
import { tokenRoutes } from "./routes/tokens.ts";
import { turnRoutes } from "./routes/turns.ts";
import { unaskedRoutes } from "./routes/unasked.ts";

const OPEN_PATHS = new Set(["/healthz", "/readyz", SIGN_IN_PATH, DOCS_PATH]);

/** Answers MCP requests; given from outside, since transports don't know each other. */
export type McpTransport = AsyncDisposable & {
  handle(
    request: Request,
    caller: Pick<Env["Variables"], "principal" | "anonymous" | "held">,
    body: unknown,
  ): Promise<Response>;
};

type RoutesNeed = { app: App; mcp: McpTransport; keepAliveMs: number; descriptors: number; closing: AbortSignal };

export function createRoutes({ app, mcp, keepAliveMs, descriptors, closing }: RoutesNeed) {
  const routes = new Hono<Env>();
  routes.onError((cause, c) => answerError(c, cause, app.log));
  routes.notFound((c) =>
    answerError(c, new AppError("not_found", `There is nothing at ${c.req.method} ${c.req.path}.`), app.log),
  );
  routes.use(privateAnswers);
  routes.use(checkOrigin(app.config));
  routes.use(authenticate(app, (path) => OPEN_PATHS.has(path) || isPagePath(path)));
  routes.use(limitRequests(app, descriptors));

  routes.get("/healthz", (c) => c.json({ status: "ok" }));
  routes.get("/readyz", async (c) => {
    await app.assertReady();
    if (!c.get("principal") || c.get("principal").kind === "session") return c.json({ status: "ready" });
    const claude = await app.claude();
    const warnings = "problem" in claude ? [claude.problem] : [];
    const found = { claude: claude.path ?? null, claude_version: "version" in claude ? claude.version : null };
    return c.json({ status: "ready", version: VERSION, database: "writable", ...found, warnings });
  });
  routes.route("/", pageRoutes());
  routes.route(SIGN_IN_PATH, signInRoute(app));

  const notForPages = refusePages("The token of a page is not for /mcp: `plexus token create NAME` makes one.");
  routes.all("/mcp", notForPages, async (c) => {
    const body = c.req.method === "POST" ? await readJson(c) : undefined;
    c.env.server?.timeout(c.req.raw, 0);
    const caller = { principal: c.get("principal"), anonymous: c.get("anonymous"), held: c.get("held") };
    return mcp.handle(c.req.raw, caller, body);
  });

  routes.use("/*", refuseChildren);
  routes.route("/api/v1", openApiRoutes());
  routes.route("/metrics", metricsRoute(app));
  routes.route("/api/v1/approvals", approvalRoutes(app));
  routes.route("/api/v1/unasked", unaskedRoutes(app));
  routes.route("/api/v1/audit", auditRoutes(app));
  routes.route("/api/v1/tokens", tokenRoutes(app));
  routes.route("/api/v1/me", callerRoutes(app));
  const streaming = { log: app.log, keepAliveMs, closing, count: app.metrics.openStream, isOver: app.tokens.isOver };
  routes.route("/api/v1/events", eventRoutes(app, streaming));
  routes.route("/api/v1/sessions", sessionRoutes(app, closing));
  routes.route("/api/v1/sessions", sessionEventRoutes(app, streaming));
  routes.route("/api/v1/turns", turnRoutes(app));
  return routes;
}
