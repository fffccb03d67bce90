import { Database, SQLiteError } from "bun:sqlite";
import { chmodSync } from "node:fs";
import { join } from "node:path";
import { AppError } from "../../contract/refusals/errors.ts";

/** SQLite errors that mean the lock file is not a database, or can't be opened. */
const UNUSABLE = /^SQLITE_(CANTOPEN|NOTADB|CORRUPT)/;

/**
 * Claims a data dir for this process with an exclusive transaction on `lock.db`. The system releases it even after
 * `kill -9`; a pid file would go stale then, and be wrong in containers. Returns `undefined` if another process has the
 * lock. Each name is a separate lock.
 */
export function lockDataDir(dataDir: string, name = "lock.db"): Disposable | undefined {
  const path = join(dataDir, name);
  let lock: Database | undefined;
  try {
    lock = new Database(path, { create: true });
    chmodSync(path, 0o600);
    lock.run("PRAGMA busy_timeout = 0");
    lock.run("BEGIN EXCLUSIVE");
    const held = lock;
    return { [Symbol.dispose]: () => held.close() };
  } catch (cause) {
    lock?.close();
    const code = (cause instanceof SQLiteError && cause.code) || "";
    if (code.startsWith("SQLITE_BUSY")) return undefined;
    if (!UNUSABLE.test(code)) throw cause;
    const advice = "It holds nothing: remove it, and the next start makes a new one.";
    throw new AppError("storage_unavailable", `${path} can't be locked (${code}). ${advice}`, { cause });
  }
}
