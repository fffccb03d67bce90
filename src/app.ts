import { join } from "node:path";
import { createClaudeCli, type FoundClaude } from "./claude/cli.ts";
import { privatePaths } from "./claude/launch/private-paths.ts";
import { ownCgroup } from "./claude/process/cgroup.ts";
import { type Config, localUrl } from "./config.ts";
import type { RulesFileStatus } from "./contract/rules/rule.ts";
import { createMcpClients, type McpClients } from "./core/access/mcp-clients.ts";
import { displayName, type Principal } from "./core/access/principals.ts";
import { createSignIn, type SignIn } from "./core/access/sign-in.ts";
import { createTokens, type Tokens } from "./core/access/tokens.ts";
import { type ApprovalViews, createApprovalViews } from "./core/approvals/approval-views.ts";
import { type Approvals, openApprovals } from "./core/approvals/approvals.ts";
import { createContextOf } from "./core/approvals/context/approval-context.ts";
import { createLeadUps } from "./core/approvals/context/lead-up.ts";
import { createTaskOf } from "./core/approvals/context/task.ts";
import { createLinkMaker, type LinkCounts } from "./core/approvals/links/link-maker.ts";
import { createLinks, type Links } from "./core/approvals/links/links.ts";
import { createToldRequests, type ToldRequests } from "./core/approvals/told-requests.ts";
import { type AuditCheck, createAuditCheck } from "./core/audit/check.ts";
import { createDemos, type Demos } from "./core/demo/demo.ts";
import { createBroadcast } from "./core/events/broadcast.ts";
import { createEventFeed, type EventFeed } from "./core/events/feed.ts";
import type { RuleHistory } from "./core/rulebook/history/history.ts";
import { openRulebook } from "./core/rulebook/open-rulebook.ts";
import type { Rules } from "./core/rulebook/rules.ts";
import { createChangeRelay } from "./core/servers/change-relay.ts";
import { openLease } from "./core/servers/lease.ts";
import { createWaiterReread, openSafetyNet } from "./core/servers/safety-net.ts";
import { createSessionCommands, type SessionCommands } from "./core/sessions/commands.ts";
import { type Conversations, createConversations } from "./core/sessions/conversations.ts";
import { homesOf } from "./core/sessions/homes.ts";
import { createMcpServerPolicy } from "./core/sessions/mcp-server-policy.ts";
import { createSessions, type Sessions } from "./core/sessions/sessions.ts";
import { createSessionViews, type SessionViews } from "./core/sessions/view.ts";
import { createWorkspace } from "./core/sessions/workspace.ts";
import { createStatistics, type Statistics } from "./core/statistics/statistics.ts";
import { createOutputStored } from "./core/turns/output-stored.ts";
import { createPolls, type Polls } from "./core/turns/poll.ts";
import { createPromptOf, type PromptOf } from "./core/turns/prompt.ts";
import { createTranscriptSearch, type TranscriptSearch } from "./core/turns/search/transcript-search.ts";
import { createSessionStream, type SessionStream } from "./core/turns/stream.ts";
import { openTurns, type Turns } from "./core/turns/turns.ts";
import { createUnaskedCalls, type UnaskedCalls } from "./core/turns/unasked-calls.ts";
import { createRetention } from "./core/upkeep/retention.ts";
import { errorFields, type Log } from "./log.ts";
import { ensureLinkKey, ensureOperatorToken, ensurePushKey, ensureWebhookSecret } from "./operator-token.ts";
import { type Metrics, openMetrics } from "./outbound/metrics/metrics.ts";
import { createEndpoints } from "./outbound/push/endpoints.ts";
import { openPush, type Push } from "./outbound/push/push.ts";
import { createUpdates, type Updates } from "./outbound/updates/updates.ts";
import { openWebhooks, sendersOf, type Webhooks } from "./outbound/webhooks/webhooks.ts";
import { openStorage } from "./storage/sqlite/database.ts";

