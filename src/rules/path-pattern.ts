import { hidesSomething } from "../schema/unprintable.ts";
import { isWithin } from "./real-paths.ts";

/** What programs take orders from: a wildcard does not reach it, only its own name in the pattern does. */
const STEERING = new Set(
  ".git .hg .svn .claude .mcp.json .vscode .idea .husky .githooks .gitmodules .gitattributes .gitconfig .envrc .bashrc .bash_profile .profile .zshrc .zshenv .zprofile .ssh claude.md claude.local.md".split(
    " ",
  ),
);
/** With every further `**` the time to compare grows by the depth of the path. */
const MAX_DEEP = 2;
const MAX_PATTERN = 1_000;

/**
 * Whether a real path is covered by a pattern as Claude Code spells them: `//etc/x` is absolute, `~/x` in the home
 * directory, `/x` and `./x` in the working directory, `x` anywhere below it; `*` within a name, `**` across
 * directories. Links in a pattern are not followed: a repository could lead them anywhere.
 */
export function coversPath(pattern: string, real: string, roots: { workingDir: string; home: string }): boolean {
  if (pattern.length > MAX_PATTERN || hidesSomething(pattern) || /[[\]{}()!\\\t\n]/.test(pattern)) return false;
  const [root, rest] = rootOf(pattern, roots.workingDir, roots.home);
  const names = rest.split("/");
  if (names.some((name) => name !== "**" && name.includes("**"))) return false;
  if (names.filter((name) => name === "**").length > MAX_DEEP || !isWithin(real, root)) return false;
  return matches(names, real.slice(root === "/" ? 1 : root.length + 1).split("/"));
}

function rootOf(pattern: string, workingDir: string, home: string): [root: string, rest: string] {
  if (pattern.startsWith("//")) return ["/", pattern.slice(2)];
  if (pattern.startsWith("~/")) return [home, pattern.slice(2)];
  if (pattern.startsWith("./")) return [workingDir, pattern.slice(2)];
  if (pattern.startsWith("/")) return [workingDir, pattern.slice(1)];
  return [workingDir, pattern.includes("/") ? pattern : `**/${pattern}`];
}

function matches(pattern: readonly string[], path: readonly string[]): boolean {
  const [name, ...rest] = pattern;
  if (name === undefined) return path.length === 0;
  if (name === "**") {
    // At the end it covers what is below a directory, not the directory.
    const least = rest.length === 0 ? 1 : 0;
    for (let taken = 0; taken <= path.length; taken++) {
      if (taken > 0 && isSteering(path[taken - 1] ?? "")) return false;
      if (taken >= least && matches(rest, path.slice(taken))) return true;
    }
    return false;
  }
  const [first, ...below] = path;
  return first !== undefined && matchesName(name, first) && matches(rest, below);
}

/** In any case: some file systems don't tell them apart. */
function isSteering(name: string): boolean {
  return STEERING.has(name.toLowerCase());
}

function matchesName(pattern: string, name: string): boolean {
  if (!/[*?]/.test(pattern)) return pattern === name;
  return !isSteering(name) && matchesText(pattern, name);
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
