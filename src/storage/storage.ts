import type { McpClientStorage, SignInCodeStorage, TokenStorage } from "./access.ts";
import type { ActivityStorage } from "./activity.ts";
import type { ApprovalStorage } from "./approvals.ts";
import type { AuditStorage } from "./audit.ts";
import type { ChangeStorage, WebhookStorage } from "./changes.ts";
import type { FigureStorage, HistoryStorage } from "./history.ts";
import type { LinkStorage } from "./links.ts";
import type { PastStorage } from "./past.ts";
import type { PushStorage } from "./push.ts";
import type { ReaderStorage } from "./readers.ts";
import type { RuleStorage } from "./rules.ts";
import type { ServerStorage } from "./servers.ts";
import type { ConversationStorage, SessionStorage } from "./sessions.ts";
import type { TurnStorage } from "./turns.ts";
import type { UnaskedCallStorage } from "./unasked-calls.ts";

/**
 * The storage engine as the core sees it: named reads and named commands. A command is one transaction with its events,
 * changes and audit entries inside; a command that takes a list of any length uses one transaction per batch. It
 * resolves once it is on disk, and its result says what happened, because another caller or another server on the same
 * database may have been first. The engine passes every change made through it to whoever opened it, in order, after
 * the commit and before the command resolves; changes by other servers are read from `changes`. Times are Unix
 * milliseconds and come from the caller. A failure of the engine is an `AppError`.
 */
export type Storage = Disposable & {
  activity: ActivityStorage;
  approvals: ApprovalStorage;
  audit: AuditStorage;
  changes: ChangeStorage;
  conversations: ConversationStorage;
  figures: FigureStorage;
  history: HistoryStorage;
  links: LinkStorage;
  mcpClients: McpClientStorage;
  past: PastStorage;
  push: PushStorage;
  readers: ReaderStorage;
  rules: RuleStorage;
  servers: ServerStorage;
  sessions: SessionStorage;
  signInCodes: SignInCodeStorage;
  tokens: TokenStorage;
  turns: TurnStorage;
  unaskedCalls: UnaskedCallStorage;
  webhooks: WebhookStorage;
  /**
   * Returns a new id, greater than `after`, than every id made here, and than those found when the engine was opened.
   */
  newId(after?: string): string;
  /** Fails unless the database accepts a write right now. */
  assertWritable(): Promise<void>;
};
