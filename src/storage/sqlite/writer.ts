import { type Database, SQLiteError } from "bun:sqlite";
import type { Change } from "../../contract/change.ts";
import { storageError } from "./failure.ts";

/** Records a change in the current transaction; watchers get it after the commit. */
export type Announce = (change: Change) => void;

/** Work that returns a promise doesn't compile: the transaction would commit before the promise's work is done. */
type Work<T> = (announce: Announce) => T extends PromiseLike<unknown> ? never : T;
/** Runs `work` in a transaction and resolves once it is on disk; an exception rolls back this work alone. */
export type Write = <T>(work: Work<T>) => Promise<T>;

export type Writer = {
  write: Write;
  /** Commits what is queued, and rejects later writes. */
  close(): void;
};

type Done = { settle: () => void; changes: Change[] };
type Job = { run: () => Done; reject: (reason: unknown) => void; since: number };

/** How long a write waits for another process to release its lock on the database. */
const LOCKED_FOR_MS = 2_000;
const TRY_AGAIN_MS = 20;

/**
 * Group commit: writes that arrive within one turn of the event loop share one transaction, and so one fsync. Each has
 * its own savepoint, and nothing is answered or announced before the commit.
 */
export function createWriter(sqlite: Database, onCommitted: (changes: Change[]) => void): Writer {
  // Prepared once: every commit runs the first two, and every write the last two.
  const [begin, commit] = [sqlite.query("BEGIN IMMEDIATE"), sqlite.query("COMMIT")];
  const [savepoint, release] = [sqlite.query("SAVEPOINT job"), sqlite.query("RELEASE job")];
  let queue: Job[] = [];
  let closed = false;

  function write<T>(work: Work<T>): Promise<T> {
    if (closed) return Promise.reject(storageError(new Error("the database is closed")));
    return new Promise<T>((resolve, reject) => {
      const run = () => {
        const changes: Change[] = [];
        const result = work((change) => changes.push(change));
        return { settle: () => resolve(result), changes };
      };
      if (queue.push({ run, reject, since: performance.now() }) === 1) setImmediate(flush);
    });
  }

  function flush(): void {
    const batch = queue;
    queue = [];
    if (batch.length === 0) return;
    const done = committed(batch);
    if (queue.length > 0) setTimeout(flush, TRY_AGAIN_MS);
    try {
      onCommitted(done.flatMap((job) => job.changes));
    } finally {
      // Committed writes resolve even if a listener throws.
      for (const job of done) job.settle();
    }
  }

  /** Returns the jobs that are now on disk; all others were rejected or queued again. */
  function committed(batch: Job[]): Done[] {
    try {
      begin.run();
    } catch (cause) {
      for (const job of batch) if (!waits(job, cause)) job.reject(storageError(cause));
      return [];
    }
    try {
      return commitTogether(batch);
    } catch (cause) {
      for (const job of batch) job.reject(storageError(cause));
      return [];
    }
  }

  /** Queues the job again while another process holds the lock: waiting in SQLite would block the event loop. */
  function waits(job: Job, cause: unknown): boolean {
    const isLocked = cause instanceof SQLiteError && cause.code?.startsWith("SQLITE_BUSY");
    if (closed || !isLocked || performance.now() - job.since > LOCKED_FOR_MS) return false;
    return queue.push(job) > 0;
  }

  function commitTogether(batch: Job[]): Done[] {
    try {
      const done = batch.flatMap((job) => attempt(job));
      commit.run();
      return done;
    } catch (cause) {
      if (sqlite.inTransaction) sqlite.run("ROLLBACK");
      throw cause;
    }
  }

  function attempt(job: Job): Done[] {
    savepoint.run();
    try {
      const done = job.run();
      release.run();
      return [done];
    } catch (cause) {
      // On a full disk SQLite rolls back the whole transaction; then the whole batch has failed.
      if (!sqlite.inTransaction) throw cause;
      sqlite.run("ROLLBACK TO job");
      release.run();
      job.reject(storageError(cause));
      return [];
    }
  }

  return {
    write,
    close() {
      closed = true;
      flush();
    },
  };
}
