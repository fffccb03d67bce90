import type { SimpleCommand, Word } from "../syntax/parsed-command.ts";

/** The location of a path, relative to the command's starting directory. */
type Location = "inside" | "temporary" | "device" | "outside";

/** Systems don't accept longer paths, and checking one would take long. */
const MAX_PATH_CHARS = 4_096;
/** The message for such a path, a verb phrase that follows "it". */
export const TOO_LONG = "names a path that is too long to check";
const HOME = /^(~[^/]*|\$HOME|\$\{HOME\})(?=\/|$)/;
const TEMPORARY = /^(\/tmp|\/var\/tmp|\/private\/tmp|\$TMPDIR|\$\{TMPDIR\})(\/|$)/;
const HARMLESS_DEVICE = /^\/dev\/(null|zero|u?random|stdin|stdout|stderr|tty|fd\/\d+)$/;

/** Returns the part of a word that may be a path: all of it, or the part after the `=` of an option. */
export function pathIn({ value }: Pick<Word, "value">): string | undefined {
  const candidate = /^-{0,2}[\w-]+=(.+)$/.exec(value)?.[1] ?? value;
  if (/^[a-z][\w+.-]*:\/\//i.test(candidate) || candidate.startsWith("-")) return undefined;
  const isPath = candidate.includes("/") || HOME.test(candidate) || candidate === ".." || candidate === ".";
  return isPath ? candidate : undefined;
}

export function isTooLong(path: string): boolean {
  return path.length > MAX_PATH_CHARS;
}

/** Whether it begins with the home directory, in any spelling. */
export function isBelowHome(path: string): boolean {
  return HOME.test(path);
}

/** The current directory: a real path, or one below the unknown directory in which the command starts. */
export type Directory = { workingDir: string | null; at: string };

/** Returns a path relative to the working directory, or absolute if it is outside. */
export function fromWorkingDir(path: string, { workingDir, at }: Directory): string {
  if (HOME.test(path) || path.startsWith("$")) return normalised(`/${path}`).slice(1);
  const full = normalised(path.startsWith("/") ? path : `${at}/${path}`);
  const root = workingDir ?? START;
  return full.startsWith(`${root}/`) ? full.slice(root.length + 1) : full;
}

export function locate(path: string, { workingDir, at }: Directory): Location {
  if (HARMLESS_DEVICE.test(path)) return "device";
  if (HOME.test(path)) return "outside";
  const full = normalised(path.startsWith("/") || path.startsWith("$") ? path : `${at}/${path}`);
  const root = workingDir ?? START;
  if (full === root || full.startsWith(root === "/" ? "/" : `${root}/`)) return "inside";
  return TEMPORARY.test(full) ? "temporary" : "outside";
}

/** Placeholder for an unknown working directory. */
const START = "/\u0000start";

export function startIn(workingDir: string | null): Directory {
  if (workingDir === null) return { workingDir, at: START };
  const at = normalised(workingDir);
  return { workingDir: at, at };
}

/** Placeholder for a directory that is known only at run time. */
const SOMEWHERE = "/somewhere";

export function isUnknown({ at }: Directory): boolean {
  return at === SOMEWHERE || at.startsWith(`${SOMEWHERE}/`);
}

/** Returns the current directory after this command; `cd` to an unknown target counts as outside. */
export function after({ words }: Pick<SimpleCommand, "words">, directory: Directory): Directory {
  const [program, ...rest] = words;
  if (program?.value !== "cd" && program?.value !== "pushd") return directory;
  const target = rest.find(({ value }) => !value.startsWith("-"));
  if (!target || target.isDynamic || HOME.test(target.value) || rest.some(({ value }) => value === "-"))
    return { ...directory, at: SOMEWHERE };
  const { value } = target;
  const at = normalised(value.startsWith("/") ? value : `${directory.at}/${value}`);
  return { ...directory, at: isTooLong(at) ? SOMEWHERE : at };
}

/** Removes `.`, `..` and doubled slashes, without following links. */
export function normalised(path: string): string {
  const kept: string[] = [];
  for (const segment of path.split("/")) {
    if (segment === "..") kept.pop();
    else if (segment !== "" && segment !== ".") kept.push(segment);
  }
  return path.startsWith("$") ? kept.join("/") : `/${kept.join("/")}`;
}
