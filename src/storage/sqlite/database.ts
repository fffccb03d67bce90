import { Database } from "bun:sqlite";
import { chmodSync, mkdirSync, readdirSync, statSync } from "node:fs";
import { join } from "node:path";
import type { Change } from "../../contract/change.ts";
import { AppError } from "../../contract/refusals/errors.ts";
import type { Storage } from "../storage.ts";
import { storageOn } from "./engine.ts";
import { lockDataDir } from "./lock.ts";
import { migrate } from "./migrations.ts";
import { createOrm } from "./statements/orm.ts";
import { translated } from "./statements/reads.ts";
import * as tables from "./tables.ts";
import { createWriter } from "./writer.ts";

type OnCommitted = (changes: Change[]) => void;

/**
 * Opens the data dir exclusively for this process; calls `onCommitted` with every change, in order, once it is on disk.
 */
export function openStorage(dataDir: string, onCommitted: OnCommitted, now: () => number = Date.now): Storage {
  prepareDataDir(dataDir);
  return translated(() => {
    using opened = new DisposableStack();
    const lock = lockDataDir(dataDir);
    if (!lock) throw new DataDirInUse(dataDir);
    opened.use(lock);
    const storage = opened.use(connect(dataDir, { onCommitted, now, isAlone: true }));
    const owned = opened.move();
    return { ...storage, [Symbol.dispose]: () => owned.dispose() };
  });
}

type Connection = {
  onCommitted: OnCommitted;
  now: () => number;
  /** True for the process that has locked the data dir: there is no other server. */
  isAlone: boolean;
  /** The data dir whose turns this server runs, if it is not the one that contains the database. */
  dataDirId?: string;
};

/** One server's connection to the database of a data dir. */
export function connect(dataDir: string, { onCommitted, now, isAlone, dataDirId }: Connection): Storage {
  using opened = new DisposableStack();
  const path = join(dataDir, "plexus.db");
  // `true` finalizes its statements too; otherwise they would keep the connection open.
  const sqlite = opened.adopt(openDatabase(path), (database) => database.close(true));
  const { write } = opened.adopt(createWriter(sqlite, onCommitted), ({ close }) => close());
  const orm = createOrm(sqlite);
  const runsIn = dataDirId ?? orm.select().from(tables.dataDir).get()?.id ?? "";
  const storage = storageOn({ sqlite, orm, write, path, now, isAlone, dataDirId: runsIn });
  const owned = opened.move();
  return { ...storage, [Symbol.dispose]: () => owned.dispose() };
}

/** Another process uses this data dir. */
export class DataDirInUse extends Error {
  override readonly name = "DataDirInUse";
  constructor(readonly dataDir: string) {
    super(`Another Plexus uses ${dataDir}.`);
  }
}

function prepareDataDir(dataDir: string): void {
  try {
    mkdirSync(dataDir, { recursive: true, mode: 0o700 });
    // Changing the mode of a directory such as /tmp would lock out everybody else.
    if (isShared(dataDir)) throw new Error("it is shared by all users");
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

/** True for a directory that all users share and that contains other files; an empty one may be a fresh mount. */
function isShared(dataDir: string): boolean {
  const isSticky = (statSync(dataDir).mode & 0o1000) !== 0;
  const found = readdirSync(dataDir);
  return isSticky && found.length > 0 && !found.includes("plexus.db");
}

/** After growing, the write-ahead log is truncated to this size. */
const MAX_IDLE_LOG_BYTES = 16 * 1024 * 1024;

/** Opens the connection that writes; its commits survive a power loss. */
export function openDatabase(path: string): Database {
  const sqlite = new Database(path, { create: true });
  try {
    chmodSync(path, 0o600);
    sqlite.run("PRAGMA busy_timeout = 2000");
    // Only a new file can get this setting; an older database keeps its free pages and reuses them.
    if (statSync(path).size === 0) sqlite.run("PRAGMA auto_vacuum = INCREMENTAL");
    sqlite.run("PRAGMA journal_mode = WAL");
    sqlite.run(`PRAGMA journal_size_limit = ${MAX_IDLE_LOG_BYTES}`);
    sqlite.run("PRAGMA synchronous = FULL");
    sqlite.run("PRAGMA fullfsync = 1");
    sqlite.run("PRAGMA foreign_keys = ON");
    sqlite.run("PRAGMA cache_size = -65536");
    // Otherwise SQLite would spill a large savepoint, with children's inputs in it, to a file outside of the data dir.
    sqlite.run("PRAGMA temp_store = MEMORY");
    migrate(sqlite);
    // From here on, waiting for a lock would block the server's event loop; the writer retries by itself.
    sqlite.run("PRAGMA busy_timeout = 5");
    return sqlite;
  } catch (cause) {
    sqlite.close(true);
    throw cause;
  }
}
