import { findClaude } from "./claude/find.ts";
import { type Config, localUrl } from "./config.ts";
import { type Approvals, createApprovals } from "./domain/approvals.ts";
import { createBroadcast } from "./domain/broadcast.ts";
import { type Conversations, createConversations } from "./domain/conversations.ts";
import { createMcpClients, type McpClients } from "./domain/mcp-clients.ts";
import { createRetention } from "./domain/retention.ts";
import { createSessions, type Sessions } from "./domain/sessions.ts";
import { createTokens, type Tokens } from "./domain/tokens.ts";
import { createTurnReading, type TurnReading } from "./domain/turn-events.ts";
import { createTurns, type Turns } from "./domain/turns.ts";
import { createWatching, type Watching } from "./domain/watching.ts";
import { createWorkspace, type Workspace } from "./domain/workspace.ts";
import { errorFields, type Log } from "./log.ts";
import { ensureOperatorToken } from "./operator-token.ts";
import { AppError } from "./schema/errors.ts";
import { openStorage } from "./storage/database.ts";

export { SlowReader } from "./domain/broadcast.ts";
export { headOf } from "./domain/conversations.ts";
export type { Principal } from "./domain/principals.ts";
export type { Session } from "./domain/sessions.ts";

/** A child whose connection broke comes back after this long; one that stays away for 5 s more is gone. */
const RETRY_MS = 10_000;
/** For how long a database that took a write counts as writable. */
const READY_FOR_MS = 1_000;

export type App = AsyncDisposable & {
  config: Config;
  log: Log;
  approvals: Approvals;
  sessions: Sessions;
  tokens: Tokens;
  watching: Watching;
  mcpClients: McpClients;
  turns: Turns;
  turnReading: TurnReading;
  conversations: Conversations;
  workspace: Workspace;
  retryMs: number;
  /** The port that is listened on, told once it is known. */
  listensOn(port: number): void;
  /** Where a process on this machine reaches us, whatever name others use. */
  childUrl(): string;
  /** What is needed to serve; throws when the database takes no writes. */
  readiness(): { claude: string | undefined };
};

export type Clocks = { now?: () => number; retryMs?: number; abandonAfterMs?: number; rereadEveryMs?: number };

/** Opens storage, wires the domain on top, and takes both down in reverse order. */
export function openApp(config: Config, log: Log, clocks: Clocks = {}): App {
  const now = clocks.now ?? Date.now;
  const retryMs = clocks.retryMs ?? RETRY_MS;
  const onError = (cause: unknown) => log.error("background work failed", errorFields(cause));
  let port = config.port;
  let writableAt = Number.NEGATIVE_INFINITY;
  const broadcast = createBroadcast(onError);
  const storage = openStorage(config.dataDir, broadcast.publish);
  const stack = new AsyncDisposableStack();
  stack.use(storage);
  try {
    const operatorToken = config.token ?? ensureOperatorToken(config.dataDir);
    const approvals = stack.use(
      createApprovals({
        storage,
        broadcast,
        now,
        timeoutSecs: config.approvalTimeoutSecs,
        abandonAfterMs: clocks.abandonAfterMs ?? retryMs + 5_000,
        rereadEveryMs: clocks.rereadEveryMs ?? 5_000,
        onError,
      }),
    );
    stack.use(createRetention({ storage, now, days: config.retentionDays, onError }));
    const tokens = createTokens({ storage, operatorToken, now });
    const childUrl = () => localUrl(config.host, port);
    const turns = stack.use(
      createTurns({
        storage,
        broadcast,
        tokens,
        abandon: approvals.abandon,
        now,
        onError,
        dataDir: config.dataDir,
        maxRunning: config.maxRunning,
        claude: () => requireClaude(config),
        environment: config.environment,
        childUrl,
      }),
    );
    return {
      config,
      log,
      approvals,
      turns,
      turnReading: createTurnReading({ storage, broadcast }),
      conversations: createConversations({ storage }),
      workspace: createWorkspace({ roots: config.workspace, startedIn: process.cwd() }),
      sessions: createSessions({ storage, now }),
      tokens,
      watching: createWatching({ storage, broadcast }),
      mcpClients: createMcpClients({ storage, now }),
      retryMs,
      listensOn(actual) {
        port = actual;
      },
      childUrl,
      readiness() {
        // Asked without a token, so it must not cost a commit each time.
        if (performance.now() - writableAt > READY_FOR_MS) {
          storage.assertWritable();
          writableAt = performance.now();
        }
        return { claude: findClaude(config) };
      },
      [Symbol.asyncDispose]: () => stack.disposeAsync(),
    };
  } catch (cause) {
    storage[Symbol.dispose]();
    throw cause;
  }
}

function requireClaude(config: Config): string {
  const claude = findClaude(config);
  if (claude) return claude;
  const where = config.claude
    ? `${config.claude} is not an executable file`
    : "claude was not found on PATH or in the usual places";
  throw new AppError("claude_unavailable", `${where}: install Claude Code, or start Plexus with --claude.`);
}
