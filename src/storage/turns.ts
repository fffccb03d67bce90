import type { TurnEvent, Usage } from "../contract/sessions/turn.ts";
import type { JsonObject } from "../contract/values.ts";
import type { ApprovalPage } from "./approvals.ts";
import type { SessionRow } from "./sessions.ts";
import type { UnaskedCallRow } from "./unasked-calls.ts";

/** One prompt and all that follows, without what is long: its prompt while it is queued, and its checkpoint while it runs. */
export type TurnRow = {
  id: string;
  sessionId: string;
  owner: string;
  status: "queued" | "running" | "complete" | "failed" | "cancelled";
  ephemeral: boolean;
  /** Runs beyond `--max-running`: it takes no slot, and its end frees none. */
  isBorrowed: boolean;
  /** How many events it has: the number of the next one. */
  eventCount: number;
  /** How long the JSON of all its events is. */
  eventBytes: number;
  dataDirId: string | null;
  pid: number | null;
  processStart: string | null;
  usage: Usage | null;
  /** Started by a version that ties every result to the decision on its call. */
  isAccounted: boolean;
  /** How many of its calls ran although Plexus had not allowed them. */
  unasked: number;
  /** How many of its requests ended in each way; those that a built-in rule decided count apart. */
  allowed: number;
  denied: number;
  timedOut: number;
  abandoned: number;
  builtin: number;
  /** When its child last said something, or asked. */
  spokeAt: number | null;
  error: string | null;
  /** Of a queued turn, when it was filed. */
  startedAt: number;
  endedAt: number | null;
};

export type NumberedTurnEvent = { seq: number; event: TurnEvent };
/** What an event was, without all that can be long but the child's own words. */
export type EventWords = { seq: number; type: TurnEvent["type"]; text: string | null; beginsAnew: boolean };
export type ToolUseEvent = Extract<TurnEvent, { type: "tool_use" }>;
/** A turn that runs, and the session and owner that it runs for. */
export type RunningTurn = Pick<TurnRow, "id" | "owner" | "sessionId" | "isBorrowed">;
export type QueuedTurn = Pick<TurnRow, "id" | "owner">;
export type QueueSize = { count: number; bytes: number };
export type QueueLimits = { inAll: QueueSize; ofOne: QueueSize };

/** What a choice of the next turn of this data dir depends on. */
export type QueueState = {
  /** Another one once anything of this has changed. */
  version: string;
  running: RunningTurn[];
  /** In the order in which they were filed. */
  queued: QueuedTurn[];
  /** When each owner last got a turn started, as a number that grows with each start. */
  lastStarts: Map<string, number>;
};
/** Which turn starts next, if any does, by the state of this version. */
export type QueueChoice = { version: string; start: { id: string; isBorrowed: boolean } | undefined };

export type NewTurn = Pick<TurnRow, "id" | "sessionId" | "ephemeral" | "startedAt"> & {
  prompt: string;
  checkpoint: JsonObject;
};
export type Admission = {
  maxRunning: number;
  limits: QueueLimits;
  /** The named token that owns the session, if one does: it must not be revoked. */
  ownerToken: string | undefined;
  choice: QueueChoice | undefined;
};
/** A turn that was filed, the session as it stood then, and what the child is to do. */
export type BegunTurn = { turn: TurnRow; session: SessionRow; prompt: string };
export type BeginTurn =
  | ({ outcome: "running" | "queued" } & BegunTurn)
  | { outcome: "no_session" | "owner_revoked" | "busy" | "queue_full" | "own_queue_full" }
  /** The session has a turn of a later id, made by a server whose clock is ahead. */
  | { outcome: "outdated_id"; latest: string }
  /** Others run or wait, and no choice was given, or this turn was chosen by another state than the present one. */
  | { outcome: "choose"; queue: QueueState };
type BeginQueuedTurn =
  | ({ outcome: "running" } & BegunTurn)
  /** It is no longer queued, or the state that it was chosen by has changed. */
  | { outcome: "moved" | "no_session" }
  /** Its owner was revoked, so it was cancelled. */
  | { outcome: "owner_revoked" };

/** What the child itself can tell of a call's result, and what its words mean. */
export type OutputResult = Omit<Extract<TurnEvent, { type: "tool_result" }>, "approval_id" | "unasked"> & {
  /** The approval whose answer somebody else got, where the call failed with that refusal. */
  askedAgain: string | undefined;
  /** The CLI refused the call by itself. */
  isRefused: boolean;
};
export type OutputEvent = Exclude<TurnEvent, { type: "tool_result" }> | OutputResult;
/** What was read of a child's output in one go: stored together, it is neither lost nor told twice. */
export type Output = {
  events: OutputEvent[];
  blocks: { role: "user" | "assistant"; content: JsonObject }[];
  checkpoint: JsonObject;
  /** Whether every call of this child is asked about: then one that ran without an allow is noted. */
  mustAsk: boolean;
};