export type { FoundClaude } from "./claude/cli.ts";
export type { Principal } from "./core/access/principals.ts";
export type { Holder } from "./core/access/tokens.ts";
export type { ApprovalList } from "./core/approvals/approvals.ts";
export type { Known as KnownRequest } from "./core/approvals/told-requests.ts";
export { SlowReader } from "./core/events/broadcast.ts";
export { headOf } from "./core/sessions/conversations.ts";
export type { Session } from "./core/sessions/sessions.ts";
export { toCreated, toMessage, toNode } from "./core/sessions/view.ts";

/** A child whose connection broke reconnects after this time. 5 seconds later it counts as gone. */
const RETRY_MS = 10_000;
/** Well below 300 s: Claude Code gives up a call without progress after that time. */
const PROGRESS_EVERY_MS = 20_000;
const REREAD_EVERY_MS = 5_000;
const MEGABYTE = 1024 * 1024;
/** How long a database counts as writable after a successful write. */
const READY_FOR_MS = 1_000;

/** Requests of children, their decisions and the rules. */
type ApprovalParts = {
  approvals: Approvals;
  approvalViews: ApprovalViews;
  links: Links;
  unaskedCalls: UnaskedCalls;
  auditCheck: AuditCheck;
  rules: Rules;
  ruleHistory: RuleHistory;
};

/** Sessions and their turns. */
type SessionParts = {
  sessions: Sessions;
  sessionCommands: SessionCommands;
  sessionViews: SessionViews;
  sessionStream: SessionStream;
  promptOf: PromptOf;
  transcriptSearch: TranscriptSearch;
  conversations: Conversations;
  turns: Turns;
  polls: Polls;
  demos: Demos;
};

/** Callers and their tokens. */
type AccessParts = {
  tokens: Tokens;
  signIn: SignIn;
  mcpClients: McpClients;
  /** The caller's name in the record of decisions. */
  nameOf(principal: Principal): string;
};

/** Events, figures and webhooks. */
type FeedParts = {
  eventFeed: EventFeed;
  toldRequests: ToldRequests;
  metrics: Metrics;
  statistics: Statistics;
  webhooks: Pick<Webhooks, "list" | "pageUrl" | "test">;
  push: Pick<Push, "status" | "subscribe" | "unsubscribe" | "test">;
  updates: Updates;
};

/** The server itself. */
type ServerParts = {
  config: Config;
  log: Log;
  retryMs: number;
  /** How often a waiting call sends progress. */
  progressEveryMs: number;
  /** Sets the port once the server listens: from then on children can reach it. */
  listensOn(port: number): void;
  /** The URL at which processes on this machine reach the server, whatever name others use. */
  childUrl(): string;
  /** Throws if the database accepts no writes. */
  assertReady(): Promise<void>;
  /** The CLI that starts children, and its version. */
  claude(): Promise<FoundClaude>;
};

/** All parts of the server; each transport takes only those that it uses. */
export type App = AsyncDisposable & ApprovalParts & SessionParts & AccessParts & FeedParts & ServerParts;

/** `now` is the system clock, which may be changed; `elapsed` is monotonic. */
export type Clocks = {
  now?: () => number;
  elapsed?: () => number;
  retryMs?: number;
  progressEveryMs?: number;
  abandonAfterMs?: number;
  rereadEveryMs?: number;
  leaseMs?: number;
  renewEveryMs?: number;
  webhookRetryMs?: number;
  pushSpacingMs?: number;
  demoKeptMs?: number;
};

/**
 * Opens storage, wires the core on top, and disposes both in reverse order, also if opening fails half-way. `open`
 * opens the data dir; tests pass one that another server uses as well.
 */
