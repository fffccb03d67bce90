import { rmSync } from "node:fs";
import { join } from "node:path";
import { Checkpoint } from "../../claude/output/checkpoint.ts";
import { createReadProgress } from "../../claude/output/read-progress.ts";
import { AppError } from "../../contract/refusals/errors.ts";
import type { LeftRunning } from "../../contract/sessions/left-running.ts";
import type { Storage } from "../../storage/storage.ts";
import type { BegunTurn, TurnRow } from "../../storage/turns.ts";
import type { UnaskedCallRow } from "../../storage/unasked-calls.ts";
import type { Tokens } from "../access/tokens.ts";
import type { Broadcast } from "../events/broadcast.ts";
import type { Session } from "../sessions/sessions.ts";
import { processOf, removeStrayDirs } from "./adoption.ts";
import { type ChildLaunchNeed, createChildLaunch } from "./child-launch.ts";
import { type Batch, type Child, type ChildEnd, followChild, stopChild } from "./child-output.ts";
import { createInterruptions } from "./interruption.ts";
import { naming, outcomeOf, type Stop, type TurnOutcome } from "./outcome.ts";
import type { OutputStored } from "./output-stored.ts";
import { createQueueStarter, messageOf } from "./queue/starter.ts";
import { createTurnQueue, OutdatedId } from "./queue/turn-queue.ts";
import { createTurnRecord } from "./record.ts";
import { isPassing, retry, TRY_AGAIN_MS } from "./retry.ts";

export type Turns = Awaited<ReturnType<typeof openTurns>>;

type TurnsNeed = ChildLaunchNeed & {
  storage: Pick<Storage, "approvals" | "sessions" | "turns" | "newId">;
  broadcast: Broadcast;
  tokens: Tokens;
  outputStored: OutputStored;
  abandon: (approvalIds: string[], reason: string) => Promise<void>;
  now: () => number;
  onError: (cause: unknown) => void;
  /** Called when a call ran unasked in a session that forbids it. */
  onSealBroken: (call: UnaskedCallRow) => void;
  maxRunning: number;
};

/** A turn that this process owns, from before its child is started until its end is on disk. */
type Running = {
  child: Child;
  /** Resolves when the child was started or failed to start. */
  launched: Promise<unknown>;
  /** Set once it has a child: requests wait for its output. */
  reader?: Disposable;
  over: Promise<void>;
  /** Set by the first stop: the reason, and the processes that could not be stopped. */
  stopped?: Stop;
};

/** Stopping children takes a few seconds; only a database that accepts no writes takes longer. */
const STOP_WITHIN_MS = 6_000;
const ANOTHER_VERSION =
  "Plexus was replaced by another version, which can't go on with this turn: its child was stopped. Start another turn.";
const FAILED_INSIDE = "Plexus failed inside; its log has the details. The child was stopped.";

