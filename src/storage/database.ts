import { Database } from "bun:sqlite";
import { chmodSync, existsSync, mkdirSync } from "node:fs";
import { join } from "node:path";
import { type BunSQLiteDatabase, drizzle } from "drizzle-orm/bun-sqlite";
import type { Change } from "../schema/change.ts";
import { AppError } from "../schema/errors.ts";
import { approvalQueries } from "./approvals.ts";
import { changeQueries } from "./changes.ts";
import { storageError } from "./failure.ts";
import { lockDataDir } from "./lock.ts";
import { mcpClientQueries } from "./mcp-clients.ts";
import { migrate } from "./migrations.ts";
import { sessionQueries } from "./sessions.ts";
import { tokenQueries } from "./tokens.ts";
import { createWriter } from "./writer.ts";

export type Orm = BunSQLiteDatabase;
export type Storage = ReturnType<typeof openStorage>;

/** Opens the data dir for this process alone; every change is told to `onCommitted`, in order, once it is on disk. */
export function openStorage(dataDir: string, onCommitted: (changes: Change[]) => void) {
  prepareDataDir(dataDir);
  const lock = translated(() => lockDataDir(dataDir));
  if (!lock) throw new DataDirInUse(dataDir);
  try {
    const sqlite = translated(() => openDatabase(join(dataDir, "plexus.db")));
    const orm = drizzle({ client: sqlite });
    const writer = createWriter(sqlite, onCommitted);
    return {
      approvals: guarded(approvalQueries(orm)),
      sessions: guarded(sessionQueries(orm)),
      tokens: guarded(tokenQueries(orm)),
      changes: guarded(changeQueries(orm)),
      mcpClients: guarded(mcpClientQueries(orm)),
      write: writer.write,
      /** Throws unless the database takes a write right now. */
      assertWritable: () =>
        translated(() => {
          sqlite.run("BEGIN IMMEDIATE");
          sqlite.run("ROLLBACK");
        }),
      [Symbol.dispose]() {
        writer.close();
        sqlite.close();
        lock[Symbol.dispose]();
      },
    };
  } catch (cause) {
    lock[Symbol.dispose]();
    throw cause;
  }
}

/** Another process serves this data dir. */
export class DataDirInUse extends Error {
  override readonly name = "DataDirInUse";
  constructor(readonly dataDir: string) {
    super(`Another Plexus uses ${dataDir}.`);
  }
}

function prepareDataDir(dataDir: string): void {
  try {
    mkdirSync(dataDir, { recursive: true, mode: 0o700 });
    chmodSync(dataDir, 0o700);
  } catch (cause) {
    const reason = cause instanceof Error ? cause.message : String(cause);
    throw new AppError(
      "storage_unavailable",
      `The data dir ${dataDir} can't be used (${reason}). Give it to the user that runs Plexus, or choose another with --data-dir.`,
      { cause },
    );
  }
}

function openDatabase(path: string): Database {
  const isNew = !existsSync(path);
  const sqlite = new Database(path, { create: true });
  try {
    if (isNew) chmodSync(path, 0o600);
    sqlite.run("PRAGMA busy_timeout = 2000");
    sqlite.run("PRAGMA journal_mode = WAL");
    sqlite.run("PRAGMA synchronous = FULL");
    sqlite.run("PRAGMA fullfsync = 1");
    sqlite.run("PRAGMA foreign_keys = ON");
    migrate(sqlite);
    return sqlite;
  } catch (cause) {
    sqlite.close();
    throw cause;
  }
}

/** The same queries, failing in words that a person understands. */
function guarded<Q extends Record<string, (...parameters: never[]) => unknown>>(queries: Q): Q {
  const entries = Object.entries(queries).map(([name, query]) => [
    name,
    (...parameters: never[]) => translated(() => query(...parameters)),
  ]);
  return Object.fromEntries(entries);
}

function translated<T>(work: () => T): T {
  try {
    return work();
  } catch (cause) {
    throw storageError(cause);
  }
}
