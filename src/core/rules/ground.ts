import { hidesSomething } from "../../contract/unprintable.ts";
import { type PrivateFiles, privateFiles } from "../../files/private-files.ts";
import { type Found, follow, isWithin } from "../../files/real-path.ts";
import type { Place } from "./place.ts";

/** The part of the file system that a child may read unasked, as it is now: nothing of it is kept for a later call. */
export type Ground = PrivateFiles & {
  /** The working directory, without links. */
  start: string;
  /** What a path leads to from a directory; nothing where programs could read the path in more than one way. */
  look(path: string, from: string): Found | undefined;
  /** What an absolute path leads to, however programs may read it. */
  follow(path: string): Found | undefined;
  /** An existing file or directory that lies inside and is not private. */
  readable(path: string, from: string): Found | undefined;
  isInside(found: Found): boolean;
};

const MAX_PATH = 4_096;
/** Of all paths of one call together: a repository can make each of them long with links. */
const MAX_STEPS = 10_000;

export function openGround(place: Place): Ground | undefined {
  const start = follow(place.workingDir);
  if (start?.kind !== "directory") return undefined;
  const added = place.addDirs.flatMap((path) => {
    const found = isPlain(path) ? follow(path) : undefined;
    return found?.kind === "directory" ? [found.real] : [];
  });
  const dirs = [start.real, ...added];
  const { isPrivate, holdsPrivate } = privateFiles(place.privatePaths);

  const budget = { steps: MAX_STEPS };
  const within = (path: string) => follow(path, budget);
  const look = (path: string, from: string) =>
    isPlain(path) ? within(path.startsWith("/") ? path : `${from}/${path}`) : undefined;
  const isInside = ({ real }: Found) => dirs.some((dir) => isWithin(dir, real));
  const readable = (path: string, from: string) => {
    const found = look(path, from);
    if (found?.kind !== "file" && found?.kind !== "directory") return undefined;
    return isInside(found) && !isPrivate(found) ? found : undefined;
  };
  return { start: start.real, look, follow: within, readable, isInside, isPrivate, holdsPrivate };
}

/** For commands that run beside others that may change files: no path proves anything. */
export function blind({ start }: Ground): Ground {
  const nothing = () => undefined;
  return {
    start,
    look: nothing,
    follow: nothing,
    readable: nothing,
    isInside: () => false,
    isPrivate: () => true,
    holdsPrivate: () => true,
  };
}

/**
 * Whether everybody reads the path alike: Claude Code trims it, composes its characters and expands `~`; a shell takes
 * `link/..` by its text, the kernel by where the link leads.
 */
function isPlain(path: string): boolean {
  if (path === "" || path.length > MAX_PATH || path !== path.trim() || path !== path.normalize("NFC")) return false;
  if (path.startsWith("~") || hidesSomething(path) || /[\t\n]/.test(path)) return false;
  const names = path.split("/").filter((name) => name !== "" && name !== ".");
  const down = names.findIndex((name) => name !== "..");
  const ups = names.filter((name) => name === "..").length;
  return ups === 0 || (!path.startsWith("/") && (down === -1 || down === ups));
}
