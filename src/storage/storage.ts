import type { McpClientStorage, SignInCodeStorage, TokenStorage } from "./access.ts";
import type { ApprovalStorage } from "./approvals.ts";
import type { AuditStorage } from "./audit.ts";
import type { ChangeStorage, WebhookStorage } from "./changes.ts";
import type { FigureStorage, HistoryStorage } from "./history.ts";
import type { ConversationStorage, SessionStorage } from "./sessions.ts";
import type { TurnStorage } from "./turns.ts";
import type { UnaskedCallStorage } from "./unasked-calls.ts";

/**
 * What any engine does for the core: named reads, and named commands. A command is one transaction with its events,
 * changes and audit entries inside; it resolves once that is on disk, and tells what happened, since somebody else may
 * have been first. Times are Unix milliseconds, and come from the caller; a failure of the engine is an `AppError`.
 */
export type Storage = Disposable & {
  approvals: ApprovalStorage;
  audit: AuditStorage;
  changes: ChangeStorage;
  conversations: ConversationStorage;
  figures: FigureStorage;
  history: HistoryStorage;
  mcpClients: McpClientStorage;
  sessions: SessionStorage;
  signInCodes: SignInCodeStorage;
  tokens: TokenStorage;
  turns: TurnStorage;
  unaskedCalls: UnaskedCallStorage;
  webhooks: WebhookStorage;
  /** A new id, later in order than every one before it. */
  newId(): string;
  /** Fails unless the database takes a write right now. */
  assertWritable(): Promise<void>;
};
