import { existsSync } from "node:fs";
import { dirname, join } from "node:path";
import { follow } from "../../../../../files/real-path.ts";
import { gitArguments } from "../../../../../review/shell/programs/git-arguments.ts";
import type { ProgramCall } from "../../../../../review/shell/programs/programs.ts";
import type { WithheldFiles } from "../../../withheld-files.ts";
import { GIT_NAMES, GIT_PATCHES, GIT_VALUED } from "../options/git-options.ts";
import { isKnownOfGit } from "../options/harmless-options.ts";
import { isOption } from "../options/option-names.ts";
import { searchedPlaces } from "../search-operands.ts";

/** Verbs that neither print the contents of files nor copy them elsewhere. */
const SILENT = setOf(
  "add branch check-attr check-ignore checkout cherry-pick clean commit config count-objects describe fetch for-each-ref fsck gc help " +
    "init ls-files ls-remote ls-tree maintenance merge merge-base mv name-rev pack-refs prune pull push rebase remote repack reset " +
    "restore rev-list rev-parse revert rm shortlog show-ref stage stash status switch symbolic-ref tag update-index update-ref version",
);
/**
 * Options with which these verbs print contents after all: letters and long names. Letters in `valued` take a value.
 */
const UNLESS: Readonly<Record<string, { letters?: string; valued?: string; long: readonly string[] }>> = {
  add: { letters: "pie", long: ["patch", "interactive", "edit"] },
  stage: { letters: "pie", long: ["patch", "interactive", "edit"] },
  checkout: { letters: "p", valued: "bB", long: ["patch"] },
  commit: { letters: "vp", valued: "mFCctSu", long: ["verbose", "patch", "interactive"] },
  config: { letters: "f", long: ["file", "blob"] },
  rebase: { long: ["show-current-patch"] },
  reset: { letters: "p", long: ["patch"] },
  restore: { letters: "p", valued: "s", long: ["patch"] },
  stash: { letters: "p", valued: "m", long: ["patch"] },
  status: { letters: "v", valued: "u", long: ["verbose"] },
};
/** Verbs that list refs in a given format, which may include the contents of a file that a ref points to. */
const FORMATTING = setOf("branch for-each-ref tag");
/** Verbs that print commit messages, and print changes only with an option. */
const LOGS = setOf("log reflog whatchanged");
const DIFFS = setOf("diff show");
/** Verbs that print one file, which a word names. */
const OF_ONE_FILE = setOf("annotate blame");
/** Options before the verb that do not change its meaning. */
const BEFORE = setOf("--no-pager -P --no-optional-locks");

const PATCHES = setOf(GIT_PATCHES.replaceAll(":", ""));
const NAMES = setOf(GIT_NAMES);
const VALUED = setOf(GIT_VALUED);
/** Options that print more than the named paths. `--unified` takes its value in the same word. */
const WIDENING = setOf("--full-diff --follow --submodule --relative --walk-reflogs --unified");
/** One-letter options, with their number or text, that print no more than the named paths. */
const LETTER = /^-(?:[abcimpqsuwzEFPRW]|\d+|[nU]\d+|[BMC](?:\d+%?)?|[SG].+)$/;

/** Matches words that are certainly a commit. Any other name could also be a stored file or directory. */
const COMMIT = /^(?:(?:HEAD|@)(?:[~^]\d*)*|[\w./-]+(?:@\{[\w -]+\})?(?:[~^]\d*)+)$/;
const REVISION = /^[\w./@{}~^+-]+$/;
/** Matches paths that git and the file system interpret in the same way. */
const PLAIN_PATH = /^(?!.*(?:^|\/)\.\.(?:\/|$))[\w./@+ -]+$/;

/** With more words, looking up each of them takes too long. */
const MAX_WORDS = 200;

/** Other version control programs, and their verbs that print the contents of files. */
const OTHERS = setOf("hg svn jj sl bzr fossil darcs");
const PRINTING = /^(?:annotate|archive|blame|cat|diff|evolog|export|grep|interdiff|log|praise|show)$/;

