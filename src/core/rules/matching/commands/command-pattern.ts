import { type Danger, dangersIn, type SimpleCommand } from "../../../../review/shell/index.ts";
import { programCall } from "../../../../review/shell/programs/programs.ts";
import { startedBy } from "../../../../review/shell/programs/wrappers.ts";
import { DIRECTORY_CHANGES } from "../../harmless-command.ts";
import { literalCommands } from "../../literal-command.ts";
import type { ReadableFiles } from "../../readable-files.ts";
import type { Obstacle } from "../obstacles.ts";
import { gitAddsAll, leavesRepository, putsFilesBack } from "./git-places.ts";
import { areSafePaths, namesDirectory, namesOutside, namesPrivate } from "./named-paths.ts";
import { namesFurtherTarget, usesNetwork } from "./network-targets.ts";
import { areOptionsHarmless } from "./options/harmless-options.ts";
import { takesOnlyData } from "./options/program-options.ts";
import { searchesHere } from "./search-operands.ts";
import { programAndVerb, wildcardMayCover, wildcardMayCoverAny } from "./wildcard-limits.ts";

/** The words of a command; with a wildcard, its first words. */
export type CommandPattern = { words: readonly string[]; hasWildcard: boolean };

/**
 * Commands whose wildcard must not cover a directory: a copy follows the links in it, and a repository or package can
 * run its own code.
 */
const ACCEPTS_NO_DIRECTORY = /^(?:cp|git (?:push|fetch|pull)|p?npm (?:install|i|add)|yarn add)$/;

/** Why a pattern covers no command, in words that follow "it has no effect:"; `undefined` if it may cover one. */
export function problemOfCommand(text: string): string | undefined {
  const pattern = readCommandPattern(text);
  if (!pattern) return NO_COMMAND;
  const { words, hasWildcard } = pattern;
  if (DIRECTORY_CHANGES.includes(words[0] ?? "")) return CHANGES_DIRECTORY;
  if (!hasWildcard) return undefined;
  if (!wildcardMayCoverAny(words)) return NO_WILDCARD;
  return ["", "x", "--help"].every((word) => isDangerous(`${beforeWildcard(text)} ${word}`)) ? DANGEROUS : undefined;
}

const NO_COMMAND =
  "a pattern of Bash is the words of one command, with * only as its last word, and without variables, operators, redirects or other syntax of a shell";
const CHANGES_DIRECTORY = "a change of directory is never covered";
const NO_WILDCARD =
  "a wildcard never covers a shell, an interpreter, or a program, verb or option that may run others: give the exact words";
const DANGEROUS = "a wildcard never covers a dangerous command: give the exact words";

function isDangerous(source: string): boolean {
  const [command] = literalCommands(source) ?? [];
  return command !== undefined && dangersOf(command.parsed, source, "/").length > 0;
}

/**
 * Parses a pattern. `npm test` stands for exactly these words; `npm run *` and `npm run:*` for these and any that
 * follow.
 */
export function readCommandPattern(text: string): CommandPattern | undefined {
  const start = beforeWildcard(text);
  const [command, ...others] = literalCommands(start ?? text) ?? [];
  if (!command || others.length > 0 || command.parsed.redirects.length > 0) return undefined;
  return { words: command.words, hasWildcard: start !== undefined };
}

function beforeWildcard(text: string): string | undefined {
  return /^(.*?)(?: |:)\*$/s.exec(text)?.[1];
}

/** Whether a pattern covers a command. */
export function coversCommand(
  pattern: CommandPattern,
  command: SimpleCommand,
  source: string,
  files: ReadableFiles,
): boolean {
  return obstacleTo(pattern, command, source, files) === undefined;
}

/**
 * The obstacle that keeps a pattern from covering a command; `undefined` if it covers the command. The command must
 * begin with the pattern's words, and these must not name a private path.
 */
export function obstacleTo(
  { words, hasWildcard }: CommandPattern,
  command: SimpleCommand,
  source: string,
  files: ReadableFiles,
): Obstacle | undefined {
  const given = command.words.map(({ value }) => value);
  if (!words.every((word, at) => word === given[at])) return "exact";
  if (namesPrivate(words.slice(1), files)) return "private";
  if (hasWildcard) return obstacleInRest(words.length, given, command, source, files);
  return given.length === words.length ? undefined : "exact";
}

/**
 * The obstacle in the words that the wildcard stands for; `undefined` if they can't change what kind of command this
 * is.
 */
function obstacleInRest(
  patternLength: number,
  given: readonly string[],
  command: SimpleCommand,
  source: string,
  files: ReadableFiles,
): Obstacle | undefined {
  if (!wildcardMayCover(given, patternLength) || startedBy(programCall(command)).length > 0) return "runner";
  const { name, verb } = programAndVerb(given);
  if (!areOptionsHarmless(given, patternLength, verb)) return "option";
  if (patternLength === 0 && usesNetwork(name)) return "network";
  if (namesFurtherTarget(name, given, patternLength)) return "target";
  const rest = given.slice(patternLength);
  const goesThroughAll = name === "git" ? gitAddsAll(verb, given.slice(1)) : searchesHere(name, given.slice(1));
  if (goesThroughAll && files.withholdsHere()) return "search";
  if (!areSafePaths(rest, files, name === "git")) return "path";
  if (!takesOnlyData(name) && namesOutside(rest, files)) return "outside";
  const acceptsNoDirectory = [name, `${name} ${verb}`].some((start) => ACCEPTS_NO_DIRECTORY.test(start));
  if (acceptsNoDirectory && namesDirectory(rest, files)) return "names_directory";
  if (writesSecond(name, given.slice(1)) || (name === "git" && putsFilesBack(verb, rest, files))) return "writes";
  if (name === "git" && leavesRepository(verb, given, patternLength, files)) return "repository";
  return dangersOf(command, source, files.start).length === 0 ? undefined : "danger";
}

/** For each program, the options whose value is the next word. */
const WRITE_SECOND = new Map([
  ["uniq", /^-[A-Za-z]*[fsw]$/],
  ["xxd", /^-(?:c|cols|g|groupsize|l|len|n|name|o|s|seek)$/],
]);

/** Whether a program that writes its second operand got one. */
function writesSecond(name: string, words: readonly string[]): boolean {
  const valued = WRITE_SECOND.get(name);
  if (!valued) return false;
  const dashes = words.indexOf("--");
  const isOperand = (word: string, at: number) =>
    (dashes >= 0 && at > dashes) || (!/^-./.test(word) && !valued.test(words[at - 1] ?? ""));
  return words.filter(isOperand).length > 1;
}

/**
 * The dangers of one command on its own, without the rest of its line. Cached for the other patterns that are tried on
 * it.
 */
export function dangersOf(command: SimpleCommand, source: string, dir: string): Danger[] {
  const known = foundIn.get(command);
  if (known?.source === source && known.dir === dir) return known.dangers;
  const dangers = dangersAlone(command, source, dir);
  foundIn.set(command, { source, dir, dangers });
  return dangers;
}

const foundIn = new WeakMap<SimpleCommand, { source: string; dir: string; dangers: Danger[] }>();

function dangersAlone(command: SimpleCommand, source: string, dir: string): Danger[] {
  const alone = { source, commands: [command], functions: [], variables: [], evaluations: [], problems: [] };
  return dangersIn({ ...alone, tree: undefined }, dir);
}
