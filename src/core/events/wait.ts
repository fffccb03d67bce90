import { listedChars } from "../../contract/text/fit.ts";
import type { Finished, Waited } from "../../contract/tools/wait-answers.ts";
import type { Awaited, EndedTurn } from "../../storage/changes.ts";
import type { Storage } from "../../storage/storage.ts";
import { ownerKey, type Principal, visibleOwner } from "../access/principals.ts";
import { toApproval } from "../approvals/approval-view.ts";
import { createBell } from "./bell.ts";
import type { Broadcast } from "./broadcast.ts";
import type { Beginning, ReaderName, Readers } from "./readers.ts";
import { toFinished, toRunning } from "./turn-reports.ts";

const MAX_FINISHED = 50;
const MAX_FINISHED_CHARS = 15_000;
const MAX_RUNNING = 50;
/** How long a claude that is started by hand may still ask after it was configured or last asked. */
const BY_HAND_MS = 10 * 60_000;

/** Parallel requests of a child arrive within moments of each other; this delay gathers them into one answer. */
const GATHER_MS = 100;
const MAX_GATHERED = 5;

type WaitOptions = {
  /** Which of the caller's readers waits. */
  reader?: ReaderName | undefined;
  /** Where the reader begins if it is new. */
  beginning?: Beginning | undefined;
  sessionId?: string | undefined;
  since?: number | undefined;
  /** Approvals that need not wake the caller. */
  skip?: string[] | undefined;
  timeoutMs: number;
  limit: number;
  /** Fires when the caller is gone: then nothing counts as told. */
  signal: AbortSignal;
  /** Fires when the server stops: the wait then returns as if its time were up. */
  stopping?: AbortSignal | undefined;
  /** Called before the wait blocks, with its position: a new wait with that as `since` repeats this one. */
  onBegun?: (since: number) => void;
};

type WaitNeed = {
  storage: Pick<Storage, "changes" | "turns">;
  broadcast: Broadcast;
  readers: Readers;
  now: () => number;
};