/** Where a command would run. `isAtStart` is false after a change of directory: the directory is then unknown. */
type Where = {
  start: string;
  isAtStart: boolean;
  withheld: WithheldFiles;
  /** The top directory of the repository that contains `start`. */
  repository: () => string;
};

/**
 * Whether version control would print present or past contents of files, and some of these files may be withheld.
 * Plexus does not search the commits: unless the words limit the output to other files, it assumes that everything is
 * printed.
 */
export function printsWithheld(command: ProgramCall, where: Where): boolean {
  const { start, isAtStart, withheld, repository } = where;
  if (OTHERS.has(command.program))
    return command.args.some(({ value }) => PRINTING.test(value)) && (!isAtStart || withheld.mayHold(start));
  if (command.program !== "git") return false;
  const { before, verb, rest } = gitArguments(command);
  if (verb === "") return false;
  const isDynamic = command.args.some((word) => word.isDynamic);
  const words = rest.map(({ value }) => value);
  const [printing, given] = verb === "stash" ? ofStash(words) : [verb, words];
  if (printsNothing(printing, given, isDynamic)) return false;
  if (!isAtStart || before.options.some(({ name }) => !BEFORE.has(name))) return true;
  if (OF_ONE_FILE.has(verb) || !withheld.mayHold(repository())) return false;
  return isDynamic || !isLimited(printing, given, where);
}

/** `git stash show` acts like `diff`, and `git stash list` like `log`. */
function ofStash(words: readonly string[]): [verb: string, words: readonly string[]] {
  const at = words.findIndex((word) => !isOption(word));
  const verb = { show: "diff", list: "log" }[words[at] ?? ""];
  return verb === undefined ? ["stash", words] : [verb, words.filter((_, place) => place !== at)];
}

function printsNothing(verb: string, words: readonly string[], isDynamic: boolean): boolean {
  const options = words.filter((word) => isOption(word) && word !== "--");
  if (SILENT.has(verb)) return !options.some((word) => printsAllTheSame(verb, word));
  if (isDynamic) return false;
  if (verb === "cat-file")
    return options.length > 0 && options.every((word) => /^-[tse]$|^--batch-check(?:=|$)/.test(word));
  const areQuiet = options.every((word) => isKnownOfGit(verb, word) && !isPatch(word));
  if (LOGS.has(verb)) return areQuiet;
  if (!DIFFS.has(verb) || !areQuiet || !options.some((word) => NAMES.has(nameOf(word)))) return false;
  // `show` prints a file that is named by its hash, whatever the options say.
  return verb === "diff" || split(words).operands.every((word) => COMMIT.test(word));
}

function printsAllTheSame(verb: string, word: string): boolean {
  if (FORMATTING.has(verb)) return /raw/i.test(word);
  const { letters = "", valued = "", long } = (Object.hasOwn(UNLESS, verb) && UNLESS[verb]) || { long: [] };
  if (word.startsWith("--")) return long.some((name) => `--${name}`.startsWith(nameOf(word)));
  const value = [...word].findIndex((letter) => valued.includes(letter));
  return [...word.slice(1, value < 0 ? undefined : value)].some((letter) => letters.includes(letter));
}

function isPatch(word: string): boolean {
  return word.startsWith("--") ? PATCHES.has(nameOf(word)) : [...word.slice(1)].some((one) => PATCHES.has(`-${one}`));
}

/** Whether everything printed belongs to files that the words name and that are not withheld. */
function isLimited(verb: string, words: readonly string[], where: Where): boolean {
  if (words.length > MAX_WORDS) return false;
  if (verb === "grep") return isSearchLimited(words, where);
  if (verb === "cat-file") {
    const [how = "", what = "", ...more] = words;
    return more.length === 0 && /^(?:-p|blob)$/.test(how) && isOtherVersion(what, where);
  }
  if (verb !== "log" && !DIFFS.has(verb)) return false;
  if (!words.every((word) => !isOption(word) || word === "--" || isLimitedByPaths(verb, word))) return false;
  const { operands, paths } = split(words);
  const kinds = operands.map((word) => kindOf(verb, word, where));
  if (kinds.includes("unknown") || !paths.every((path) => isOtherPlace(path, where))) return false;
  return paths.length > 0 || kinds.includes("place") || (kinds.length > 0 && kinds.every((kind) => kind === "version"));
}

