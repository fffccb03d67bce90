import type { ProgramCall } from "../programs/programs.ts";
import type { Word } from "../syntax/parsed-command.ts";
import type { ChangedPath } from "./changed-paths.ts";
import { type Directory, isTooLong, normalised } from "./paths.ts";

/** The real path of each absolute path, with links followed; `null` if it is unknown. */
export type Links = ReadonlyMap<string, string | null>;
export const NO_LINKS: Links = new Map();

/** A path whose links are followed, and the names after it, which are appended as written. */
type Place = { path: string; behind: string };

/** File systems don't allow longer names. */
const MAX_NAME_CHARS = 255;
/** Programs whose arguments are not files. */
const PRINTERS = new Set(["echo", "printf", ":"]);
/** Paths below these are not files, or differ between processes. */
const UNREAL = /^\/(?:proc|dev|sys)(?:\/|$)/;
const WORKING_DIR = /^\$(?:PWD|\{PWD\})(?=\/|$)\/*/;
const HOME = /^(?:~|\$HOME|\$\{HOME\})(?=\/|$)/;
const URL = /^[a-z][\w+.-]*:\/\//i;
/** The text before a path in an option or a form's field: `--file=`, `@`, `name=@`. */
const BEFORE_PATH = /^[\w-]*[=:@]*@|^[\w-]+=/;
const UNKNOWN = /[$`*?[{<]/;

/** Returns the paths that a command names without changing them; it may read or run each of them. */
export function namedPaths({ program, words, redirects }: ProgramCall, changed: readonly ChangedPath[]): Word[] {
  const changedAt = Map.groupBy(changed, ({ pos }) => pos);
  // A link's target is prefixed with the link's directory, so compare only the end.
  const isChanged = ({ pos, value }: Word) => changedAt.get(pos)?.some((path) => path.value.endsWith(value)) ?? false;
  const run = words.slice(0, 1).filter(({ value }) => value.includes("/"));
  const args = PRINTERS.has(program) ? [] : words.slice(1);
  const read = redirects.flatMap(({ writes, target, body }) => (target && !writes && !body ? [target] : []));
  return [...run, ...args, ...read].filter((word) => !isChanged(word)).flatMap(pathsIn);
}

/** Returns the parts of a path whose links are followed; the last name depends on the effect on a changed path. */
export function placesOf(path: Word & Partial<ChangedPath>, directory: Directory): Place[] {
  const { value, isDynamic, effect = "content" } = path;
  const written = value.replace(WORKING_DIR, "").replace(HOME, "~");
  if (isTooLong(value) || (isDynamic && /^[$`<]/.test(written))) return [];
  const unknown = isDynamic ? written.search(UNKNOWN) : -1;
  if (unknown >= 0) return placed(written, written.lastIndexOf("/", unknown) + 1, directory);
  const whole = placed(written, written.length, directory);
  // In `a/` and `a/..`, links in the last name are always followed.
  if (!["name", "destination"].includes(effect) || /(?:^|\/)\.{0,2}$/.test(written)) return whole;
  const above = placed(written, written.lastIndexOf("/") + 1, directory);
  // With `/.` appended, a link is followed only to a directory.
  return effect === "name" ? above : [...above, ...placed(`${written}/.`, written.length + 2, directory)];
}

/** Follows links in the first `length` characters of the path. */
function placed(written: string, length: number, { workingDir, at }: Directory): Place[] {
  const followed = written.slice(0, length);
  const isRelative = !/^[/~]/.test(followed);
  if (workingDir === null || /^~[^/]/.test(followed)) return [];
  // The working directory itself is a real path.
  if (isRelative && at === workingDir && /^(?:\.\/)*\.?$/.test(followed)) return [];
  const path = isRelative ? `${at}/${followed}` : followed;
  const isFile = path.split("/").every((name) => name.length <= MAX_NAME_CHARS) && !UNREAL.test(normalised(path));
  return isFile ? [{ path, behind: written.slice(length) }] : [];
}

/** The real paths of a command's words, if they differ, each once; and the words whose real path is unknown. */
type Followed = { named: Word[]; changed: ChangedPath[]; lost: string[] };

export function followed(
  command: ProgramCall,
  changed: readonly ChangedPath[],
  directory: Directory,
  links: Links,
): Followed {
  const lost: string[] = [];
  if (links.size === 0) return { named: [], changed: [], lost };
  const real = <W extends Word>(word: W) => realWords(word, directory, links, lost);
  const named = namedPaths(command, changed).flatMap(real);
  return {
    named: [...new Map(named.map((word) => [word.value, word])).values()],
    changed: [...new Map(changed.flatMap(real).map((path) => [`${path.effect} ${path.value}`, path])).values()],
    lost,
  };
}

function realWords<W extends Word>(word: W, directory: Directory, links: Links, lost: string[]): W[] {
  return placesOf(word, directory).flatMap(({ path, behind }) => {
    const real = links.get(path);
    if (real === null) lost.push(word.value);
    if (real === undefined || real === null) return [];
    const value = behind === "" ? real : `${real === "/" ? "" : real}/${behind}`;
    return [{ ...word, value, text: value }];
  });
}

/** Returns the word, and the part after an option's name. */
function pathsIn(word: Word): Word[] {
  const values = new Set([word.value, word.value.replace(BEFORE_PATH, "")]);
  const isPath = (value: string) => value !== "" && !/^-|\n/.test(value) && !URL.test(value);
  return [...values].filter(isPath).map((value) => ({ ...word, value }));
}
