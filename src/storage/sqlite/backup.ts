import { Database, SQLiteError } from "bun:sqlite";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { AppError } from "../../contract/refusals/errors.ts";
import { storageError } from "./failure.ts";

/**
 * Copies the database of a data dir, as of one moment, into an empty file. It reads over its own connection, so a
 * running server continues to write and doesn't wait for it.
 */
export function copyDatabase(dataDir: string, file: string): void {
  const path = join(dataDir, "plexus.db");
  if (!existsSync(path)) throw refusal(`There is no plexus.db in ${dataDir}: is it the right --data-dir?`);
  try {
    using source = new Database(path, { readonly: true });
    source.run("PRAGMA busy_timeout = 5000");
    source.query("VACUUM INTO ?").run(file);
  } catch (cause) {
    throw isOfTheTarget(cause)
      ? refusal("The disk that is to hold the backup is full, or fails.", cause)
      : storageError(cause);
  }
  checkCopy(file);
}

/** Reading the source writes nothing, so a full disk is the target's. */
function isOfTheTarget(cause: unknown): boolean {
  return cause instanceof SQLiteError && /^SQLITE_(FULL|IOERR_(WRITE|FSYNC|TRUNCATE))/.test(cause.code ?? "");
}

/** Checks the copy, so that a damaged one never replaces a good backup. */
function checkCopy(file: string): void {
  using copy = new Database(file, { readonly: true });
  const found = copy.query<{ quick_check: string }, []>("PRAGMA quick_check").get();
  if (found?.quick_check === "ok") return;
  throw refusal(`The database is damaged (${found?.quick_check}): stop Plexus and restore an earlier backup.`);
}

function refusal(message: string, cause?: unknown): AppError {
  return new AppError("storage_unavailable", `${message} No backup was made.`, { cause });
}
