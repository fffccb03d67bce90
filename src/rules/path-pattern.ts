import { hidesSomething } from "../schema/unprintable.ts";

/** What programs take orders from: a wildcard does not reach it, only its own name in the pattern does. */
const STEERING = new Set(
  ".git .hg .svn .claude .mcp.json .vscode .idea .husky .githooks .gitmodules .gitattributes .gitconfig .envrc .bashrc .bash_profile .profile .zshrc .zshenv .zprofile .ssh CLAUDE.md CLAUDE.local.md".split(
    " ",
  ),
);
/** More than one `*` that can match anything takes time that grows with every further one. */
const MAX_DEEP = 2;
const MAX_PATTERN = 1_000;

/**
 * Whether a real path is covered by a pattern as Claude Code spells them: `//etc/x` is absolute, `~/x` in the home
 * directory, `/x` and `./x` in the working directory, `x` anywhere below it; `*` within a name, `**` across
 * directories. Links in a pattern are not followed: a repository could lead them anywhere.
 */
export function coversPath(pattern: string, real: string, roots: { workingDir: string; home: string }): boolean {
  const names = namesOf(pattern, roots);
  if (!names || names.filter((name) => name === "**").length > MAX_DEEP) return false;
  return matches(names, real.split("/").slice(1));
}

function namesOf(pattern: string, { workingDir, home }: { workingDir: string; home: string }): string[] | undefined {
  if (pattern.length > MAX_PATTERN || pattern !== pattern.trim() || hidesSomething(pattern)) return undefined;
  if (/[[\]{}()!\\\t\n]/.test(pattern)) return undefined;
  const [root, rest] = rootOf(pattern, workingDir, home);
  const names = rest.split("/");
  const isWhole = names.every((name) => name !== "" && name !== "." && name !== ".." && !/\*\*./.test(name));
  if (!isWhole || names.some((name) => name !== "**" && name.includes("**"))) return undefined;
  return [...root.split("/").filter((name) => name !== ""), ...names];
}

function rootOf(pattern: string, workingDir: string, home: string): [root: string, rest: string] {
  if (pattern.startsWith("//")) return ["", pattern.slice(2)];
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
      if (taken > 0 && STEERING.has(path[taken - 1] ?? "")) return false;
      if (taken >= least && matches(rest, path.slice(taken))) return true;
    }
    return false;
  }
  const [first, ...below] = path;
  return first !== undefined && matchesName(name, first) && matches(rest, below);
}

function matchesName(pattern: string, name: string): boolean {
  if (!/[*?]/.test(pattern)) return pattern === name;
  if (STEERING.has(name)) return false;
  const literal = (text: string) => text.replaceAll(/[.+^$|\\]/g, "\\$&").replaceAll("?", ".");
  return new RegExp(`^${pattern.split("*").map(literal).join(".*")}$`, "su").test(name);
}
