import { hasInvisibleCharacters } from "../../../../contract/text/unprintable.ts";
import { isWithin } from "../../../../files/real-path.ts";
import { runsLater } from "../../../../review/shell/index.ts";

/** Names of files that control programs, besides the files that `runsLater` knows. */
const CONTROL_NAMES = new Set([".hg", ".svn", ".githooks", ".gitattributes"]);
/** The numbers of trailing names that can identify a control file, such as `.config/systemd`, in any directory. */
const TRAILING_NAMES = [1, 2, 3];
/** Each further `**` multiplies the time of a match by the depth of the path. */
const MAX_DOUBLE_STARS = 2;
const MAX_PATTERN = 1_000;
const MAX_DEPTH = 200;

type Step = { name: string; isControl: boolean };

/**
 * A pattern in Claude Code's spelling: `//etc/x` is absolute, `~/x` in the home directory, `/x` and `./x` in the
 * working directory, `x` anywhere below it. `*` stands for any part of a name, `**` for any directories.
 */
export type PathPattern = { root: "absolute" | "home" | "working" | "below"; names: readonly string[] };
export type Roots = { workingDir: string; home: string };

export function readPathPattern(text: string): PathPattern | undefined {
  if (text.length > MAX_PATTERN || hasInvisibleCharacters(text) || /[[\]{}()!\\\t\n]/.test(text)) return undefined;
  const { root, rest } = rootOf(text);
  const names = rest.split("/");
  if (names.some((name) => name !== "**" && name.includes("**"))) return undefined;
  return names.filter((name) => name === "**").length > MAX_DOUBLE_STARS ? undefined : { root, names };
}

/** Whether the pattern could cover any path: no real path contains an empty name, `.` or `..`. */
export function mayCoverPath(text: string): boolean {
  return !(readPathPattern(text)?.names ?? [""]).some((name) => ["", ".", ".."].includes(name));
}

/**
 * Whether a pattern covers a real path. Links in a pattern are not followed: a repository could lead them anywhere. No
 * wildcard covers a file that controls programs, or one for which `isKept` holds; the pattern must name it.
 */
export function coversPath(pattern: PathPattern, real: string, roots: Roots, isKept: IsKept = () => false): boolean {
  return matchedBy(isTooDeep(real) ? undefined : stepsAlong(real, isKept), real, roots)(pattern);
}

type IsKept = (path: string) => boolean;

/** The positions of names in a real path that no wildcard covers; `undefined` for a path that nothing covers. */
export function controlNames(real: string, isKept: IsKept): number[] | undefined {
  if (isTooDeep(real)) return undefined;
  return stepsAlong(real, isKept).flatMap(({ isControl }, at) => (isControl ? [at] : []));
}

/** Returns a check of whether patterns cover a path, given the positions of its control names. */
export function coveredNames(real: string, controls: readonly number[], roots: Roots) {
  const names = real.slice(1).split("/");
  const steps = names.map((name, at) => ({ name, isControl: controls.includes(at) }));
  return matchedBy(steps, real, roots);
}

/** Whether a pattern seems to cover a path to someone who forgets about files that control programs. */
export function seemsToCover(pattern: PathPattern, path: string, roots: Roots): boolean {
  const names = path.slice(1).split("/");
  const steps = names.map((name) => ({ name, isControl: false }));
  return !isTooDeep(path) && matchedBy(steps, path, roots)(pattern);
}

function isTooDeep(path: string): boolean {
  return path.split("/").length > MAX_DEPTH;
}

function matchedBy(steps: readonly Step[] | undefined, real: string, { workingDir, home }: Roots) {
  const below = (start: string) =>
    isWithin(start, real) ? steps?.slice(start === "/" ? 0 : start.split("/").length - 1) : undefined;
  const paths = { absolute: steps, home: below(home), working: below(workingDir), below: below(workingDir) };
  return ({ root, names }: PathPattern): boolean => {
    const path = paths[root];
    return path !== undefined && matches(names, path);
  };
}

function rootOf(text: string): { root: PathPattern["root"]; rest: string } {
  if (text.startsWith("//")) return { root: "absolute", rest: text.slice(2) };
  if (text.startsWith("~/")) return { root: "home", rest: text.slice(2) };
  if (text.startsWith("./")) return { root: "working", rest: text.slice(2) };
  if (text.startsWith("/")) return { root: "working", rest: text.slice(1) };
  return text.includes("/") ? { root: "working", rest: text } : { root: "below", rest: `**/${text}` };
}

function matches(pattern: readonly string[], path: readonly Step[]): boolean {
  const [name, ...rest] = pattern;
  if (name === undefined) return path.length === 0;
  if (name === "**") {
    // A `**` at the end covers everything below a directory, but not the directory itself.
    const least = rest.length === 0 ? 1 : 0;
    for (let taken = 0; taken <= path.length; taken++) {
      if (taken > 0 && path[taken - 1]?.isControl) return false;
      if (taken >= least && matches(rest, path.slice(taken))) return true;
    }
    return false;
  }
  const [first, ...below] = path;
  return first !== undefined && matchesStep(name, first) && matches(rest, below);
}

function stepsAlong(real: string, isKept: (path: string) => boolean): Step[] {
  const names = real.slice(1).split("/");
  return names.map((name, at) => {
    const path = names.slice(0, at + 1);
    return { name, isControl: isControlFile(path) || isKept(`/${path.join("/")}`) };
  });
}

/** Whether the last name, and not a directory above it, makes the path that of a file that controls programs. */
function isControlFile(path: readonly string[]): boolean {
  // Some file systems ignore case.
  if (CONTROL_NAMES.has(path.at(-1)?.toLowerCase() ?? "")) return true;
  const ends = [...TRAILING_NAMES.map((count) => path.slice(-count)), ["", ...path]];
  return ends.some((names) => runsLater(names.join("/")) && !runsLater(names.slice(0, -1).join("/")));
}

function matchesStep(pattern: string, { name, isControl }: Step): boolean {
  if (!/[*?]/.test(pattern)) return pattern === name;
  return !isControl && matchesText(pattern, name);
}

/**
 * Never backtracks further than the last star, which then takes one more character. So the time is bounded by the
 * product of both lengths.
 */
export function matchesText(pattern: string, text: string): boolean {
  let star = -1;
  let starred = 0;
  let next = 0;
  for (let at = 0; at < text.length; ) {
    if (pattern[next] === "*") {
      star = next++;
      starred = at;
    } else if (pattern[next] === "?" || pattern[next] === text[at]) {
      next++;
      at++;
    } else if (star < 0) return false;
    else {
      next = star + 1;
      at = ++starred;
    }
  }
  return /^\**$/.test(pattern.slice(next));
}
