import type { ProgramCall } from "../programs/programs.ts";
import type { Word } from "../syntax/parsed-command.ts";
import type { ChangedPath } from "./changed-paths.ts";
import { type Directory, isTooLong, normalised } from "./paths.ts";

/** Where paths lead through links, by the path in full, as a command names it; `null` where that is not known. */
export type Links = ReadonlyMap<string, string | null>;
export const NO_LINKS: Links = new Map();

/** A path in which links are followed, and the names behind it. */
type Place = { path: string; behind: string };

/** No file system has a longer name. */
const MAX_NAME_CHARS = 255;
/** Programs whose words are no files. */
const PRINTERS = new Set(["echo", "printf", ":"]);
/** What is there is no file, or differs between processes. */
const UNREAL = /^\/(?:proc|dev|sys)(?:\/|$)/;
const WORKING_DIR = /^\$(?:PWD|\{PWD\})(?=\/|$)\/*/;
const HOME = /^(?:~|\$HOME|\$\{HOME\})(?=\/|$)/;
const URL = /^[a-z][\w+.-]*:\/\//i;
/** What stands before a path in an option, or in a field of a form: `--file=`, `@`, `name=@`. */
const BEFORE_PATH = /^[\w-]*[=:@]*@|^[\w-]+=/;
const UNKNOWN = /[$`*?[{<]/;

/** The paths that a command only names, of which each may be a file that it reads or runs. */
export function namedPaths({ program, words, redirects }: ProgramCall, changed: readonly ChangedPath[]): Word[] {
  const changedAt = Map.groupBy(changed, ({ pos }) => pos);
  // What is said in a link stands behind its directory.
  const isChanged = ({ pos, value }: Word) => changedAt.get(pos)?.some((path) => path.value.endsWith(value)) ?? false;
  const run = words.slice(0, 1).filter(({ value }) => value.includes("/"));
  const args = PRINTERS.has(program) ? [] : words.slice(1);
  const read = redirects.flatMap(({ writes, target, body }) => (target && !writes && !body ? [target] : []));
  return [...run, ...args, ...read].filter((word) => !isChanged(word)).flatMap(pathsIn);
}

/** Where links are followed in a path: whether in its last name, too, depends on what becomes of a changed one. */
export function placesOf(path: Word & Partial<ChangedPath>, directory: Directory): Place[] {
  const { value, isDynamic, effect = "content" } = path;
  const written = value.replace(WORKING_DIR, "").replace(HOME, "~");
  if (isTooLong(value) || (isDynamic && /^[$`<]/.test(written))) return [];
  const unknown = isDynamic ? written.search(UNKNOWN) : -1;
  if (unknown >= 0) return placed(written, written.lastIndexOf("/", unknown) + 1, directory);
  const whole = placed(written, written.length, directory);
  // The last name of `a/` and `a/..` is always followed.
  if (!["name", "destination"].includes(effect) || /(?:^|\/)\.{0,2}$/.test(written)) return whole;
  const above = placed(written, written.lastIndexOf("/") + 1, directory);
  // With a dot behind it, it is followed to a directory only.
  return effect === "name" ? above : [...above, ...placed(`${written}/.`, written.length + 2, directory)];
}

/** Links are followed in so many characters of the path. */
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

/** Where the words of a command really lead, if that is elsewhere, each once; and the words of which that is not known. */
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

/** A word, and what follows an option in it. */
function pathsIn(word: Word): Word[] {
  const values = new Set([word.value, word.value.replace(BEFORE_PATH, "")]);
  const isPath = (value: string) => value !== "" && !/^-|\n/.test(value) && !URL.test(value);
  return [...values].filter(isPath).map((value) => ({ ...word, value }));
}
