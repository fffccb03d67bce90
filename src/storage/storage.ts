import type { McpClientStorage, SignInCodeStorage, TokenStorage } from "./access.ts";
import type { ActivityStorage } from "./activity.ts";
import type { ApprovalStorage } from "./approvals.ts";
import type { AuditStorage } from "./audit.ts";
import type { ChangeStorage, WebhookStorage } from "./changes.ts";
import type { FigureStorage, HistoryStorage } from "./history.ts";
import type { LinkStorage } from "./links.ts";
import type { ReaderStorage } from "./readers.ts";
import type { RuleStorage } from "./rules.ts";
import type { ServerStorage } from "./servers.ts";
import type { ConversationStorage, SessionStorage } from "./sessions.ts";
import type { TurnStorage } from "./turns.ts";
import type { UnaskedCallStorage } from "./unasked-calls.ts";

/**
 * What any engine does for the core: named reads, and named commands. A command is one transaction with its events,
 * changes and audit entries inside, or, where it takes a list of any length, one for each batch of it. It resolves once
 * that is on disk, and returns what happened, since somebody else may have been first: another caller, or another server
 * on the same database. Whoever opened the engine is told of each change that was made through it, in order, after its
 * commit and before the command resolves; the changes of other servers are read from `changes`. Times are Unix
 * milliseconds, and come from the caller; a failure of the engine is an `AppError`.
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
  readers: ReaderStorage;
  rules: RuleStorage;
  servers: ServerStorage;
  sessions: SessionStorage;
  signInCodes: SignInCodeStorage;
  tokens: TokenStorage;
  turns: TurnStorage;
  unaskedCalls: UnaskedCallStorage;
  webhooks: WebhookStorage;
  /** A new id, later in order than `after` and every one that was made here or found when the engine was opened. */
  newId(after?: string): string;
  /** Fails unless the database takes a write right now. */
  assertWritable(): Promise<void>;
};
