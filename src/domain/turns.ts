import { rmSync } from "node:fs";
import { join } from "node:path";
import { endChild } from "../claude/ending.ts";
import type { ConversationBlock, ResultFact } from "../claude/facts.ts";
import { launch } from "../claude/launch.ts";
import { plexusServer } from "../schema/approval.ts";
import { AppError } from "../schema/errors.ts";
import type { SessionConfig } from "../schema/session.ts";
import type { TurnEvent, Usage } from "../schema/turn.ts";
import type { Storage } from "../storage/database.ts";
import type { TurnEnd, TurnRow } from "../storage/turns.ts";
import type { Broadcast } from "./broadcast.ts";
import { type ChildEnd, followChild, GRACE_MS, type RunningChild } from "./child-output.ts";
import { type Head, headOf, say } from "./conversations.ts";
import { configOf, sessionSpec } from "./session-spec.ts";
import type { Session } from "./sessions.ts";
import type { Tokens } from "./tokens.ts";

export type Turns = ReturnType<typeof createTurns>;

type TurnsNeed = {
  storage: Storage;
  broadcast: Broadcast;
  tokens: Tokens;
  abandon: (approvalIds: string[], reason: string) => Promise<void>;
  now: () => number;
  onError: (cause: unknown) => void;
  dataDir: string;
  maxRunning: number;
  /** The CLI's path, or a refusal that says what to do. */
  claude: () => string;
  environment: Record<string, string | undefined>;
  childUrl: () => string;
};

type Running = RunningChild & { over: Promise<void>; cancelled: boolean };

