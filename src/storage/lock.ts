import { Database, SQLiteError } from "bun:sqlite";
import { chmodSync } from "node:fs";
import { join } from "node:path";

/**
 * Claims a data dir for this process: an exclusive transaction on `lock.db`, which the system frees at `kill -9`
 * (a pid file would lie then, and in containers). Returns `undefined` when another process has it. Another name is
 * another claim.
 */
export function lockDataDir(dataDir: string, name = "lock.db"): Disposable | undefined {
  const path = join(dataDir, name);
  const lock = new Database(path, { create: true });
  try {
    chmodSync(path, 0o600);
    lock.run("PRAGMA busy_timeout = 0");
    lock.run("BEGIN EXCLUSIVE");
    return { [Symbol.dispose]: () => lock.close() };
  } catch (cause) {
    lock.close();
    if (cause instanceof SQLiteError && cause.code?.startsWith("SQLITE_BUSY")) return undefined;
    throw cause;
  }
}
