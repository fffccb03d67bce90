import { Database } from "bun:sqlite";
import { join } from "node:path";
import { PermitInput } from "../../src/contract/approvals/approval.ts";
import { Decision } from "../../src/contract/approvals/decision.ts";
import type { JsonObject } from "../../src/contract/values.ts";
import type { Principal } from "../../src/core/access/principals.ts";
import { type Approvals, openApprovals } from "../../src/core/approvals/approvals.ts";
import type { WaitingRequest } from "../../src/core/approvals/request.ts";
import { type AuditCheck, createAuditCheck } from "../../src/core/audit/check.ts";
import { type Broadcast, createBroadcast } from "../../src/core/events/broadcast.ts";
import { createEventFeed, type EventFeed } from "../../src/core/events/feed.ts";
import { openRulebook, type Rulebook } from "../../src/core/rulebook/open-rulebook.ts";
import { createWaiterReread, openSafetyNet } from "../../src/core/servers/safety-net.ts";
import { createSessions, type Session, type Sessions } from "../../src/core/sessions/sessions.ts";
import { createRetention } from "../../src/core/upkeep/retention.ts";
import { openStorage } from "../../src/storage/sqlite/database.ts";
import type { Storage } from "../../src/storage/storage.ts";
import { builtinOutcome, newToken } from "../storage/rows.ts";
import { type Direct, openDirect } from "../storage/sqlite/support/direct.ts";
import { temporaryDataDir } from "../support/temporary-data-dir.ts";

export const OPERATOR: Principal = { kind: "operator" };
/** Longer than any test runs. */
export const NEVER_MS = 3_600_000;

export type Clock = { now: () => number; advance(ms: number): void };

/** A clock that only moves with `advance`. */
export function stoppedClock(start = 1_700_000_000_000): Clock {
  let at = start;
  return {
    now: () => at,
    advance(ms) {
      at += ms;
    },
  };
}

export type CoreOptions = {
  /** The named tokens to create. */
  tokens?: Principal[];
  clock?: Pick<Clock, "now">;
  /** The monotonic clock; by default the same as `clock`. */
  elapsed?: () => number;
  timeoutSecs?: number;
  abandonAfterMs?: number;
  rereadEveryMs?: number;
  retentionDays?: number;
  builtinRetentionDays?: number;
  /** Returns the name of the built-in rule that allows a call. */
  builtinRule?: (session: Session, asked: PermitInput) => string | undefined;
  maxHistoryBytes?: number;
  rulesFile?: string;
};

export type Core = Disposable & {
  storage: Storage;
  broadcast: Broadcast;
  approvals: Approvals;
  sessions: Sessions;
  rules: Rulebook["rules"];
  ruleHistory: Rulebook["history"];
  eventFeed: EventFeed;
  auditCheck: AuditCheck;
  retention: ReturnType<typeof createRetention>;
  /** Errors of background work. */
  errors: unknown[];
  /** Returns the operator's session of this name; creates it if there is none. */
  session(name?: string): Promise<Session>;
  ask(session: Session, given?: AskGiven): Promise<WaitingRequest>;
};

export type AskGiven = { tool?: string; input?: JsonObject; toolUseId?: string | undefined };

/** Opens the core on this data dir, wired like the app. Background work runs only if a test sets its interval. */
export async function openCore(dataDir: string, options: CoreOptions = {}): Promise<Core> {
  const now = options.clock?.now ?? stoppedClock().now;
  const errors: unknown[] = [];
  const onError = (cause: unknown) => void errors.push(cause);
  const broadcast = createBroadcast(onError);
  using opened = new DisposableStack();
  const storage = opened.use(openStorage(dataDir, broadcast.publish, now));
  const sessions = createSessions({ storage, now });
  const rulebook = openRulebook({
    storage,
    sessions,
    now,
    rulesFile: options.rulesFile,
    startedIn: dataDir,
    privatePaths: [],
    home: dataDir,
    path: "",
    onError,
    onFileRead: () => {},
  });
  const judge: typeof rulebook.judge = async (session, asked) => {
    const rule = options.builtinRule?.(session, asked);
    const judgement = await rulebook.judge(session, asked);
    return rule === undefined ? judgement : { ...judgement, outcome: builtinOutcome(rule) };
  };
  for (const token of options.tokens ?? []) {
    if (token.kind === "token") await storage.tokens.createIfNameFree(newToken({ id: token.id, name: token.name }));
  }
  const approvals = opened.use(
    await openApprovals({
      storage,
      broadcast,
      now,
      elapsed: options.elapsed ?? now,
      timeoutSecs: options.timeoutSecs ?? 300,
      abandonAfterMs: options.abandonAfterMs ?? NEVER_MS,
      outputStored: async () => {},
      onBuiltin: () => {},
      judge,
      onStale: rulebook.onStale,
      decisionRules: rulebook.decisionRules,
      views: { dangersOfEdit: async () => [] },
      onError,
    }),
  );
  const rereads = [createWaiterReread(storage, broadcast), approvals.reread];
  const net = openSafetyNet({ everyMs: options.rereadEveryMs ?? NEVER_MS, rereads, onError });
  opened.defer(() => void net[Symbol.asyncDispose]());
  const retention = opened.use(
    createRetention({
      storage,
      now,
      days: options.retentionDays ?? 30,
      builtinDays: options.builtinRetentionDays ?? 7,
      maxBytes: options.maxHistoryBytes ?? Number.MAX_SAFE_INTEGER,
      onError,
    }),
  );
  const owned = opened.move();
  return {
    storage,
    broadcast,
    approvals,
    sessions,
    rules: rulebook.rules,
    ruleHistory: rulebook.history,
    eventFeed: createEventFeed({ storage, broadcast, now, onError }),
    auditCheck: createAuditCheck({ storage }),
    retention,
    errors,
    session: (name = "child") => sessions.openByHand(OPERATOR, name),
    ask: (session, { tool = "Bash", input = { command: "true" }, toolUseId } = {}) =>
      approvals.request(session, PermitInput.parse({ tool_name: tool, input, tool_use_id: toolUseId })),
    [Symbol.dispose]: () => owned.dispose(),
  };
}

export type TemporaryCore = Omit<Core, typeof Symbol.dispose> &
  AsyncDisposable & {
    dataDir: string;
    /** Direct access to the database: writes rows that no command would write, and reads rows as they are stored. */
    direct: Direct;
  };

/** A core on a temporary data dir, removed on dispose. */
export async function temporaryCore(options: CoreOptions = {}): Promise<TemporaryCore> {
  await using stack = new AsyncDisposableStack();
  const directory = stack.use(await temporaryDataDir());
  const core = stack.use(await openCore(directory.path, options));
  const direct = stack.use(openDirect(directory.path));
  const owned = stack.move();
  return { ...core, direct, dataDir: directory.path, [Symbol.asyncDispose]: () => owned.disposeAsync() };
}

/** Decisions as the transports parse them. */
export const allow = Decision.parse({ approve: true });
export const deny = (message?: string) => Decision.parse({ approve: false, message });
export const edit = (updated_input: JsonObject) => Decision.parse({ approve: true, updated_input });

/** Makes every update of an approval fail, as on a full disk, until disposed. */
export function blockUpdates(dataDir: string): Disposable {
  const sqlite = new Database(join(dataDir, "plexus.db"));
  sqlite.run("CREATE TRIGGER broken BEFORE UPDATE ON loopback_approvals BEGIN SELECT RAISE(ABORT, 'broken'); END");
  return {
    [Symbol.dispose]() {
      sqlite.run("DROP TRIGGER broken");
      sqlite.close(true);
    },
  };
}