/** Turns: one prompt to one child, its output stored as numbered events, and its end. */
export function createTurns(need: TurnsNeed) {
  const { storage, broadcast, now } = need;
  const running = new Map<string, Running>();

  /** Starts a turn and returns at once; a session has one at a time. */
  async function start(known: Session, prompt: string, ephemeral: boolean): Promise<TurnRow> {
    const config = configOf(known);
    const claude = need.claude();
    const { turn, session } = await storage.write(() => {
      // Read again here: a turn that has just ended may have moved the conversation on.
      const session = storage.sessions.get(known.id);
      if (!session) throw new AppError("not_found", `Session "${known.name}" was deleted.`);
      if (storage.turns.countRunning() >= need.maxRunning) throw limitReached(need.maxRunning);
      const created = storage.turns.createIfNoneRuns({
        id: Bun.randomUUIDv7(),
        sessionId: session.id,
        owner: session.owner,
        ephemeral,
        startedAt: now(),
      });
      if (!created)
        throw new AppError("turn_running", `Session "${session.name}" has a turn that runs: poll or cancel it first.`);
      const head = headOf(session);
      const asked =
        head && !ephemeral && say(storage, head, { role: "user", content: { type: "text", text: prompt } }, now());
      if (asked) storage.sessions.setHead(session.id, asked.node_id);
      storage.turns.appendIfRunning(created.id, [
        { type: "start", id: created.id, user_position: asked ? asked.node_id : null },
      ]);
      return { turn: created, session };
    });
    try {
      await run(turn, session, config, claude, prompt);
      return turn;
    } catch (cause) {
      const entry = running.get(turn.id);
      if (entry) await endChild(entry.child, { graceMs: GRACE_MS, dir: entry.dir });
      const error = cause instanceof Error ? cause.message : String(cause);
      await end(turn, session, { status: "failed", error, usage: null });
      throw cause;
    }
  }

  async function run(
    turn: TurnRow,
    session: Session,
    config: SessionConfig,
    claude: string,
    prompt: string,
  ): Promise<void> {
    const dir = dirOf(turn.id);
    const token = config.loopback_enabled ? await need.tokens.createForChild(session.id) : undefined;
    const child = launch({
      ...sessionSpec(session, config, turn.ephemeral),
      claude,
      dir,
      prompt,
      env: need.environment,
      dataDir: need.dataDir,
      loopback: token === undefined ? undefined : plexusServer(need.childUrl(), token),
    });
    const entry: Running = { child, dir, over: Promise.resolve(), cancelled: false };
    running.set(turn.id, entry);
    await storage.write(() => storage.turns.setProcess(turn.id, { pid: child.pid, processStart: child.startTime }));
    entry.over = follow(turn, session, entry).catch(need.onError);
  }

  /** Stores what the child writes as it comes, until the child has ended, and then its end. */
  async function follow(turn: TurnRow, session: Session, entry: Running): Promise<void> {
    const ended = await followChild(entry, (events, blocks, offset) => store(turn, events, blocks, offset));
    const usage = ended.result ? usageOf(ended.result, session) : null;
    if (entry.cancelled)
      await end(turn, session, { status: "cancelled", error: "The turn was cancelled.", usage }, ended);
    else if (ended.verdict.outcome === "complete")
      await end(turn, session, { status: "complete", error: null, usage }, ended);
    else await end(turn, session, { status: "failed", error: ended.verdict.message, usage }, ended);
  }

  async function store(turn: TurnRow, events: TurnEvent[], blocks: ConversationBlock[], offset: number): Promise<void> {
    await storage.write(() => {
      if (events.length > 0) storage.turns.appendIfRunning(turn.id, events);
      if (!turn.ephemeral) remember(turn.sessionId, blocks);
      storage.turns.setOutputOffset(turn.id, offset);
    });
    broadcast.wake(turn.sessionId);
  }

  function remember(sessionId: string, blocks: ConversationBlock[]): void {
    const session = storage.sessions.get(sessionId);
    const head = session && headOf(session);
    if (!head || blocks.length === 0) return;
    const { node_id } = blocks.reduce((behind, block) => say(storage, behind, block, now()), head);
    storage.sessions.setHead(sessionId, node_id);
  }

  /** The last event, the status, the conversation and the end of the turn's token are one change. */
  async function end(
    turn: TurnRow,
    session: Session,
    outcome: Omit<TurnEnd, "endedAt">,
    ended?: ChildEnd,
  ): Promise<void> {
    const claudeSessionId = ended?.result?.claudeSessionId ?? ended?.init?.claudeSessionId;
    const last: TurnEvent =
      outcome.status === "complete" && outcome.usage
        ? {
            type: "complete",
            new_head: currentHead(session.id),
            claude_session_id: claudeSessionId ?? "",
            usage: outcome.usage,
          }
        : { type: "error", message: outcome.error ?? "The turn ended without a result." };
    // Before the last event, so that the turn still tells what became of its asks.
    await need.abandon(storage.approvals.pendingIdsOf(session.id), "the child's turn is over");
    await storage.write((announce) => {
      storage.turns.appendIfRunning(turn.id, [last]);
      const isFirst = storage.turns.endIfRunning(turn.id, { ...outcome, endedAt: now() });
      const { owner, sessionId, id: subjectId } = turn;
      if (isFirst) announce(storage.changes.append({ kind: "turn_ended", owner, sessionId, subjectId, at: now() }));
      storage.tokens.removeOfSession(session.id);
      if (claudeSessionId && !turn.ephemeral) {
        const totalCostUsd = ended?.result?.totalCostUsd ?? session.totalCostUsd;
        storage.sessions.setConversation(session.id, { claudeSessionId, totalCostUsd });
      }
    });
    running.delete(turn.id);
    rmSync(dirOf(turn.id), { recursive: true, force: true });
    broadcast.wake(turn.sessionId);
  }

  function currentHead(sessionId: string): Head | null {
    const session = storage.sessions.get(sessionId);
    return session ? headOf(session) : null;
  }

  function dirOf(turnId: string): string {
    return join(need.dataDir, "turns", turnId);
  }

  /** Ends what an earlier server has left behind: nobody reads those children any more, nor decides for them. */
  async function endLeftovers(): Promise<void> {
    for (const turn of storage.turns.listRunning()) {
      const session = storage.sessions.get(turn.sessionId);
      if (!session || running.has(turn.id)) continue;
      if (turn.pid !== null && turn.processStart !== null) {
        const child = { pid: turn.pid, startTime: turn.processStart };
        await endChild(child, { graceMs: GRACE_MS, dir: dirOf(turn.id) });
      }
      const error = "Plexus was restarted while this turn ran: its child was stopped. Start another turn to go on.";
      await end(turn, session, { status: "failed", error, usage: null });
    }
  }
  const leftovers = endLeftovers().catch(need.onError);

  return {
    start,
    /** Resolves when every process of the child is gone; `false` when no turn runs. */
    async cancel(session: Session): Promise<boolean> {
      const turn = storage.turns.running(session.id);
      const entry = turn && running.get(turn.id);
      if (!entry) return false;
      entry.cancelled = true;
      await endChild(entry.child, { graceMs: GRACE_MS, dir: entry.dir });
      await entry.over;
      return true;
    },
    async [Symbol.asyncDispose]() {
      await leftovers;
      await Promise.all(
        [...running.values()].map(async (entry) => {
          entry.cancelled = true;
          await endChild(entry.child, { graceMs: GRACE_MS, dir: entry.dir });
          await entry.over;
        }),
      );
    },
  };
}

function limitReached(limit: number): AppError {
  return new AppError(
    "limit_reached",
    `${limit} children run, which is the limit (--max-running): wait for one to end, or cancel one.`,
  );
}

/** The CLI counts the cost of the whole conversation; a turn's own is what came on top. */
function usageOf(result: ResultFact, session: Session): Usage {
  return {
    input_tokens: result.inputTokens,
    output_tokens: result.outputTokens,
    cost_usd: Math.max(0, result.totalCostUsd - session.totalCostUsd),
    num_turns: result.numTurns,
  };
}
