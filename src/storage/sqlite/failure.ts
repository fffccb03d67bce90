import { SQLiteError } from "bun:sqlite";
import { AppError } from "../../contract/refusals/errors.ts";

/** Explains in plain words why the database failed; returns any other error unchanged. */
export function storageError(cause: unknown): unknown {
  if (cause instanceof AppError) return cause;
  const code = codeOf(cause);
  const reason = REASONS.find(([prefix]) => code.startsWith(prefix))?.[1];
  if (reason) return new AppError("storage_unavailable", `${reason} Nothing was changed.`, { cause });
  if (
    cause instanceof SQLiteError ||
    (cause instanceof Error && /closed database|database (is|has) closed/i.test(cause.message))
  ) {
    return new AppError("storage_unavailable", `The database failed (${cause.message}). Nothing was changed.`, {
      cause,
    });
  }
  return cause;
}

/** Plexus never writes invalid JSON, so the file is corrupt. */
function codeOf(cause: unknown): string {
  if (cause instanceof SyntaxError) return "SQLITE_CORRUPT";
  return cause instanceof SQLiteError ? (cause.code ?? "") : "";
}

const FULL = "The disk that holds the data dir is full: free some space and try again.";
const REASONS: [string, string][] = [
  ["SQLITE_FULL", FULL],
  ["SQLITE_IOERR_SHMSIZE", FULL],
  ["SQLITE_READONLY", "The data dir is read-only: make it writable for the user that runs Plexus."],
  ["SQLITE_PERM", "The data dir may not be read: give it to the user that runs Plexus."],
  ["SQLITE_CANTOPEN", "plexus.db can't be opened: check that it is a file, and that the data dir is writable."],
  ["SQLITE_IOERR", "The disk that holds the data dir reports an error: check the disk and the system log."],
  ["SQLITE_CORRUPT", "The database is damaged: stop Plexus and restore plexus.db from a backup."],
  ["SQLITE_NOTADB", "plexus.db is not a database: stop Plexus and restore it from a backup."],
  ["SQLITE_BUSY", "Another program holds the database locked: close it and try again."],
  ["SQLITE_LOCKED", "Another program holds the database locked: close it and try again."],
];
