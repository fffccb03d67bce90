import { hasInvisibleCharacters } from "../../../../contract/text/unprintable.ts";
import { type Found, follow, isWithin } from "../../../../files/real-path.ts";
import { holdsSecrets } from "../../../../review/shell/index.ts";
import { fileOf, searchRoot } from "../../file-tools.ts";
import type { ReadableFiles } from "../../readable-files.ts";
import type { ToolCall } from "../../tool-call.ts";
import { EDITORS, SEARCHERS } from "../../tool-kinds.ts";
import { controlNames, coveredNames, coversPath, type PathPattern, type Roots } from "./path-pattern.ts";

type Placed = { order: number; tool: string; path: PathPattern };

const EVERYTHING: PathPattern = { root: "absolute", names: ["**"] };
/** Files that a search tool reads to know what to skip. It follows them even if they are links. */
const IGNORE_FILES = [".ignore", ".gitignore", ".rgignore"];

/** Finds the path pattern that covers a call of a file tool. */
export function fileProver(all: readonly Placed[]) {
  const byTool = new Map(
    [...EDITORS, "Read", ...SEARCHERS].map((name) => [name, all.filter(({ tool }) => isFor(tool, name))]),
  );
  /** The order of the rule that covers the file, or the directory of a search. */
  return (call: ToolCall, files: ReadableFiles, home: string): number | undefined => {
    const patterns = byTool.get(call.toolName) ?? [];
    if (patterns.length === 0) return undefined;
    const target = coverableTarget(call, files);
    const realHome = follow(home)?.real;
    if (!target || realHome === undefined) return undefined;
    const isCovered = coveredTarget(target, { workingDir: files.start, home: realHome });
    return patterns.find(({ path }) => isCovered(path))?.order;
  };
}

/**
 * The target of a file tool: a file, or with `isTree` a directory and everything below it. `controls` holds the
 * positions of names that no wildcard covers.
 */
export type FileTarget = { real: string; isTree: boolean; controls: readonly number[] };

/** The file, or the directory of a search, if a path pattern may cover it. */
export function coverableTarget(call: ToolCall, files: ReadableFiles): FileTarget | undefined {
  if (hasInvisibleText(call)) return undefined;
  const isSearch = SEARCHERS.includes(call.toolName);
  const found = isSearch ? searchRoot(call, files) : fileOf(call, files);
  if (!found || files.isPrivate(found) || found.kind === "other") return undefined;
  if (found.kind === "missing" && !EDITORS.includes(call.toolName)) return undefined;
  const isTree = isSearch && found.kind === "directory";
  if (isTree && !isSearchable(found, files)) return undefined;
  const controls = controlNames(isTree ? `${found.real}/x` : found.real, isSecret);
  return controls && { real: found.real, isTree, controls };
}

/** Returns a check of whether a pattern covers the target. */
export function coveredTarget({ real, isTree, controls }: FileTarget, roots: Roots): (pattern: PathPattern) => boolean {
  const isCovered = coveredNames(isTree ? `${real}/x` : real, controls, roots);
  return (pattern) => (!isTree || reachesTree(pattern, real, roots)) && isCovered(pattern);
}

/** Whether a rule for all edits covers this file: it must not be a file that controls programs. */
export function isOrdinaryFile(call: ToolCall, files: ReadableFiles): boolean {
  const found = fileOf(call, files);
  return found !== undefined && coversPath(EVERYTHING, found.real, { workingDir: "/", home: "/" }, isSecret);
}

/** `Edit` applies to all tools that edit, and `Read` also to those that search. */
export function isFor(tool: string, toolName: string): boolean {
  if (tool === toolName) return true;
  return tool === "Edit" ? EDITORS.includes(toolName) : tool === "Read" && SEARCHERS.includes(toolName);
}

function hasInvisibleText({ input }: ToolCall): boolean {
  return Object.values(input).some((value) => typeof value === "string" && hasInvisibleCharacters(value));
}

/** Whether the last name, and not a directory above it, makes the path that of a file with credentials. */
function isSecret(path: string): boolean {
  return holdsSecrets(path) && !holdsSecrets(path.slice(0, path.lastIndexOf("/")));
}

/** Whether the pattern covers everything below a directory that is this one or contains it. */
function reachesTree({ root, names }: PathPattern, real: string, { workingDir, home }: Roots): boolean {
  if (names.at(-1) !== "**" || names.slice(0, -1).some((name) => /[*?]/.test(name))) return false;
  const start = root === "absolute" ? "/" : root === "home" ? home : workingDir;
  const top = [start === "/" ? "" : start, ...names.slice(0, -1)].join("/");
  return isWithin(top === "" ? "/" : top, real);
}

function isSearchable(found: Found, files: ReadableFiles): boolean {
  if (files.holdsPrivate(found)) return false;
  return IGNORE_FILES.every((name) => {
    const ignore = files.follow(`${found.real}/${name}`);
    return ignore !== undefined && ignore.links.length === 0 && !files.isPrivate(ignore);
  });
}
