import { type Found, isWithin } from "../../../../files/real-path.ts";
import { runsLater } from "../../../../review/shell/index.ts";
import type { ReadableFiles } from "../../readable-files.ts";

/** No file system accepts a longer name. */
const MAX_NAME = 255;
/** Limits the time for looking up all paths. */
const MAX_PATHS = 500;
const MAX_CHARS = 50_000;
/** Some programs expand `~`; some resolve `..` by its text, others by following links. */
const AMBIGUOUS = /^~|(?:^|\/)\.\.(?:\/|$)/;

/** Whether a word, or a possible path in it, leads to something private or to a directory that contains it. */
export function namesPrivate(words: readonly string[], files: ReadableFiles): boolean {
  return [...new Set(words)].some((word) =>
    pathsIn(word).some((path) => {
      if (path === "/dev/null" || isTooLong(path)) return false;
      const found = files.follow(fullPath(path, files));
      // A path that can't be followed may lead anywhere.
      return !found || files.isPrivate(found) || files.holdsPrivate(found);
    }),
  );
}

/**
 * Whether every possible path in these words is safe: it leads to nothing private, not through a link out of the
 * working directory, and not to a file that another program runs later.
 */
export function areSafePaths(words: readonly string[], files: ReadableFiles, mayRunLater: boolean): boolean {
  const paths = words.flatMap(pathsIn);
  if (paths.length > MAX_PATHS || paths.join("").length > MAX_CHARS) return false;
  return [...new Set(paths)].every((path) => isSafePath(path, files, mayRunLater));
}

function isSafePath(path: string, files: ReadableFiles, mayRunLater: boolean): boolean {
  if (path === "/dev/null") return true;
  if (AMBIGUOUS.test(path)) return false;
  if (isTooLong(path)) return true;
  const full = fullPath(path, files);
  const found = files.follow(full);
  if (!found || files.isPrivate(found) || files.holdsPrivate(found)) return false;
  const isLinked = found.real !== withoutDots(full);
  if (isLinked && !isWithin(files.start, found.real)) return false;
  return (mayRunLater && !isLinked) || !isRunLater(found, files);
}

/** Whether a word, or a possible path in it, is an existing directory. */
export function namesDirectory(words: readonly string[], files: ReadableFiles): boolean {
  return words.some((word) =>
    pathsIn(word).some((path) => !isTooLong(path) && files.follow(fullPath(path, files))?.kind === "directory"),
  );
}

/** Whether one of the words, taken as a whole, is the path of an existing file. */
export function namesExisting(words: readonly string[], files: ReadableFiles): boolean {
  return words.some(
    (word) => word !== "" && !isTooLong(word) && files.follow(fullPath(word, files))?.kind !== "missing",
  );
}

/** Whether a word may name a repository: git also tries `x.git` and `x/.git`, and a file can point to one. */
export function namesRepository(words: readonly string[], files: ReadableFiles): boolean {
  return words.some((word) =>
    pathsIn(word)
      .flatMap((path) => [path, `${path}.git`])
      .some((path) => !isTooLong(path) && files.follow(fullPath(path, files))?.kind !== "missing"),
  );
}

/** Whether a word, or a possible path in it, is an absolute path that leads out of the child's directories. */
export function namesOutside(words: readonly string[], files: ReadableFiles): boolean {
  return words.some((word) =>
    pathsIn(word).some((path) => {
      if (!path.startsWith("/") || path === "/dev/null" || isTooLong(path)) return false;
      // A part of an address or of a text may begin with a slash too.
      const [top = ""] = path.split("/").filter((name) => name !== "");
      if (path !== word && files.follow(`/${top}`)?.kind === "missing") return false;
      const found = files.follow(path);
      return !found || !files.isInside(found);
    }),
  );
}

/** The word, its parts between punctuation, and the rest after each letter of clustered options, as in `-vf/etc/x`. */
export function pathsIn(word: string): string[] {
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

function fullPath(path: string, { start }: ReadableFiles): string {
  return path.startsWith("/") ? path : `${start}/${path}`;
}

function withoutDots(path: string): string {
  return `/${path
    .split("/")
    .filter((name) => name !== "" && name !== ".")
    .join("/")}`;
}

function isRunLater({ real }: Found, { start }: ReadableFiles): boolean {
  return runsLater(isWithin(start, real) ? real.slice(start.length + 1) : real);
}
