import { findClaude } from "./claude/find.ts";
import { type Config, localUrl } from "./config.ts";
import { type Approvals, createApprovals } from "./domain/approvals.ts";
import { createBroadcast } from "./domain/broadcast.ts";
import { createMcpClients, type McpClients } from "./domain/mcp-clients.ts";
import { createRetention } from "./domain/retention.ts";
import { createSessions, type Sessions } from "./domain/sessions.ts";
import { createTokens, type Tokens } from "./domain/tokens.ts";
import { createWatching, type Watching } from "./domain/watching.ts";
import { errorFields, type Log } from "./log.ts";
import { ensureOperatorToken } from "./operator-token.ts";
import { openStorage } from "./storage/database.ts";

export { SlowReader } from "./domain/broadcast.ts";
export type { Principal } from "./domain/principals.ts";
export type { Session } from "./domain/sessions.ts";

/** A child whose connection broke comes back after this long; one that stays away for 5 s more is gone. */
const RETRY_MS = 10_000;

export type App = AsyncDisposable & {
  config: Config;
  log: Log;
  approvals: Approvals;
  sessions: Sessions;
  tokens: Tokens;
  watching: Watching;
  mcpClients: McpClients;
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
  const broadcast = createBroadcast();
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
    return {
      config,
      log,
      approvals,
      sessions: createSessions({ storage, now }),
      tokens: createTokens({ storage, operatorToken, now }),
      watching: createWatching({ storage, broadcast }),
      mcpClients: createMcpClients({ storage, now }),
      retryMs,
      listensOn(actual) {
        port = actual;
      },
      childUrl: () => localUrl(config.host, port),
      readiness() {
        storage.assertWritable();
        return { claude: findClaude(config) };
      },
      [Symbol.asyncDispose]: () => stack.disposeAsync(),
    };
  } catch (cause) {
    storage[Symbol.dispose]();
    throw cause;
  }
}
