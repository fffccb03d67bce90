import type { Database } from "bun:sqlite";
import type { Change } from "../schema/change.ts";
import { storageError } from "./failure.ts";

/** Records a change in the transaction at hand; watchers hear of it once that has committed. */
export type Announce = (change: Change) => void;

export type Writer = {
  /** Runs `work` in a transaction and resolves once it is on disk; a throw undoes this work alone. */
  write<T>(work: (announce: Announce) => T): Promise<T>;
  /** Commits what is queued, and refuses what comes later. */
  close(): void;
};

type Done = { settle: () => void; changes: Change[] };
type Job = { run: () => Done; reject: (reason: unknown) => void };

/**
 * Group commit: writes that arrive within one turn of the event loop share one transaction and so one fsync.
 * Each has a savepoint of its own, and nothing is answered or announced before the commit.
 */
export function createWriter(sqlite: Database, onCommitted: (changes: Change[]) => void): Writer {
  let queue: Job[] = [];
  let closed = false;

  function write<T>(work: (announce: Announce) => T): Promise<T> {
    if (closed) return Promise.reject(storageError(new Error("the database is closed")));
    return new Promise<T>((resolve, reject) => {
      const run = () => {
        const changes: Change[] = [];
        const result = work((change) => changes.push(change));
        return { settle: () => resolve(result), changes };
      };
      if (queue.push({ run, reject }) === 1) setImmediate(flush);
    });
  }

  function flush(): void {
    const batch = queue;
    queue = [];
    if (batch.length === 0) return;
    const done = committed(batch);
    try {
      onCommitted(done.flatMap((job) => job.changes));
    } finally {
      // What is on disk is answered as done, whatever those who were told of it do.
      for (const job of done) job.settle();
    }
  }

  /** The jobs that are on disk now; all others have been told why they are not. */
  function committed(batch: Job[]): Done[] {
    try {
      return commitTogether(batch);
    } catch (cause) {
      for (const job of batch) job.reject(storageError(cause));
      return [];
    }
  }

  function commitTogether(batch: Job[]): Done[] {
    sqlite.run("BEGIN IMMEDIATE");
    try {
      const done = batch.flatMap((job) => attempt(job));
      sqlite.run("COMMIT");
      return done;
    } catch (cause) {
      if (sqlite.inTransaction) sqlite.run("ROLLBACK");
      throw cause;
    }
  }

  function attempt(job: Job): Done[] {
    sqlite.run("SAVEPOINT job");
    try {
      const done = job.run();
      sqlite.run("RELEASE job");
      return [done];
    } catch (cause) {
      // A full disk ends the whole transaction by itself; then nothing of this batch may count.
      if (!sqlite.inTransaction) throw cause;
      sqlite.run("ROLLBACK TO job");
      sqlite.run("RELEASE job");
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
