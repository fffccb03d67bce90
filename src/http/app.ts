import { Hono, type MiddlewareHandler } from "hono";
import type { App } from "../app.ts";
import { AppError } from "../contract/refusals/errors.ts";
import { type AuthApp, type Env, identifyCaller, refuseChildren, requireCaller } from "./middleware/auth.ts";
import { answerError } from "./middleware/errors.ts";
import { checkOrigin } from "./middleware/origin.ts";
import { privateAnswers } from "./middleware/private-answers.ts";
import { type LimitsApp, limitRequests } from "./middleware/request-limits.ts";
import { type LoadPage, pageRoutes } from "./page/page.ts";
import { createRouter } from "./router.ts";
import { type ApprovalsApp, approvalRoutes } from "./routes/approvals/approvals.ts";
import { type AuditApp, auditRoutes } from "./routes/approvals/audit.ts";
import { type UnaskedCallsApp, unaskedCallRoutes } from "./routes/approvals/unasked-calls.ts";
import { type WaitApp, waitRoutes } from "./routes/approvals/wait.ts";
import { type DemoApp, demoRoutes } from "./routes/demo.ts";
import { docsRoutes, openApiRoutes } from "./routes/docs.ts";
import { type EventsApp, eventRoutes } from "./routes/events.ts";
import { type LinksApp, linkRoutes } from "./routes/links.ts";
import { MCP_PATH, type McpTransport, mcpRoute } from "./routes/mcp.ts";
import { type PushApp, pushRoutes } from "./routes/push.ts";
import { type RulesApp, ruleRoutes } from "./routes/rules.ts";
import {
  type HealthApp,
  healthRoutes,
  type MetricsApp,
  metricsRoutes,
  type VersionApp,
  versionRoutes,
} from "./routes/server.ts";
import { type ChatApp, chatRoutes } from "./routes/sessions/chat.ts";
import { type SessionsApp, sessionRoutes } from "./routes/sessions/sessions.ts";
import { type TurnsApp, turnRoutes } from "./routes/sessions/turns.ts";
import { type CallerApp, callerRoutes, signInRoutes } from "./routes/sign-in.ts";
import { type StatisticsApp, statisticsRoutes } from "./routes/statistics.ts";
import { type TokensApp, tokenRoutes } from "./routes/tokens.ts";
import { type WebhooksApp, webhookRoutes } from "./routes/webhooks.ts";
import { register, type Served, type ServedOpenly } from "./serve.ts";
import type { Streaming } from "./streams/events.ts";

/** The parts of the app that HTTP uses, as each file of routes names them. */
export type HttpApp = Pick<App, "config" | "log"> &
  AuthApp &
  LimitsApp &
  ApprovalsApp &
  AuditApp &
  CallerApp &
  ChatApp &
  DemoApp &
  EventsApp &
  HealthApp &
  LinksApp &
  MetricsApp &
  PushApp &
  RulesApp &
  SessionsApp &
  StatisticsApp &
  TokensApp &
  TurnsApp &
  UnaskedCallsApp &
  VersionApp &
  WaitApp &
  WebhooksApp;

type RoutesNeed = {
  app: HttpApp;
  mcp: McpTransport;
  loadPage: LoadPage;
  keepAliveMs: number;
  descriptors: number;
  closing: AbortSignal;
};

/**
 * Three nested apps: `open` serves anybody, `authenticated` serves callers with a token, and `deciders` serves callers
 * who may decide, which excludes children. The app that contains a route determines who may call it.
 */
export function createRoutes({ app, mcp, loadPage, keepAliveMs, descriptors, closing }: RoutesNeed): Hono<Env> {
  const operations = () => [...forDeciders, ...forAnybody];
  const forDeciders: Served[] = [
    ...approvalRoutes(app),
    ...unaskedCallRoutes(app),
    ...ruleRoutes(app),
    ...auditRoutes(app),
    ...sessionRoutes(app),
    ...chatRoutes(app, closing),
    ...turnRoutes(app),
    ...demoRoutes(app),
    ...eventRoutes(app),
    ...waitRoutes(app, closing),
    ...statisticsRoutes(app),
    ...tokenRoutes(app),
    ...webhookRoutes(app),
    ...pushRoutes(app),
    ...callerRoutes(app),
    ...metricsRoutes(app),
    ...versionRoutes(app),
    ...openApiRoutes(operations),
  ];
  const forAnybody: ServedOpenly[] = [
    ...signInRoutes(app),
    ...linkRoutes(app),
    ...healthRoutes(app),
    ...docsRoutes(operations),
  ];

  const streaming = { log: app.log, keepAliveMs, closing, count: app.metrics.openStream, isOver: app.tokens.isOver };
  const deciders = behind([refuseChildren], servedBy(forDeciders, streaming));
  const authenticated = behind([requireCaller], mcpRoute(mcp, closing), deciders);
  const everyRequest = [
    privateAnswers,
    checkOrigin(app.config),
    identifyCaller(app),
    refuseLate,
    limitRequests(app, descriptors),
  ];
  const open = behind(everyRequest, servedBy(forAnybody, streaming).route("/", pageRoutes(loadPage)), authenticated);
  const all = new Hono<Env>({ router: createRouter() }).route("/", open);
  all.onError((cause, c) => answerError(c, cause, app.log));
  all.notFound((c) =>
    answerError(c, new AppError("not_found", `There is nothing at ${c.req.method} ${c.req.path}.`), app.log),
  );
  return all;
}

/**
 * Refuses a request that arrives while the server is stopping. /mcp decides for itself, because it still accepts
 * permits.
 */
const refuseLate: MiddlewareHandler<Env> = (c, next) => {
  if (c.env.isLate && c.req.path !== MCP_PATH)
    throw new AppError("unreachable", "Plexus is stopping, or handing over: try again in a moment.");
  return next();
};

/** Serves `own` routes behind the guards. Other requests go on to the inner app, through that app's guards. */
function behind(guards: MiddlewareHandler<Env>[], own: Hono<Env>, inner?: Hono<Env>): Hono<Env> {
  const outer = new Hono<Env>().use(...guards).route("/", own);
  return inner ? outer.route("/", inner) : outer;
}

function servedBy(routes: Served[], streaming: Streaming): Hono<Env> {
  const hono = new Hono<Env>();
  for (const served of routes) register(hono, served, streaming);
  return hono;
}