/** Lets a principal wait for the next thing to do. */
export function createWait({ storage, broadcast, readers, now }: WaitNeed) {
  const waiting = new Set<() => void>();

  async function wait(principal: Principal, options: WaitOptions): Promise<Waited> {
    const { sessionId, signal, stopping, skip = [] } = options;
    const scope = { owner: visibleOwner(principal), sessionId };
    const reader = readers.of(principal, options.reader ?? {}, sessionId);
    // Registered before the read, so that a change between the read and the wait is not missed.
    const { ring, woken } = createBell();
    let isOver = signal.aborted || stopping?.aborted === true;
    const finish = () => {
      isOver = true;
      ring();
    };
    using cleanup = new DisposableStack();
    cleanup.use(
      broadcast.listen(({ kind, owner, sessionId }) => {
        const isAwaited = kind === "approval_requested" || kind === "turn_ended";
        const isVisible = scope.owner === undefined || owner === scope.owner;
        const concerns = scope.sessionId === undefined || sessionId === scope.sessionId;
        if (isAwaited && isVisible && concerns) ring();
      }),
    );
    waiting.add(ring);
    cleanup.defer(() => waiting.delete(ring));
    cleanup.adopt(setTimeout(finish, options.timeoutMs), clearTimeout);
    for (const end of [signal, stopping]) {
      end?.addEventListener("abort", finish);
      cleanup.defer(() => end?.removeEventListener("abort", finish));
    }
    const { since, isAgain } = await readers.from(principal, reader, options);
    let { onBegun } = options;
    const query = {
      ended: { since, reader: isAgain || sessionId !== undefined ? undefined : reader, limit: MAX_FINISHED + 1 },
      skip,
      maxPending: options.limit,
      maxOngoing: MAX_RUNNING + 1,
    };
    for (let gathered = 0, known = 0; ; ) {
      const found = await storage.changes.awaited(scope, { ...query, seenSince: now() - BY_HAND_MS });
      const { rows } = found.pending;
      const isFresh = now() - (rows.at(-1)?.createdAt ?? 0) < GATHER_MS;
      if (isFresh && rows.length > known && !isOver && ++gathered <= MAX_GATHERED) {
        known = rows.length;
        await Bun.sleep(GATHER_MS);
        continue;
      }
      const answer = await answerTo(principal, found, since, isOver);
      if (answer) {
        if (!signal.aborted) await readers.advance(reader, answer.cursor);
        return signal.aborted ? { ...timeout(principal, found, since), cursor: since } : answer;
      }
      onBegun?.(since);
      onBegun = undefined;
      await woken();
    }
  }

  /** The answer; `undefined` while there is no reason to return. */
  async function answerTo(
    principal: Principal,
    found: Awaited,
    since: number,
    isOver: boolean,
  ): Promise<Waited | undefined> {
    // A request may be decided by now; then there is still no reason to return.
    if (found.pending.rows.length > 0 || found.ended.length > 0) return something(found, since);
    if (found.ongoing.length === 0 && !found.mayAsk) return { type: "idle", cursor: cursorOf(found, since) };
    return isOver ? timeout(principal, found, since) : undefined;
  }

  async function something(found: Awaited, since: number): Promise<Waited> {
    const { pending, ended, ongoing } = found;
    const finished = await finishedIn(ended.slice(0, MAX_FINISHED));
    const isAllTold = finished.length === ended.length;
    // A session with a pending approval is left out: the approval shows that its child waits.
    const asking = new Set(pending.rows.map((row) => row.sessionId));
    const running = ongoing.slice(0, MAX_RUNNING).filter((turn) => !asking.has(turn.sessionId));
    return {
      type: "ok",
      approvals: pending.rows.map(toApproval),
      finished,
      running: running.map((turn) => toRunning(turn, now())),
      has_more: pending.hasMore || !isAllTold || ongoing.length > MAX_RUNNING,
      // If not all ends fit, the next wait continues after the last one told.
      cursor: isAllTold ? cursorOf(found, since) : (ended[finished.length - 1]?.changeId ?? since),
    };
  }

  function timeout(principal: Principal, found: Awaited, since: number): Waited {
    const told = found.ongoing.slice(0, MAX_RUNNING);
    const running = told.map((turn) => {
      const { session_id, ...report } = toRunning(turn, now());
      const isOnly = told.every(({ name, sessionId }) => name !== turn.name || sessionId === turn.sessionId);
      return isOnly && turn.owner === ownerKey(principal) ? report : { session_id, ...report };
    });
    return { type: "timeout", running, cursor: cursorOf(found, since) };
  }

  /** As many reports as fit; at least one. */
  async function finishedIn(ended: EndedTurn[]): Promise<Finished[]> {
    const finished: Finished[] = [];
    let room = MAX_FINISHED_CHARS;
    for (const turn of ended) {
      const one = await toFinished(storage, turn);
      room -= listedChars(one);
      if (room < 0 && finished.length > 0) break;
      finished.push(one);
    }
    return finished;
  }

  return {
    /**
     * Returns as soon as an approval is pending or a turn has ended that this reader was not told of; at once if
     * nothing can happen; else when the time is up or the caller is gone. The answer counts as told unless the caller
     * is gone.
     */
    wait,
    /** Whether none of the caller's sessions, or the given one, runs, has a pending approval, or could ask. */
    async isIdle(principal: Principal, sessionId: string | undefined): Promise<boolean> {
      const nothing = { ended: { since: Number.MAX_SAFE_INTEGER, limit: 1 }, skip: [], maxPending: 1, maxOngoing: 1 };
      const scope = { owner: visibleOwner(principal), sessionId };
      const found = await storage.changes.awaited(scope, { ...nothing, seenSince: now() - BY_HAND_MS });
      return found.ongoing.length === 0 && !found.mayAsk;
    },
    /** Makes every wait read again, for changes of other servers and to see whether anything can still happen. */
    reread(): void {
      for (const ring of waiting) ring();
    },
  };
}

/** The position of a reader that was told everything found. */
function cursorOf({ newestId }: Awaited, since: number): number {
  return Math.max(newestId, since);
}