function isLimitedByPaths(verb: string, word: string): boolean {
  if (VALUED.has(word) || LETTER.test(word)) return true;
  if (!word.startsWith("--") || !isKnownOfGit(verb, word)) return false;
  return !WIDENING.has(nameOf(word)) || /^--unified=\d+$/.test(word);
}

/** What an operand of `diff`, `log` and `show` certainly is: a readable file, a version of one, or a commit. */
function kindOf(verb: string, word: string, where: Where): "place" | "version" | "commit" | "unknown" {
  if (isOtherPlace(word, where)) return "place";
  if (verb !== "log" && isOtherVersion(word, where)) return "version";
  // If such a file exists, git could read the word as its path.
  if (!REVISION.test(word) || follow(join(where.start, word))?.kind !== "missing") return "unknown";
  const isCommit = verb === "log" || word.split(/\.{2,3}/).every((one) => one === "" || COMMIT.test(one));
  return isCommit ? "commit" : "unknown";
}

/** Without a commit, `git grep` searches the files of the working tree. */
function isSearchLimited(words: readonly string[], where: Where): boolean {
  const dashes = words.indexOf("--");
  const commits = dashes < 0 ? [] : searchedPlaces("git", words.slice(0, dashes));
  const isStored = commits.length > 0 || words.some((word) => /^--ca/.test(word));
  const places = searchedPlaces("git", words).slice(commits.length);
  if (places.length > 0) return places.every((place) => isOtherPlace(place, where, isStored));
  const here = follow(where.start);
  return !isStored && here !== undefined && !where.withheld.holdsPrivate(here);
}

/** Whether a word names an existing file that may be read, or a directory that never held a withheld one. */
function isOtherPlace(word: string, { start, withheld }: Where, isStored = true): boolean {
  const found = PLAIN_PATH.test(word) ? follow(word.startsWith("/") ? word : join(start, word)) : undefined;
  if (!found || found.links.length > 0 || withheld.isPrivate(found)) return false;
  if (found.kind !== "directory") return found.kind === "file";
  return !(isStored ? withheld.mayHold(found.real) : withheld.holdsPrivate(found));
}

/**
 * Whether a word such as `HEAD:src/x.ts` is a version of a file that may be read, at whatever level the repository
 * starts.
 */
function isOtherVersion(word: string, { start, withheld, repository }: Where): boolean {
  const [, commit = "", path = ""] = /^([^:]+):(.+)$/.exec(word) ?? [];
  if (!COMMIT.test(commit) || !PLAIN_PATH.test(path)) return false;
  return directoriesUpTo(repository(), start).every((directory) => {
    const found = follow(join(directory, path));
    return found !== undefined && found.links.length === 0 && !withheld.isPrivate(found);
  });
}

/**
 * The outermost directory around `start` that contains `.git`. Git uses the innermost valid one, so the repository lies
 * at or below this directory.
 */
export function repositoryAround(start: string): string {
  const real = follow(start)?.real ?? start;
  return directoriesUpTo("/", real).findLast((directory) => existsSync(join(directory, ".git"))) ?? real;
}

function directoriesUpTo(top: string, start: string): string[] {
  const found = [start];
  for (let at = start; at !== top && at !== dirname(at); found.push(at)) at = dirname(at);
  return found;
}

/** Splits the words into operands before `--`, without options and their values, and paths after it. */
function split(words: readonly string[]): { operands: string[]; paths: readonly string[] } {
  const operands: string[] = [];
  for (let at = 0; at < words.length; at++) {
    const word = words[at] ?? "";
    if (word === "--") return { operands, paths: words.slice(at + 1) };
    if (VALUED.has(word)) at++;
    else if (!isOption(word)) operands.push(word);
  }
  return { operands, paths: [] };
}

function nameOf(option: string): string {
  return option.split("=", 1)[0] ?? "";
}

function setOf(names: string): ReadonlySet<string> {
  return new Set(names.split(" "));
}
