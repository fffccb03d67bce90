import { follow, type SeenFiles } from "../../../../files/real-path.ts";
import { isUnknown, startIn } from "../../../../review/shell/index.ts";
import { changedPaths } from "../../../../review/shell/paths/changed-paths.ts";
import { gitArguments } from "../../../../review/shell/programs/git-arguments.ts";
import type { ProgramCall } from "../../../../review/shell/programs/programs.ts";
import { sedArguments } from "../../../../review/shell/programs/sed-script.ts";
import type { Word } from "../../../../review/shell/syntax/parsed-command.ts";
import { textAt } from "../../tool-keys.ts";
import type { WithheldFiles } from "../../withheld-files.ts";
import { pathsIn } from "../commands/named-paths.ts";
import { firstOf } from "../first-order.ts";
import type { JudgedCall } from "../judged-call.ts";
import type { PathFinder } from "./path-finder.ts";
import { changesByName, possiblyChanged, possiblyChangedTrees } from "./possible-changes.ts";
import { possiblyReadTrees, readsByName } from "./possible-reads.ts";

/** No system accepts a longer path. */
const MAX_PATH = 4_096;
/** For all paths of a call together. */
const MAX_STEPS = 3_000;
const MAX_PATHS = 3_000;
/** Programs that change a directory together with everything below it. */
const WHOLE_TREES = new Set("rm rmdir mv chmod chown chgrp shred rsync find ln".split(" "));
const CHANGING_VERBS = new Set("checkout restore rm clean mv apply".split(" "));

/** The order of the rule that matches an absolute path. Both the written and the real path are looked up. */
type Search = (path: string) => number | undefined;
type FinderHere = ReturnType<PathFinder["at"]>;
type Searches = {
  /** For files that a command reads or only names. */
  read: Search;
  /** For files that a command changes, and for directories that it changes with everything below them. */
  changed: Search;
  changedTree: Search;
};

/** Searches for the file or directory that a call of a file tool names. */
export function searchNamedFiles(judged: JudgedCall, search: Search): number | undefined {
  const {
    call: { input },
    place,
  } = judged;
  const dir = startIn(place.workingDir ?? null).at;
  const look = searcher(judged.seen);
  const paths = ["file_path", "notebook_path", "path", "filePath"].flatMap((key) => {
    const written = textAt(input, key);
    return written === undefined ? [] : [fullPath(written, dir, place.home)];
  });
  const found = look(paths, search);
  // The limits were reached, so a path may lead to a sought file without being found.
  if (look.isExhausted()) judged.hasFailed = true;
  return found;
}

/** Searches for every path that the commands of a call name or change. */
export function searchCommandFiles(
  judged: JudgedCall,
  { read, changed, changedTree }: Partial<Searches>,
): number | undefined {
  const { searchAll, isExhausted } = commandSearch(judged);
  const found = [searchAll(read, namedBy), searchAll(changed, changedBy), searchAll(changedTree, treesOf)];
  if (isExhausted()) judged.hasFailed = true;
  return firstOf(found);
}

/**
 * Whether a command may change a sought file: it names one, and its program is not known to leave the file unchanged.
 */
export function mayChangeFiles(judged: JudgedCall, { find, holds }: Pick<FinderHere, "find" | "holds">): boolean {
  const { searchAll, isExhausted } = commandSearch(judged);
  const holding = (path: string) => (follow(path)?.kind === "directory" && holds(path) ? 0 : undefined);
  const found = [searchAll(find, possiblyChanged), searchAll(holding, possiblyChangedTrees)];
  return isExhausted() || firstOf(found) !== undefined || isLost(judged, changesByName);
}

/** Whether a command may read a withheld file in a directory that it names or searches by default. */
export function mayFindFiles(judged: JudgedCall, { isPrivate, holdsPrivate }: WithheldFiles): boolean {
  const { searchAll, isExhausted } = commandSearch(judged);
  const isKept = (path: string) => {
    const found = follow(path);
    return found && (isPrivate(found) || holdsPrivate(found)) ? 0 : undefined;
  };
  return searchAll(isKept, possiblyReadTrees) !== undefined || isExhausted() || isLost(judged, readsByName);
}