/** A turn: one prompt to one child, its output as numbered events, and its end. */
export async function openTurns(need: TurnsNeed) {
  const { storage } = need;
  const queue = createTurnQueue(need);
  const record = createTurnRecord(need);
  const launching = createChildLaunch(need);
  const interruptions = createInterruptions(need);
  const running = new Map<string, Running>();
  const leave = new AbortController();
  let isClosing = false;
  const retrying = (work: () => Promise<void>) => retry(work, leave.signal, need.onError);
  const starter = createQueueStarter({
    ...need,
    queue,
    begin: (chosen) => begin(chosen.id, () => queue.beginQueued(chosen)),
    retrying,
  });
  const turnsDir = join(need.dataDir, "turns");

  function lookAfter(turnId: string): Running {
    const child: Child = { process: undefined, dir: join(turnsDir, turnId), readProgress: createReadProgress() };
    const entry: Running = { child, launched: Promise.resolve(), over: Promise.resolve() };
    running.set(turnId, entry);
    return entry;
  }

  /** Files a turn; returns when its child runs or the turn is queued. A session has one turn at a time. */
  async function start(session: Session, prompt: string, ephemeral: boolean): Promise<TurnRow> {
    await launching.check(session);
    // A turn that began now would have no owner.
    if (isClosing) throw stopping();
    const turn = await file(session, { prompt, ephemeral });
    // The new child may hold a token that lets a queued turn start.
    starter.look();
    return turn;
  }

  async function file(session: Session, work: { prompt: string; ephemeral: boolean }, after = ""): Promise<TurnRow> {
    const id = storage.newId(after);
    try {
      return (await begin(id, () => queue.begin(session, { id, ...work }))).turn;
    } catch (cause) {
      if (cause instanceof OutdatedId && cause.latest !== after) return file(session, work, cause.latest);
      throw cause;
    }
  }

  /** Files a turn and starts its child, unless the turn was queued, or is no longer in the queue. */
  async function begin<B extends BegunTurn | undefined>(id: string, file: () => Promise<B>): Promise<B> {
    // Register before the turn is visible, so that everybody who sees it can cancel it.
    const entry = lookAfter(id);
    // Once a queued turn is on disk, the starter may have begun it with an entry of its own.
    const letGo = () => void (running.get(id) === entry && running.delete(id));
    const { promise, resolve } = Promise.withResolvers<void>();
    entry.launched = promise;
    try {
      const begun = await file().catch((cause) => {
        letGo();
        throw cause;
      });
      if (begun?.turn.status === "running") await startChild(entry, begun);
      else letGo();
      return begun;
    } finally {
      resolve();
    }
  }

  async function startChild(entry: Running, begun: BegunTurn): Promise<void> {
    const { turn, session } = begun;
    try {
      // Register the reader before the child exists and can ask.
      entry.reader = need.outputStored.add(session.id, entry.child.readProgress);
      const process = await launching.launch(entry.child.dir, begun);
      entry.child.process = process;
      await storage.turns.setProcess(turn.id, { pid: process.pid, processStart: process.startTime });
    } catch (cause) {
      const error = naming(await stopChild(entry.child), messageOf(cause));
      entry.over = retrying(() => end(turn, entry, { status: "failed", error }));
      // If the disk accepts no writes, do not wait for the turn's end to be stored: tell the caller why.
      await Promise.race([entry.over, Bun.sleep(TRY_AGAIN_MS)]);
      throw cause;
    }
    entry.over = follow(turn, entry);
  }

  /** Stores the child's output until the child has ended, then the turn's end. */
  async function follow(turn: TurnRow, entry: Running): Promise<void> {
    await retrying(async () => {
      try {
        const checkpoint = Checkpoint.safeParse(await storage.turns.checkpoint(turn.id)).data;
        if (!checkpoint) return await giveUp(turn, entry, ANOTHER_VERSION);
        // The last server may have stored an unasked call and been killed before it stopped the child.
        const broken = await record.brokenSeal(turn);
        if (broken) return await giveUp(turn, entry, broken);
        using _ = interruptions.enforce(turn, (why) => void stop(entry, why).catch(need.onError));
        const ended = await followChild(entry.child, checkpoint, (batch) => store(turn, batch), leave.signal);
        if (!ended) return;
        await end(turn, entry, await outcomeOf(ended, entry.stopped, await interruptions.reasonIn(turn)), ended);
      } catch (cause) {
        if (isPassing(cause)) throw cause;
        need.onError(cause);
        await giveUp(turn, entry, FAILED_INSIDE);
      }
    });
  }

  /** Returns a reason if the child must be stopped. */
  async function store(turn: TurnRow, batch: Batch): Promise<string | undefined> {
    const unasked = await record.add(turn, batch);
    for (const call of unasked) if (call.supervision !== "inherit") need.onSealBroken(call);
    return unasked.length > 0 ? record.brokenSeal(turn) : undefined;
  }

  /** Stops a child whose output can't be read any more. */
  async function giveUp(turn: TurnRow, entry: Running, error: string): Promise<void> {
    const left = await stopChild(entry.child);
    await end(turn, entry, { status: "failed", error: naming(left, error) });
  }

  async function end(turn: TurnRow, entry: Running, outcome: TurnOutcome, ended?: ChildEnd): Promise<void> {
    entry.child.readProgress.end();
    entry.reader?.[Symbol.dispose]();
    await record.end(turn, outcome, ended);
    running.delete(turn.id);
    starter.look();
    rmSync(entry.child.dir, { recursive: true, force: true });
  }

  /**
   * Resolves when the child's processes are gone and the turn's end is on disk; returns those that could not be
   * stopped.
   */
  async function stop(entry: Running, why: string): Promise<LeftRunning[]> {
    entry.stopped ??= { why, left: entry.launched.then(() => stopChild(entry.child)) };
    const left = await entry.stopped.left;
    await entry.over;
    return left;
  }

  /** Returns the processes that could not be stopped; `undefined` if no turn runs or is queued. */
  async function cancel(session: Session): Promise<LeftRunning[] | undefined> {
    const error = "The turn was cancelled.";
    const latest = await storage.turns.latest(session.id);
    const end = { status: "cancelled", error } as const;
    if (latest?.status === "queued" && (await storage.turns.endIfQueued(latest.id, end, need.now()))) return [];
    const turn = await storage.turns.running(session.id);
    if (!turn) return undefined;
    const entry = running.get(turn.id);
    if (entry) return stop(entry, error);
    if (!(await storage.turns.stopElsewhere(turn.id, error))) return undefined;
    await endedElsewhere(turn);
    return [];
  }

  /** Waits until the server that runs this turn has ended it. That server finds the request at its next re-read. */
  async function endedElsewhere({ id, sessionId }: TurnRow): Promise<void> {
    using waiter = need.broadcast.waitFor(sessionId);
    const left = new Promise<void>((resolve) =>
      leave.signal.addEventListener("abort", () => resolve(), { once: true }),
    );
    while ((await storage.turns.get(id))?.status === "running") {
      if (leave.signal.aborted) throw stopping();
      await Promise.race([waiter.woken(), left]);
    }
  }

  // Turns of an earlier server, whose children still run or have ended meanwhile.
  const left = (await storage.turns.listRunning()).map((turn) => {
    const entry = lookAfter(turn.id);
    entry.child.process = processOf(turn, entry.child.dir);
    entry.reader = need.outputStored.add(turn.sessionId, entry.child.readProgress);
    return { turn, entry };
  });
  removeStrayDirs(turnsDir, (turnId) => running.has(turnId));
  // Start following only when opening can't fail any more: after a failure nobody could stop them.
  for (const { turn, entry } of left) entry.over = follow(turn, entry);

  return {
    start,
    cancel,
    /** The turn's place in the queue, from 1; `undefined` if it is not queued. */
    place: queue.place,
    /** Starts queued turns from now on, since children can reach the server. */
    open: starter.open,
    /** Stops turns that were cancelled through another server. */
    async reread(): Promise<void> {
      for (const { id, reason } of await storage.turns.stopsAskedFor()) {
        const entry = running.get(id);
        if (entry) void stop(entry, reason).catch(need.onError);
      }
    },
    /** Stops following the children, which go on. The next server finds them through the database. */
    async handOver(): Promise<void> {
      isClosing = true;
      starter.close();
      leave.abort();
      await Promise.all([...running.values()].map(({ launched, over }) => Promise.all([launched, over])));
    },
    async [Symbol.asyncDispose]() {
      isClosing = true;
      starter.close();
      const why = "Plexus was stopped while this turn ran.";
      const stopped: Promise<unknown>[] = leave.signal.aborted
        ? []
        : [...running.values()].map((entry) => stop(entry, why));
      // A turn that is being filed may still end up in the queue.
      await Promise.all([...running.values()].map(({ launched }) => launched));
      stopped.push(retrying(() => starter.cancelAll("Plexus was stopped while this turn was queued.")));
      const timer = setTimeout(() => leave.abort(), STOP_WITHIN_MS);
      await Promise.all(stopped);
      clearTimeout(timer);
      leave.abort();
      await Promise.all([...running.values()].map(({ over }) => over));
    },
  };
}

function stopping(): AppError {
  return new AppError("unreachable", "Plexus is stopping, or handing over: try again in a moment.");
}