export async function openApp(config: Config, log: Log, clocks: Clocks = {}, open = openStorage): Promise<App> {
  const now = clocks.now ?? Date.now;
  const retryMs = clocks.retryMs ?? RETRY_MS;
  const onError = (cause: unknown) => log.error("background work failed", errorFields(cause));
  let port = config.port;
  let writableAt = Number.NEGATIVE_INFINITY;
  let demos: Demos | undefined;
  await using opened = new AsyncDisposableStack();
  const broadcast = createBroadcast(onError);
  const relay = createChangeRelay(broadcast.publish, onError);
  const storage = opened.use(open(config.dataDir, relay.committed, now));
  await relay.follow(storage);
  const operatorToken = config.token ?? ensureOperatorToken(config.dataDir);
  const hidden = privatePaths({ dataDir: config.dataDir, home: config.home, env: config.environment });
  const sessions = createSessions({ storage, now });
  const rulebook = openRulebook({
    storage,
    sessions,
    now,
    rulesFile: config.rules,
    startedIn: process.cwd(),
    privatePaths: hidden,
    home: config.home,
    path: config.path,
    onFileRead: (status) => reportRulesFile(log, status),
    onError,
  });
  const outliner = opened.use(rulebook.outliner);
  const promptOf = createPromptOf({ storage });
  const approvalViews = createApprovalViews({
    storage,
    sessions,
    decisionRules: rulebook.decisionRules,
    contextOf: createContextOf({
      sessions,
      leadUpOf: createLeadUps({ storage }),
      taskOf: createTaskOf({ storage, promptOf }),
      privatePaths: hidden,
      environment: config.environment,
    }),
    now,
  });
  await storage.audit.begin(now());
  const linkCounts: LinkCounts = { made: 0, opened: 0, decided: 0, refused: 0 };
  // Open these before any part that makes changes, so that they see every change from now on.
  const webhooks = opened.use(
    await openWebhooks({
      storage,
      broadcast,
      withContext: approvalViews.withContext,
      now,
      webhooks: config.webhook,
      links: createLinkMaker({ storage, key: () => ensureLinkKey(config.dataDir), counts: linkCounts, now }),
      secret: () => config.webhookSecret ?? ensureWebhookSecret(config.dataDir),
      pageUrl: () => config.publicUrl ?? localUrl(config.host, port),
      firstRetryMs: clocks.webhookRetryMs ?? 1_000,
      report: log.warn,
    }),
  );
  const push = opened.use(
    openPush({
      storage,
      broadcast,
      now,
      contact: config.push,
      key: () => ensurePushKey(config.dataDir),
      endpoints: createEndpoints(config.pushHosts),
      dangersIn: async (approval) => (await approvalViews.show(approval, { kind: "operator" })).dangers?.length ?? 0,
      firstRetryMs: clocks.webhookRetryMs ?? 1_000,
      spacingMs: clocks.pushSpacingMs ?? 5_000,
      report: log.warn,
    }),
  );
  const metrics = opened.use(await openMetrics({ storage, broadcast, webhooks, push, linkCounts, now, onError }));
  const outputStored = createOutputStored();
  const approvals = opened.use(
    await openApprovals({
      storage,
      broadcast,
      now,
      elapsed: clocks.elapsed ?? clocks.now ?? (() => performance.now()),
      timeoutSecs: config.approvalTimeoutSecs,
      abandonAfterMs: clocks.abandonAfterMs ?? retryMs + 5_000,
      outputStored: outputStored.wait,
      onBuiltin: metrics.countBuiltin,
      judge: rulebook.judge,
      onStale: rulebook.onStale,
      decisionRules: rulebook.decisionRules,
      views: approvalViews,
      onError,
    }),
  );
  const { leaseMs, renewEveryMs } = clocks;
  opened.use(openLease({ storage, onLapsed: approvals.holdAgain, onError, leaseMs, renewEveryMs }));
  opened.use(
    createRetention({
      storage,
      now,
      days: config.retentionDays,
      builtinDays: config.builtinRetentionDays,
      maxBytes: config.maxHistoryMb * MEGABYTE,
      onError,
    }),
  );
  const tokens = createTokens({ storage, operatorToken, now, onError });
  const childUrl = () => localUrl(config.host, port);
  const claude = createClaudeCli(config);
  const workspace = createWorkspace({
    roots: config.workspace,
    startedIn: process.cwd(),
    dataDir: config.dataDir,
    homes: homesOf(config.home),
    claudeDir: config.environment["CLAUDE_CONFIG_DIR"] || join(config.home, ".claude"),
  });
  const mcpServerPolicy = createMcpServerPolicy(config.mcpServers);
  // Nothing after this may fail: disposing it would stop the children that an earlier server left running.
  const turns = opened.use(
    await openTurns({
      storage,
      broadcast,
      tokens,
      outputStored,
      abandon: approvals.abandon,
      now,
      onError,
      onSealBroken: ({ id, sessionId, turnId, toolName }) =>
        log.error("a call ran although Plexus had not allowed it: the seal of its child is broken", {
          unasked_call_id: id,
          session_id: sessionId,
          turn_id: turnId,
          tool: toolName,
        }),
      dataDir: config.dataDir,
      workspace,
      mcpServerPolicy,
      maxRunning: config.maxRunning,
      claude: claude.require,
      environmentOf: (sessionId) => demos?.environmentOf(sessionId) ?? config.environment,
      cgroups: ownCgroup(),
      umask: config.umask,
      childUrl,
      program: config.program,
    }),
  );
  const eventFeed = createEventFeed({ storage, broadcast, now, onError });
  opened.use(
    openSafetyNet({
      everyMs: clocks.rereadEveryMs ?? REREAD_EVERY_MS,
      rereads: [
        async () => relay.catchUp(),
        createWaiterReread(storage, broadcast),
        approvals.reread,
        rulebook.reread,
        // The walk may take long, so the other rereads do not wait for it.
        async () => void outliner.catchUp(),
        tokens.reread,
        turns.reread,
        async () => eventFeed.reread(),
      ],
      onError,
    }),
  );
  const polls = createPolls({ storage, broadcast });
  const sessionCommands = createSessionCommands({
    storage,
    abandon: approvals.abandon,
    sessions,
    turns,
    polls,
    workspace,
    mcpServerPolicy,
    rules: rulebook.rules,
    isBounded: rulebook.decisionRules.isBounded,
    broadcast,
    onError,
    privatePaths: hidden,
    timeoutSecs: config.approvalTimeoutSecs,
  });
  demos = opened.use(
    createDemos({
      sessionCommands,
      broadcast,
      claude: claude.require,
      environment: config.environment,
      roots: config.workspace,
      keptMs: clocks.demoKeptMs,
      onError,
    }),
  );
  const owned = opened.move();
  return {
    config,
    log,
    approvals,
    approvalViews,
    links: createLinks({
      storage,
      approvals,
      views: approvalViews,
      senders: sendersOf(config.webhook).map(({ id }) => id),
      counts: linkCounts,
      now,
    }),
    turns,
    polls,
    sessionStream: createSessionStream({ storage, broadcast }),
    promptOf,
    transcriptSearch: createTranscriptSearch({ storage, promptOf }),
    sessionViews: createSessionViews({ storage, polls, placeOf: turns.place }),
    sessionCommands,
    demos,
    conversations: createConversations({ storage }),
    sessions,
    tokens,
    signIn: createSignIn({ storage, tokens, now }),
    eventFeed,
    toldRequests: createToldRequests(),
    unaskedCalls: createUnaskedCalls({ storage }),
    auditCheck: createAuditCheck({ storage }),
    rules: rulebook.rules,
    ruleHistory: rulebook.history,
    mcpClients: createMcpClients({ storage, now }),
    metrics,
    webhooks,
    push,
    updates: createUpdates({ source: config.updateSource, now }),
    statistics: createStatistics({
      storage,
      now,
      rulesFile: rulebook.rules.fileStatus,
      failingWebhooks: webhooks.failing,
    }),
    retryMs,
    progressEveryMs: clocks.progressEveryMs ?? PROGRESS_EVERY_MS,
    nameOf: displayName,
    listensOn(actual) {
      port = actual;
      turns.open();
    },
    childUrl,
    claude: claude.look,
    async assertReady() {
      // Anybody can call this without a token, so it must not cost a commit each time.
      if (performance.now() - writableAt <= READY_FOR_MS) return;
      await storage.assertWritable();
      writableAt = performance.now();
    },
    [Symbol.asyncDispose]: () => owned.disposeAsync(),
  };
}

/**
 * Logs a mistake in the operator's file as an error: until it is fixed, calls that the file allowed are asked about.
 */
function reportRulesFile(log: Log, { path, ok, rules, problems }: RulesFileStatus): void {
  if (ok) log.info("read the rules of a file", { path, rules });
  else
    log.error("the file of rules has a mistake: nothing that it allows is allowed until it is mended", {
      path,
      problems,
    });
}
