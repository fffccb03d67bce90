import type { TurnEvent, Usage } from "../contract/sessions/turn.ts";
import type { JsonObject } from "../contract/values.ts";
import type { ApprovalPage } from "./approvals.ts";
import type { SessionRow } from "./sessions.ts";
import type { UnaskedCallRow } from "./unasked-calls.ts";

/**
 * One turn: a prompt and everything that follows. Two long columns are left out: the prompt while it is queued, and the
 * checkpoint while it runs.
 */
export type TurnRow = {
  id: string;
  sessionId: string;
  owner: string;
  status: "queued" | "running" | "complete" | "failed" | "cancelled";
  ephemeral: boolean;
  /** Runs beyond `--max-running`: it takes no slot, and its end frees none. */
  isBorrowed: boolean;
  /** The number of its events, which is also the number of the next event. */
  eventCount: number;
  /** The total size of its events' JSON. */
  eventBytes: number;
  dataDirId: string | null;
  pid: number | null;
  processStart: string | null;
  usage: Usage | null;
  /** Started by a version of Plexus that ties every result to the decision on its call. */
  isAccounted: boolean;
  /** How many of its calls ran that Plexus had not allowed. */
  unasked: number;
  /** How many of its requests ended in each way; `builtin` counts those decided by built-in rules. */
  allowed: number;
  denied: number;
  timedOut: number;
  abandoned: number;
  builtin: number;
  /** When its child last produced output, made a request or got a decision. */
  spokeAt: number | null;
  error: string | null;
  /** For a queued turn, when it was queued. */
  startedAt: number;
  endedAt: number | null;
};

export type NumberedTurnEvent = { seq: number; event: TurnEvent };
/** `at` is when the event was stored; null for events of earlier versions. */
export type TimedTurnEvent = NumberedTurnEvent & { at: number | null };
/** An event's type and the child's own text, without other fields, which may be long. */
export type EventWords = { seq: number; type: TurnEvent["type"]; text: string | null; beginsAnew: boolean };
export type ToolUseEvent = Extract<TurnEvent, { type: "tool_use" }>;
/** A running turn, with its session and owner. */
export type RunningTurn = Pick<TurnRow, "id" | "owner" | "sessionId" | "isBorrowed">;
export type QueuedTurn = Pick<TurnRow, "id" | "owner">;
export type QueueSize = { count: number; bytes: number };
export type QueueLimits = { inAll: QueueSize; ofOne: QueueSize };

/** Everything that the choice of this data dir's next turn depends on. */
export type QueueState = {
  /** Changes whenever any part of the state changes. */
  version: string;
  running: RunningTurn[];
  /** In the order in which they were queued. */
  queued: QueuedTurn[];
  /** A number for each owner's last start; it grows with each start. */
  lastStarts: Map<string, number>;
};
/** Which turn starts next, if any, chosen from the state of this version. */
export type QueueChoice = { version: string; start: { id: string; isBorrowed: boolean } | undefined };

export type NewTurn = Pick<TurnRow, "id" | "sessionId" | "ephemeral" | "startedAt"> & {
  prompt: string;
  checkpoint: JsonObject;
};
export type Admission = {
  maxRunning: number;
  limits: QueueLimits;
  /** The named token that owns the session, if any; if it was revoked, the turn doesn't begin. */
  ownerToken: string | undefined;
  choice: QueueChoice | undefined;
};
/** A turn that was started or queued, its session at that moment, and its prompt. */
export type BegunTurn = { turn: TurnRow; session: SessionRow; prompt: string };
export type BeginTurn =
  | ({ outcome: "running" | "queued" } & BegunTurn)
  | { outcome: "no_session" | "owner_revoked" | "busy" | "queue_full" | "own_queue_full" }
  /** The session has a turn with a later id, created by a server whose clock is ahead. */
  | { outcome: "outdated_id"; latest: string }
  /** Other turns are running or queued, and the caller gave no choice, or chose from an older state. */
  | { outcome: "choose"; queue: QueueState };
type BeginQueuedTurn =
  | ({ outcome: "running" } & BegunTurn)
  /** `moved`: the turn is no longer queued, or the state has changed since the choice. */
  | { outcome: "moved" | "no_session" }
  /** The owner's token was revoked, so the turn was cancelled. */
  | { outcome: "owner_revoked" };

/** A call's result as the child's output shows it, before it is tied to an approval. */
export type OutputResult = Omit<Extract<TurnEvent, { type: "tool_result" }>, "approval_id" | "unasked"> & {
  /** The approval, if the call failed because another request about the same call got its answer. */
  askedAgain: string | undefined;
  /** The CLI refused the call by itself. */
  isRefused: boolean;
};
export type OutputEvent = Exclude<TurnEvent, { type: "tool_result" }> | OutputResult;
/**
 * What one read of a child's output yields. It is stored in one transaction, so it is neither lost nor recorded twice.
 */
export type Output = {
  events: OutputEvent[];
  blocks: { role: "user" | "assistant"; content: JsonObject }[];
  checkpoint: JsonObject;
  /** Whether this child needs an approval for every call; if so, a call without an allow is recorded as unasked. */
  mustAsk: boolean;
};

