import { hidesSomething } from "../../../contract/unprintable.ts";
import { isWithin } from "../../../files/real-path.ts";
import { runsLater } from "../../../review/shell/index.ts";

/** What programs take orders from, beside what runs later on. */
const STEERING = new Set([".hg", ".svn", ".githooks", ".gitattributes"]);
/** So many names tell a place like `.config/systemd`, wherever it lies. */
const TELLING_NAMES = [1, 2, 3];
/** With every further `**` the time to compare grows by the depth of the path. */
const MAX_DEEP = 2;
const MAX_PATTERN = 1_000;
const MAX_DEPTH = 200;

/** One name of a path. */
type Step = { name: string; isSteering: boolean };

/**
 * Whether a real path is covered by a pattern as Claude Code spells them: `//etc/x` is absolute, `~/x` in the home
 * directory, `/x` and `./x` in the working directory, `x` anywhere below it; `*` within a name, `**` across
 * directories. Links in a pattern are not followed: a repository could lead them anywhere. No wildcard reaches what
 * programs take orders from, only its own name in the pattern does.
 */
export function coversPath(pattern: string, real: string, roots: { workingDir: string; home: string }): boolean {
  if (pattern.length > MAX_PATTERN || hidesSomething(pattern) || /[[\]{}()!\\\t\n]/.test(pattern)) return false;
  const [root, rest] = rootOf(pattern, roots.workingDir, roots.home);
  const names = rest.split("/");
  if (names.some((name) => name !== "**" && name.includes("**"))) return false;
  if (names.filter((name) => name === "**").length > MAX_DEEP || !isWithin(root, real)) return false;
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
    // At the end it covers what is below a directory, not the directory.
    const least = rest.length === 0 ? 1 : 0;
    for (let taken = 0; taken <= path.length; taken++) {
      if (taken > 0 && path[taken - 1]?.isSteering) return false;
      if (taken >= least && matches(rest, path.slice(taken))) return true;
    }
    return false;
  }
  const [first, ...below] = path;
  return first !== undefined && matchesStep(name, first) && matches(rest, below);
}

function stepsAlong(real: string): Step[] {
  const names = real.slice(1).split("/");
  return names.map((name, at) => ({ name, isSteering: isSteering(names.slice(0, at + 1)) }));
}

/** Whether the last name is what makes it a path that programs take orders from. */
function isSteering(path: readonly string[]): boolean {
  // In any case: some file systems don't tell them apart.
  if (STEERING.has(path.at(-1)?.toLowerCase() ?? "")) return true;
  const ends = [...TELLING_NAMES.map((count) => path.slice(-count)), ["", ...path]];
  return ends.some((names) => runsLater(names.join("/")) && !runsLater(names.slice(0, -1).join("/")));
}

function matchesStep(pattern: string, { name, isSteering }: Step): boolean {
  if (!/[*?]/.test(pattern)) return pattern === name;
  return !isSteering && matchesText(pattern, name);
}

/** In time that grows with both lengths, whatever the pattern: a star that was too short takes one character more. */
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
