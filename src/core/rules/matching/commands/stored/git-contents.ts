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

/** Verbs that print nothing of what files contain, and make no copy of it elsewhere. */
const SILENT = setOf(
  "add branch check-attr check-ignore checkout cherry-pick clean commit config count-objects describe fetch for-each-ref fsck gc help " +
    "init ls-files ls-remote ls-tree maintenance merge merge-base mv name-rev pack-refs prune pull push rebase remote repack reset " +
    "restore rev-list rev-parse revert rm shortlog show-ref stage stash status switch symbolic-ref tag update-index update-ref version",
);
/** Their options that print it all the same: letters, some others of which have a value after them, and long names. */
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
/** Verbs that list refs by a format, which may ask for the content of a file that a ref leads to. */
const FORMATTING = setOf("branch for-each-ref tag");
/** Verbs that print the messages of commits, and what was changed only with an option. */
const LOGS = setOf("log reflog whatchanged");
const DIFFS = setOf("diff show");
/** Verbs that print one file, which their words name. */
const OF_ONE_FILE = setOf("annotate blame");
/** Options before the verb with which it means the same. */
const BEFORE = setOf("--no-pager -P --no-optional-locks");

const PATCHES = setOf(GIT_PATCHES.replaceAll(":", ""));
const NAMES = setOf(GIT_NAMES);
const VALUED = setOf(GIT_VALUED);
/** Options with which more is printed than the paths that are named; the value of the last is in the same word. */
const WIDENING = setOf("--full-diff --follow --submodule --relative --walk-reflogs --unified");
/** Options of one letter that are limited by paths, with their number or text. */
const LETTER = /^-(?:[abcimpqsuwzEFPRW]|\d+|[nU]\d+|[BMC](?:\d+%?)?|[SG].+)$/;

/** Certainly a commit; any other name may also be that of a file or a directory that git has stored. */
const COMMIT = /^(?:(?:HEAD|@)(?:[~^]\d*)*|[\w./-]+(?:@\{[\w -]+\})?(?:[~^]\d*)+)$/;
const REVISION = /^[\w./@{}~^+-]+$/;
/** A path that git and the file system read in the same way. */
const PLAIN_PATH = /^(?!.*(?:^|\/)\.\.(?:\/|$))[\w./@+ -]+$/;

/** With more it takes too long to look for each of them. */
const MAX_WORDS = 200;

/** Version control of other kinds, and its verbs that print what files contain. */
const OTHERS = setOf("hg svn jj sl bzr fossil darcs");
const PRINTING = /^(?:annotate|archive|blame|cat|diff|evolog|export|grep|interdiff|log|praise|show)$/;

/** Where a command would run: its directory is not known any more after it was changed. */
type Where = {
  start: string;
  isAtStart: boolean;
  withheld: WithheldFiles;
  /** The top of the repository around where it starts. */
  repository: () => string;
};

/**
 * Whether version control would print what files contain or have contained, and some of them may be withheld. What was
 * committed is not looked through: all of it is printed, unless the words limit it to other files.
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

/** `git stash show` is a `diff`, and `git stash list` a `log`. */
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
  // A file that is named by its hash is shown whatever the options say.
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

/** Whether all that is printed is of files that the words name, and that are not withheld. */
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

/** What an operand of `diff`, `log` and `show` is for certain: a file that may be read, a version of one, or a commit. */
function kindOf(verb: string, word: string, where: Where): "place" | "version" | "commit" | "unknown" {
  if (isOtherPlace(word, where)) return "place";
  if (verb !== "log" && isOtherVersion(word, where)) return "version";
  // What is there could be read as a path instead.
  if (!REVISION.test(word) || follow(join(where.start, word))?.kind !== "missing") return "unknown";
  const isCommit = verb === "log" || word.split(/\.{2,3}/).every((one) => one === "" || COMMIT.test(one));
  return isCommit ? "commit" : "unknown";
}

/** Without a commit `git grep` goes through the files that are there now. */
function isSearchLimited(words: readonly string[], where: Where): boolean {
  const dashes = words.indexOf("--");
  const commits = dashes < 0 ? [] : searchedPlaces("git", words.slice(0, dashes));
  const isStored = commits.length > 0 || words.some((word) => /^--ca/.test(word));
  const places = searchedPlaces("git", words).slice(commits.length);
  if (places.length > 0) return places.every((place) => isOtherPlace(place, where, isStored));
  const here = follow(where.start);
  return !isStored && here !== undefined && !where.withheld.holdsPrivate(here);
}

/** Whether a word is an existing file that may be read, or a directory that never held another one. */
function isOtherPlace(word: string, { start, withheld }: Where, isStored = true): boolean {
  const found = PLAIN_PATH.test(word) ? follow(word.startsWith("/") ? word : join(start, word)) : undefined;
  if (!found || found.links.length > 0 || withheld.isPrivate(found)) return false;
  if (found.kind !== "directory") return found.kind === "file";
  return !(isStored ? withheld.mayHold(found.real) : withheld.holdsPrivate(found));
}

/** Whether a word such as `HEAD:src/x.ts` is a version of a file that may be read, wherever the repository begins. */
function isOtherVersion(word: string, { start, withheld, repository }: Where): boolean {
  const [, commit = "", path = ""] = /^([^:]+):(.+)$/.exec(word) ?? [];
  if (!COMMIT.test(commit) || !PLAIN_PATH.test(path)) return false;
  return directoriesUpTo(repository(), start).every((directory) => {
    const found = follow(join(directory, path));
    return found !== undefined && found.links.length === 0 && !withheld.isPrivate(found);
  });
}

/** The directory around which there is no other with a repository; git takes the first one that is valid. */
export function repositoryAround(start: string): string {
  const real = follow(start)?.real ?? start;
  return directoriesUpTo("/", real).findLast((directory) => existsSync(join(directory, ".git"))) ?? real;
}

function directoriesUpTo(top: string, start: string): string[] {
  const found = [start];
  for (let at = start; at !== top && at !== dirname(at); found.push(at)) at = dirname(at);
  return found;
}

/** The words before `--` that are neither options nor their values, and those after it. */
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
