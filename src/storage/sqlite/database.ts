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

/** Opens the data dir for this process alone; every change is told to `onCommitted`, in order, once it is on disk. */
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
  /** Whoever has the lock of the data dir is the only server. */
  isAlone: boolean;
  /** Whose turns it runs, where these are not those of the data dir that the database lies in. */
  dataDirId?: string;
};

/** One server's connection to the database of a data dir. */
export function connect(dataDir: string, { onCommitted, now, isAlone, dataDirId }: Connection): Storage {
  using opened = new DisposableStack();
  const path = join(dataDir, "plexus.db");
  // Ends its statements too, which would keep the connection open behind our back.
  const sqlite = opened.adopt(openDatabase(path), (database) => database.close(true));
  const { write } = opened.adopt(createWriter(sqlite, onCommitted), ({ close }) => close());
  const orm = createOrm(sqlite);
  const runsIn = dataDirId ?? orm.select().from(tables.dataDir).get()?.id ?? "";
  const storage = storageOn({ sqlite, orm, write, path, now, isAlone, dataDirId: runsIn });
  const owned = opened.move();
  return { ...storage, [Symbol.dispose]: () => owned.dispose() };
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
    // To make /tmp or the like ours alone would lock everybody else out of it.
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

/** Open to all and in use by others; an empty one may be a fresh mount. */
function isShared(dataDir: string): boolean {
  const isSticky = (statSync(dataDir).mode & 0o1000) !== 0;
  const found = readdirSync(dataDir);
  return isSticky && found.length > 0 && !found.includes("plexus.db");
}

/** To what the write-ahead log shrinks again when it had to grow. */
const MAX_IDLE_LOG_BYTES = 16 * 1024 * 1024;

/** The connection that writes: what it has committed survives a power loss. */
export function openDatabase(path: string): Database {
  const sqlite = new Database(path, { create: true });
  try {
    chmodSync(path, 0o600);
    sqlite.run("PRAGMA busy_timeout = 2000");
    // One that was made without it keeps its free pages, and uses them again.
    if (statSync(path).size === 0) sqlite.run("PRAGMA auto_vacuum = INCREMENTAL");
    sqlite.run("PRAGMA journal_mode = WAL");
    sqlite.run(`PRAGMA journal_size_limit = ${MAX_IDLE_LOG_BYTES}`);
    sqlite.run("PRAGMA synchronous = FULL");
    sqlite.run("PRAGMA fullfsync = 1");
    sqlite.run("PRAGMA foreign_keys = ON");
    sqlite.run("PRAGMA cache_size = -65536");
    // A savepoint that grows would be written to a file outside of the data dir, with what children ask in it.
    sqlite.run("PRAGMA temp_store = MEMORY");
    migrate(sqlite);
    // From now on a server runs on it, which must not stand still: the writer waits by itself.
    sqlite.run("PRAGMA busy_timeout = 5");
    return sqlite;
  } catch (cause) {
    sqlite.close(true);
    throw cause;
  }
}