export type TurnEnd = {
  status: "complete" | "failed" | "cancelled";
  error: string | null;
  /** Counted by the CLI; the cost is that of the whole conversation. */
  counted:
    | {
        inputTokens: number;
        outputTokens: number;
        numTurns: number;
        totalCostUsd: number;
        /** The cost of the conversation before the turn, if the CLI reports it. */
        costBeforeUsd?: number | undefined;
      }
    | undefined;
  /** The CLI's id of the conversation, if a later turn can continue it. */
  claudeSessionId: string | undefined;
};
export type QueuedTurnEnd = { status: "failed" | "cancelled"; error: string };

export type ProgressQuery = {
  consumer: string;
  fromSeq: number | undefined;
  limit: number;
  /** The limit for events; the first event is read whatever its size. */
  maxBytes: number;
  maxPending: number;
};
/** A session's newest turn and its pending requests, as of one moment. */
export type SessionProgress = {
  turn: TurnRow | undefined;
  pending: ApprovalPage;
  /** The reader's position in that turn. */
  position: number;
  events: NumberedTurnEvent[];
};

/**
 * A turn belongs to the data dir of the server that filed it: its child is a process on that host, and its files are in
 * that data dir. Only that server starts the turn, reads its child and stops it.
 */
export type TurnStorage = {
  get(id: string): Promise<TurnRow | undefined>;
  running(sessionId: string): Promise<TurnRow | undefined>;
  latest(sessionId: string): Promise<TurnRow | undefined>;
  /** Returns the session's next turn after this one. */
  firstAfter(sessionId: string, turnId: string): Promise<TurnRow | undefined>;
  /** Lists the running turns of this data dir in start order. */
  listRunning(): Promise<TurnRow[]>;
  /** Returns the newest first, beginning after `cursor`. */
  list(
    scope: { owner?: string | undefined; sessionId?: string | undefined },
    limit: number,
    cursor?: string | undefined,
  ): Promise<TurnRow[]>;
  events(turnId: string, fromSeq: number, limit: number): Promise<TimedTurnEvent[]>;
  /** Returns as many events from `fromSeq` on as fit; the first one always fits. */
  eventPage(turnId: string, fromSeq: number, page: { limit: number; maxBytes: number }): Promise<TimedTurnEvent[]>;
  /** Returns as many events before `before` as fit, newest first; the first one always fits. */
  eventsBefore(turnId: string, before: number, page: { limit: number; maxBytes: number }): Promise<TimedTurnEvent[]>;
  /** Returns the last `limit` events before `seq`, newest first. */
  wordsBefore(turnId: string, seq: number, limit: number): Promise<EventWords[]>;
  /** Returns the events from `from` up to, but not including, `to`, in order, skipping those longer than `maxBytes`. */
  shortEvents(turnId: string, range: { from: number; to: number; maxBytes: number }): Promise<NumberedTurnEvent[]>;
  /** Searches the last events before `before` for calls with these ids, newest first; the search depth is bounded. */
  toolUsesBefore(turnId: string, toolUseIds: string[], before: number): Promise<NumberedTurnEvent[]>;
  /** Returns the newest call with this id. */
  toolUse(turnId: string, toolUseId: string): Promise<ToolUseEvent | undefined>;
  /** Returns the position in the child's output up to which it is stored, and the parser's state there. */
  checkpoint(id: string): Promise<JsonObject | undefined>;
  position(turnId: string, consumer: string): Promise<number>;
  /** Without `fromSeq`, events begin at the reader's position. */
  progress(sessionId: string, query: ProgressQuery): Promise<SessionProgress>;
  /** Returns the prompt of a turn that is queued. */
  queuedPrompt(id: string): Promise<string | undefined>;
  queueState(): Promise<QueueState>;

  /**
   * Files a turn in a session that has none. It runs at once if nothing is queued and a slot is free, or if the caller
   * chose it from the present state; otherwise it is queued.
   */
  begin(turn: NewTurn, admission: Admission): Promise<BeginTurn>;
  /** Starts a queued turn that the caller chose from the present state. */
  beginQueued(
    chosen: { id: string; isBorrowed: boolean; version: string },
    ownerToken: string | undefined,
    now: number,
  ): Promise<BeginQueuedTurn>;
  /** Ends a queued turn, which never had a child; `false` if it is not queued. */
  endIfQueued(id: string, end: QueuedTurnEnd, now: number): Promise<boolean>;
  /** Ends all queued turns of this data dir, including those whose writes are waiting for a commit right now. */
  endEveryQueued(end: QueuedTurnEnd, now: number): Promise<void>;
  /** Asks the server of another data dir to stop this turn; `false` if the turn isn't running, or runs here. */
  stopElsewhere(id: string, reason: string): Promise<boolean>;
  /** Returns this data dir's running turns that another server was asked to cancel. */
  stopsAskedFor(): Promise<{ id: string; reason: string }[]>;
  setProcess(id: string, process: { pid: number; processStart: string }): Promise<void>;
  /**
   * Commits the events, the conversation, the account of calls and the checkpoint together; does nothing once the turn
   * has ended. Returns the calls that ran although Plexus had not allowed them.
   */
  appendIfRunning(turn: TurnRow, output: Output, now: number): Promise<UnaskedCallRow[]>;
  /**
   * Ends the turn: appends its last event, sets its status, updates the conversation, deletes its token, and abandons
   * what its child still asks.
   */
  endIfRunning(turn: TurnRow, end: TurnEnd, now: number): Promise<void>;
  /** Advances a reader's position, which never moves back. */
  advance(turnId: string, consumer: string, position: number): Promise<void>;
};
