import { hidesSomething } from "../schema/unprintable.ts";
import type { Place } from "./place.ts";
import { type Found, follow, isWithin } from "./real-paths.ts";

/** The part of the file system that a child may read unasked, as it is now: nothing of it is kept for a later call. */
export type Ground = {
  /** The working directory, without links. */
  start: string;
  /** What a path leads to from a directory; nothing where programs could read the path in more than one way. */
  look(path: string, from: string): Found | undefined;
  /** An existing file or directory that lies inside and is not private. */
  readable(path: string, from: string): Found | undefined;
  isInside(found: Found): boolean;
  isPrivate(found: Found): boolean;
  /** Whether reading all that is below it would read something private. */
  holdsPrivate(found: Found): boolean;
};

const MAX_PATH = 4_096;

/**
 * A private file is known by its identity, whatever path or hard link leads to it; of a private directory, a hard link
 * to a file in it is not.
 */
export function openGround(place: Place): Ground | undefined {
  const start = follow(place.workingDir);
  if (start?.kind !== "directory") return undefined;
  const added = place.addDirs.flatMap((path) => {
    const found = isPlain(path) ? follow(path) : undefined;
    return found?.kind === "directory" ? [found.real] : [];
  });
  const dirs = [start.real, ...added];
  const privates = place.privatePaths.map(privateOne);

  const look = (path: string, from: string) =>
    isPlain(path) ? follow(path.startsWith("/") ? path : `${from}/${path}`) : undefined;
  const isInside = ({ real }: Found) => dirs.some((dir) => isWithin(real, dir));
  const isPrivate = (found: Found) =>
    privates.some(
      ({ id, paths }) =>
        (id !== undefined && found.ids.includes(id)) || paths.some((path) => isWithin(folded(found.real), path)),
    );
  const holdsPrivate = (found: Found) => {
    const own = found.kind === "missing" ? undefined : found.ids.at(-1);
    return privates.some(
      ({ ids, paths }) =>
        (own !== undefined && ids.includes(own)) || paths.some((path) => isWithin(path, folded(found.real))),
    );
  };
  const readable = (path: string, from: string) => {
    const found = look(path, from);
    if (found?.kind !== "file" && found?.kind !== "directory") return undefined;
    return isInside(found) && !isPrivate(found) ? found : undefined;
  };
  return { start: start.real, look, readable, isInside, isPrivate, holdsPrivate };
}

/** For commands that run beside others that may change files: no path proves anything. */
export function blind({ start }: Ground): Ground {
  const nothing = () => undefined;
  return {
    start,
    look: nothing,
    readable: nothing,
    isInside: () => false,
    isPrivate: () => true,
    holdsPrivate: () => true,
  };
}

/** `paths` in lower case. */
type Private = { id: string | undefined; ids: readonly string[]; paths: string[] };

/** What can't be looked at is still private by its name. */
function privateOne(path: string): Private {
  const text = folded(path.length > 1 ? path.replace(/\/+$/, "") : path);
  try {
    const found = follow(path);
    if (!found) return { id: undefined, ids: [], paths: [text] };
    return {
      id: found.kind === "missing" ? undefined : found.ids.at(-1),
      ids: found.ids,
      paths: [text, folded(found.real)],
    };
  } catch {
    return { id: undefined, ids: [], paths: [text] };
  }
}

/** Some file systems take both cases for one name, and what does not exist yet has no identity to be known by. */
function folded(path: string): string {
  return path.toLowerCase();
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
