import { type Found, isWithin } from "../../../files/real-path.ts";
import { runsLater } from "../../../review/shell/index.ts";
import type { Ground } from "../ground.ts";

/** No file system takes a longer one. */
const MAX_NAME = 255;
/** So that looking them all up takes no time that anybody notices. */
const MAX_PATHS = 500;
const MAX_CHARS = 50_000;
/** A home directory to some programs; and a place by its text to some, by its links to others. */
const AMBIGUOUS = /^~|(?:^|\/)\.\.(?:\/|$)/;

/** Whether a word, or what could be a path in it, leads to something private, or to a directory that holds it. */
export function namesPrivate(words: readonly string[], ground: Ground): boolean {
  return words.some((word) =>
    pathsIn(word).some((path) => {
      if (path === "/dev/null" || isTooLong(path)) return false;
      const found = ground.follow(fullPath(path, ground));
      // What can't be followed may lead anywhere.
      return !found || ground.isPrivate(found) || ground.holdsPrivate(found);
    }),
  );
}

/**
 * Whether all that could be a path in these words is known to lead where it says: not to something private, through no
 * link out of the working directory, and to nothing that runs later on.
 */
export function staysPut(words: readonly string[], ground: Ground, mayRunLater: boolean): boolean {
  const paths = words.flatMap(pathsIn);
  if (paths.length > MAX_PATHS || paths.join("").length > MAX_CHARS) return false;
  return paths.every((path) => isOrdinary(path, ground, mayRunLater));
}

function isOrdinary(path: string, ground: Ground, mayRunLater: boolean): boolean {
  if (path === "/dev/null") return true;
  if (AMBIGUOUS.test(path)) return false;
  if (isTooLong(path)) return true;
  const full = fullPath(path, ground);
  const found = ground.follow(full);
  if (!found || ground.isPrivate(found) || ground.holdsPrivate(found)) return false;
  const isLinked = found.real !== withoutDots(full);
  if (isLinked && !isWithin(ground.start, found.real)) return false;
  return (mayRunLater && !isLinked) || !steers(found, ground);
}

/** Whether a word, or what could be a path in it, is a directory that exists. */
export function namesDirectory(words: readonly string[], ground: Ground): boolean {
  return words.some((word) =>
    pathsIn(word).some((path) => !isTooLong(path) && ground.follow(fullPath(path, ground))?.kind === "directory"),
  );
}

/** The word, what stands between its signs, and what follows each letter of a cluster of options: `-vf/etc/x`. */
function pathsIn(word: string): string[] {
  const pieces = [word, ...word.split(/[=:@,;|<>()[\]{}"']/)].flatMap((piece) => [piece, piece.trim()]);
  return [
    ...new Set(pieces.flatMap((piece) => (piece.startsWith("-") ? tailsOf(piece) : piece === "" ? [] : [piece]))),
  ];
}

function tailsOf(option: string): string[] {
  const letters = /^-\w*/.exec(option)?.[0].length ?? 0;
  return Array.from({ length: letters }, (_, at) => option.slice(at + 1)).filter((tail) => /^[^-]/.test(tail));
}

function isTooLong(path: string): boolean {
  return path.split("/").some((name) => name.length > MAX_NAME);
}

function fullPath(path: string, { start }: Ground): string {
  return path.startsWith("/") ? path : `${start}/${path}`;
}

function withoutDots(path: string): string {
  return `/${path
    .split("/")
    .filter((name) => name !== "" && name !== ".")
    .join("/")}`;
}

function steers({ real }: Found, { start }: Ground): boolean {
  return runsLater(isWithin(start, real) ? real.slice(start.length + 1) : real);
}
