import { hasInvisibleCharacters } from "../../../contract/unprintable.ts";
import { isWithin } from "../../../files/real-path.ts";
import { runsLater } from "../../../review/shell/index.ts";

/** Names that control programs, besides those of files that run later. */
const CONTROL_NAMES = new Set([".hg", ".svn", ".githooks", ".gitattributes"]);
/** How many trailing names identify a control file such as `.config/systemd`, wherever it is. */
const TRAILING_NAMES = [1, 2, 3];
/** Each further `**` multiplies the time to match by the depth of the path. */
const MAX_DOUBLE_STARS = 2;
const MAX_PATTERN = 1_000;
const MAX_DEPTH = 200;

/** One name of a path. */
type Step = { name: string; isControl: boolean };

/**
 * Whether a pattern covers a real path, in Claude Code's spelling: `//etc/x` is absolute, `~/x` in the home directory,
 * `/x` and `./x` in the working directory, `x` anywhere below it; `*` within a name, `**` across directories. Links in a
 * pattern are not followed: a repository could lead them anywhere. No wildcard covers a file that controls programs; the
 * pattern must name it.
 */
export function coversPath(pattern: string, real: string, roots: { workingDir: string; home: string }): boolean {
  if (pattern.length > MAX_PATTERN || hasInvisibleCharacters(pattern) || /[[\]{}()!\\\t\n]/.test(pattern)) return false;
  const [root, rest] = rootOf(pattern, roots.workingDir, roots.home);
  const names = rest.split("/");
  if (names.some((name) => name !== "**" && name.includes("**"))) return false;
  if (names.filter((name) => name === "**").length > MAX_DOUBLE_STARS || !isWithin(root, real)) return false;
  if (real.split("/").length > MAX_DEPTH) return false;
  return matches(names, stepsAlong(real).slice(root === "/" ? 0 : root.split("/").length - 1));
}

function rootOf(pattern: string, workingDir: string, home: string): [root: string, rest: string] {
  if (pattern.startsWith("//")) return ["/", pattern.slice(2)];
  if (pattern.startsWith("~/")) return [home, pattern.slice(2)];
  if (pattern.startsWith("./")) return [workingDir, pattern.slice(2)];
  if (pattern.startsWith("/")) return [workingDir, pattern.slice(1)];
  return [workingDir, pattern.includes("/") ? pattern : `**/${pattern}`];
}

function matches(pattern: readonly string[], path: readonly Step[]): boolean {
  const [name, ...rest] = pattern;
  if (name === undefined) return path.length === 0;
  if (name === "**") {
    // At the end it covers what is below a directory, not the directory itself.
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

function stepsAlong(real: string): Step[] {
  const names = real.slice(1).split("/");
  return names.map((name, at) => ({ name, isControl: isControlFile(names.slice(0, at + 1)) }));
}

/** Whether the last name makes it the path of a file that controls programs. */
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

/** Takes time in proportion to both lengths, whatever the pattern: a star that was too short takes one character more. */
function matchesText(pattern: string, text: string): boolean {
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
