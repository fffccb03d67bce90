import { CommandFailed } from "./terminal.ts";

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

/** The system's error code, where that is what failed. */
export function systemCode(cause: unknown): string | undefined {
  return cause instanceof Error && "code" in cause && typeof cause.code === "string" ? cause.code : undefined;
}

/** Says in one line that a file of the user's can't be used, and why; what is no such failure passes unchanged. */
export function fileFailure(what: string, cause: unknown): unknown {
  const code = systemCode(cause);
  if (code === undefined || cause instanceof CommandFailed) return cause;
  return new CommandFailed(`${what}: ${REASONS[code] ?? code}.`);
}
