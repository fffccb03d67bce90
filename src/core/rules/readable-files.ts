import { hasInvisibleCharacters } from "../../contract/text/unprintable.ts";
import { type PrivateFiles, privateFiles } from "../../files/private-files.ts";
import { type Found, follow, isWithin, type SeenFiles } from "../../files/real-path.ts";
import type { ChildContext } from "./tool-call.ts";

/**
 * The files that a child may read without asking. It reflects the file system of this moment, so do not keep it for
 * later calls.
 */
export type ReadableFiles = PrivateFiles & {
  /** The working directory, with links resolved. */
  start: string;
  /**
   * The target of a path relative to a directory; `undefined` if programs could interpret the path in more than one
   * way.
   */
  find(path: string, from: string): Found | undefined;
  /** The target of an absolute path, even if programs could interpret it in more than one way. */
  follow(path: string): Found | undefined;
  /** The existing file or directory, if it is inside the child's directories and not private. */
  readable(path: string, from: string): Found | undefined;
  isInside(found: Found): boolean;
  /** Whether a rule forbids reading something below the working directory. */
  withholdsHere(): boolean;
};

const MAX_PATH = 4_096;
/** Shared by all paths of one call: a repository can make each path long with links. */
const MAX_STEPS = 10_000;

export function openReadableFiles(child: Omit<ChildContext, "supervision">): ReadableFiles | undefined {
  return filesSeenOnce(child)?.();
}

/**
 * Like `openReadableFiles`, for many calls checked together: looks up the directories, the private files and the
 * targets of paths only once.
 */
export function filesSeenOnce(
  child: Omit<ChildContext, "supervision">,
  seen?: SeenFiles,
): (() => ReadableFiles) | undefined {
  const start = follow(child.workingDir);
  if (start?.kind !== "directory") return undefined;
  const added = child.addDirs.flatMap((path) => {
    const found = isPlain(path) ? follow(path) : undefined;
    return found?.kind === "directory" ? [found.real] : [];
  });
  const dirs = [start.real, ...added];
  const { isPrivate, holdsPrivate } = withWithheld(privateFiles(child.privatePaths), child.withheld);
  const isInside = ({ real }: Found) => dirs.some((dir) => isWithin(dir, real));

  return () => {
    const budget = { steps: MAX_STEPS, ...seen };
    const within = (path: string) => follow(path, budget);
    const find = (path: string, from: string) =>
      isPlain(path) ? within(path.startsWith("/") ? path : `${from}/${path}`) : undefined;
    const readable = (path: string, from: string) => {
      const found = find(path, from);
      if (found?.kind !== "file" && found?.kind !== "directory") return undefined;
      return isInside(found) && !isPrivate(found) ? found : undefined;
    };
    return {
      ...{ start: start.real, find, follow: within, readable, isInside, isPrivate, holdsPrivate },
      // Computed on demand: it may visit every file.
      withholdsHere: () => child.withheld?.holdsPrivate(start) ?? false,
    };
  };
}

/** Whether a program on PATH could be the repository's own. */
export function hasOwnProgramsOnPath({ path }: Pick<ChildContext, "path">, files: ReadableFiles): boolean {
  return (path?.split(":") ?? []).some((dir) => {
    const found = dir.startsWith("/") ? follow(dir) : undefined;
    return !found || files.isInside(found);
  });
}

/** Combines the private paths with the files that rules withhold. */
function withWithheld(files: PrivateFiles, withheld: PrivateFiles | undefined): PrivateFiles {
  if (!withheld) return files;
  return {
    isPrivate: (found) => files.isPrivate(found) || withheld.isPrivate(found),
    holdsPrivate: (found) => files.holdsPrivate(found) || withheld.holdsPrivate(found),
  };
}

/** For commands that run beside others which may change files: no path proves anything, so nothing is readable. */
export function noReadableFiles({ start }: ReadableFiles): ReadableFiles {
  const nothing = () => undefined;
  return {
    start,
    find: nothing,
    follow: nothing,
    readable: nothing,
    isInside: () => false,
    isPrivate: () => true,
    holdsPrivate: () => true,
    withholdsHere: () => true,
  };
}

/**
 * Whether every program interprets the path in the same way: Claude Code trims it, composes its characters and expands
 * `~`; a shell resolves `link/..` by its text, the kernel by following the link.
 */
function isPlain(path: string): boolean {
  if (path === "" || path.length > MAX_PATH || path !== path.trim() || path !== path.normalize("NFC")) return false;
  if (path.startsWith("~") || hasInvisibleCharacters(path) || /[\t\n]/.test(path)) return false;
  const names = path.split("/").filter((name) => name !== "" && name !== ".");
  const down = names.findIndex((name) => name !== "..");
  const ups = names.filter((name) => name === "..").length;
  return ups === 0 || (!path.startsWith("/") && (down === -1 || down === ups));
}