/** Whether a command names files while its working directory is unknown before it runs. */
function isLost(judged: JudgedCall, namesFiles: (command: ProgramCall) => boolean): boolean {
  return judged.started().commands.some(({ command, directory }) => isUnknown(directory) && namesFiles(command));
}

function commandSearch(judged: JudgedCall) {
  const { place } = judged;
  const start = startIn(place.workingDir ?? null).at;
  const look = searcher(judged.seen);
  const searchAll = (search: Search | undefined, wordsOf: (command: ProgramCall) => Word[]) => {
    if (!search) return undefined;
    const paths = new Set<string>();
    let seen = new Set<string>();
    let before = start;
    for (const { command, directory } of judged.started().commands) {
      if (directory.at !== before) seen = new Set();
      before = directory.at;
      for (const word of wordsOf(command)) {
        const key = word.isDynamic ? `\n${word.value}` : word.value;
        if (seen.has(key)) continue;
        seen.add(key);
        for (const path of word.isDynamic ? [literalFront(word.value)] : pathsIn(word.value)) {
          // The `cd` may fail, so also look in the directory where the line started.
          for (const dir of [directory.at, start]) paths.add(fullPath(path, dir, place.home));
        }
      }
    }
    return look(paths, search);
  };
  return { searchAll, isExhausted: look.isExhausted };
}

/** Searches for each path and for its real target, within limits for all of them together. */
function searcher(seen: SeenFiles | undefined) {
  const budget = { steps: MAX_STEPS, ...seen };
  let left = MAX_PATHS;
  const look = (paths: Iterable<string>, search: Search): number | undefined => {
    let first: number | undefined;
    for (const path of paths) {
      if (path === "" || path.length > MAX_PATH) continue;
      if (--left < 0) break;
      const real = budget.steps > 0 ? follow(path, budget)?.real : undefined;
      first = firstOf([first, search(path), real === undefined || real === path ? undefined : search(real)]);
    }
    return first;
  };
  return Object.assign(look, { isExhausted: () => budget.steps <= 0 || left < 0 });
}

function fullPath(written: string, dir: string, home: string): string {
  const path = written.trim();
  if (path === "") return "";
  const below = /^(?:~|\$HOME|\$\{HOME\})(?=\/|$)/.exec(path)?.[0];
  if (below !== undefined) return `${home}${path.slice(below.length)}`;
  return path.startsWith("/") ? path : `${dir}/${path}`;
}

/** The directories before the first part that is unknown until the command runs. */
function literalFront(value: string): string {
  const home = /^\$(?:HOME|\{HOME\})(?=\/)/.exec(value)?.[0] ?? "";
  const end = value.slice(home.length).search(/[$`*?[{]/);
  const known = end < 0 ? value : value.slice(0, home.length + end);
  return end < 0 ? known : known.slice(0, known.lastIndexOf("/") + 1);
}

function namedBy(command: ProgramCall): Word[] {
  const { program, words, redirects } = command;
  const sources = /^g?sed$/.test(program) ? sedArguments(command).reads : [];
  return [...words, ...sources, ...redirects.flatMap(({ target }) => target ?? [])];
}

function changedBy(command: ProgramCall): Word[] {
  const paths = changedPaths(command);
  if (command.program !== "git") return paths;
  const { verb, rest } = gitArguments(command);
  return CHANGING_VERBS.has(verb) ? [...paths, ...rest] : paths;
}

/** `mv` removes what it moves with everything below it, but only adds to its last operand. */
function treesOf(command: ProgramCall): Word[] {
  if (!WHOLE_TREES.has(command.program)) return [];
  const paths = changedPaths(command);
  const last = command.program === "mv" ? command.words.at(-1)?.pos : undefined;
  return paths.filter(({ pos }) => pos !== last);
}
