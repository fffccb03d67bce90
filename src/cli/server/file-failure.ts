import { CommandFailed } from "../terminal/terminal.ts";

const REASONS: Record<string, string> = {
  EACCES: "permission denied",
  EPERM: "permission denied",
  EROFS: "the file system is read-only",
  ENOENT: "no such file or directory",
  ENOTDIR: "a part of the path is not a directory",
  EISDIR: "it is a directory",
  ELOOP: "too many symbolic links",
  ENOSPC: "the disk is full",
};

/** The system's error code, such as ENOENT; `undefined` for errors that do not come from the system. */
export function systemCode(cause: unknown): string | undefined {
  const code = cause instanceof Error && "code" in cause ? cause.code : undefined;
  return typeof code === "string" && /^E[A-Z0-9]+$/.test(code) ? code : undefined;
}

/** Turns a system error about a user's file into one line. Other errors pass unchanged. */
export function fileFailure(what: string, cause: unknown): unknown {
  const code = systemCode(cause);
  if (code === undefined) return cause;
  const path = pathIn(cause);
  return new CommandFailed(`${what}: ${REASONS[code] ?? code}${path && ` (${path})`}.`);
}

/** For a rename, the target is the path in the way. */
function pathIn(cause: unknown): string {
  if (!(cause instanceof Error)) return "";
  if ("dest" in cause && typeof cause.dest === "string") return cause.dest;
  return "path" in cause && typeof cause.path === "string" ? cause.path : "";
}