export type TurnEnd = {
  status: "complete" | "failed" | "cancelled";
  error: string | null;
  /** What the CLI has counted; the cost is that of the whole conversation. */
  counted:
    | {
        inputTokens: number;
        outputTokens: number;
        numTurns: number;
        totalCostUsd: number;
        /** What the conversation had cost before the turn, where the CLI tells it. */
        costBeforeUsd?: number | undefined;
      }
    | undefined;
  /** The CLI's id of the conversation, where a later turn can go on with it. */
  claudeSessionId: string | undefined;
};
export type QueuedTurnEnd = { status: "failed" | "cancelled"; error: string };

export type ProgressQuery = {
  consumer: string;
  fromSeq: number | undefined;
  limit: number;
  /** Of events; the first one is read whatever its size. */
  maxBytes: number;
  maxPending: number;
};
/** A session's newest turn and what waits in the session, as of one moment. */
export type SessionProgress = {
  turn: TurnRow | undefined;
  pending: ApprovalPage;
  /** How far the reader has come in that turn. */
  position: number;
  events: NumberedTurnEvent[];
};

/**
 * A turn belongs to the data dir of the server that filed it: its child is a process of that host, and its files are
 * there. Only that server starts it, reads its child and stops it.
 */
export type TurnStorage = {
  get(id: string): Promise<TurnRow | undefined>;
  running(sessionId: string): Promise<TurnRow | undefined>;
  latest(sessionId: string): Promise<TurnRow | undefined>;
  /** The first turn of a session that came after this one. */
  firstAfter(sessionId: string, turnId: string): Promise<TurnRow | undefined>;
  /** Those of this data dir, in the order of their beginning. */
  listRunning(): Promise<TurnRow[]>;
  /** Newest first, beginning after `cursor`. */
  list(
    scope: { owner?: string | undefined; sessionId?: string | undefined },
    limit: number,
    cursor?: string | undefined,
  ): Promise<TurnRow[]>;
  events(turnId: string, fromSeq: number, limit: number): Promise<NumberedTurnEvent[]>;
  /** As many from `fromSeq` on as fit; the first one always does. */
  eventPage(turnId: string, fromSeq: number, page: { limit: number; maxBytes: number }): Promise<NumberedTurnEvent[]>;
  /** The last `limit` events before `seq`, newest first. */
  wordsBefore(turnId: string, seq: number, limit: number): Promise<EventWords[]>;
  /** Those from `from` on and before `to`, in order, without those that are longer than `maxBytes`. */
  shortEvents(turnId: string, range: { from: number; to: number; maxBytes: number }): Promise<NumberedTurnEvent[]>;
  /** Calls of these ids among the last events before `before`, newest first; what lies further back is not looked for. */
  toolUsesBefore(turnId: string, toolUseIds: string[], before: number): Promise<NumberedTurnEvent[]>;
  /** The newest call of this id. */
  toolUse(turnId: string, toolUseId: string): Promise<ToolUseEvent | undefined>;
  /** How far the child's output is in the events, and what reading on from there takes. */
  checkpoint(id: string): Promise<JsonObject | undefined>;
  position(turnId: string, consumer: string): Promise<number>;
  /** Without `fromSeq`, from where this reader stands. */
  progress(sessionId: string, query: ProgressQuery): Promise<SessionProgress>;
  queueState(): Promise<QueueState>;

  /**
   * Files a turn, in a session that has none: it runs at once when nothing is queued and a slot is free, or when it was
   * chosen by the state as it still is; else it is queued.
   */
  begin(turn: NewTurn, admission: Admission): Promise<BeginTurn>;
  /** Starts a queued turn that was chosen by the state as it still is. */
  beginQueued(
    chosen: { id: string; isBorrowed: boolean; version: string },
    ownerToken: string | undefined,
    now: number,
  ): Promise<BeginQueuedTurn>;
  /** Ends a turn that no child was ever started for; `false` when it is not queued. */
  endIfQueued(id: string, end: QueuedTurnEnd, now: number): Promise<boolean>;
  /** Ends all that is queued in this data dir, behind all that is being filed right now. */
  endEveryQueued(end: QueuedTurnEnd, now: number): Promise<void>;
  /** Asks the server of another data dir to stop this turn; `false` when the turn does not run, or runs here. */
  stopElsewhere(id: string, reason: string): Promise<boolean>;
  /** The running turns of this data dir whose cancellation another server received. */
  stopsAskedFor(): Promise<{ id: string; reason: string }[]>;
  setProcess(id: string, process: { pid: number; processStart: string }): Promise<void>;
  /**
   * The events, the conversation, the account of calls and the checkpoint move on together; nothing does once the turn
   * is over. Returns the calls that ran although Plexus had not allowed them.
   */
  appendIfRunning(turn: TurnRow, output: Output, now: number): Promise<UnaskedCallRow[]>;
  /** The last event, the status, the conversation and the end of the turn's token; gives up what its child still asks. */
  endIfRunning(turn: TurnRow, end: TurnEnd, now: number): Promise<void>;
  /** Moves a reader on; a position only moves forward. */
  advance(turnId: string, consumer: string, position: number): Promise<void>;
};
