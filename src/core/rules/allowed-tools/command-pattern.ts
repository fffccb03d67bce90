import { dangersIn, type SimpleCommand } from "../../../review/shell/index.ts";
import { programCall } from "../../../review/shell/programs/programs.ts";
import { startedBy } from "../../../review/shell/programs/wrappers.ts";
import { isHarmlessCommand } from "../harmless-command.ts";
import { literalCommands } from "../literal-command.ts";
import type { ReadableFiles } from "../readable-files.ts";
import { areSafePaths, namesDirectory, namesPrivate } from "./named-paths.ts";
import { programAndVerb, wildcardMayCover } from "./wildcard-limits.ts";

/** The words of a command, or with a wildcard its first words. */
type CommandPattern = { words: readonly string[]; hasWildcard: boolean };

/** A copy into a directory follows the links in it; a repository or package in a directory can run its own code. */
const ACCEPTS_NO_DIRECTORY = /^(?:cp|git (?:push|fetch|pull)|p?npm (?:install|i|add)|yarn add)$/;

/** Whether every command of the line is covered by a pattern or is harmless anyway. */
export function areCommandsCovered(patterns: readonly string[], source: string, files: ReadableFiles): boolean {
  const known = patterns.flatMap((pattern) => readPattern(pattern) ?? []);
  return isHarmlessCommand(
    source,
    files,
    // In another directory the same words could run something else.
    (command, dir) => dir === files.start && known.some((pattern) => covers(pattern, command, source, files)),
  );
}

/** `npm test` means exactly these words; `npm run *` and `npm run:*` mean these and any that follow. */
function readPattern(text: string): CommandPattern | undefined {
  const beforeWildcard = /^(.*?)(?: |:)\*$/s.exec(text)?.[1];
  const [command, ...others] = literalCommands(beforeWildcard ?? text) ?? [];
  if (!command || others.length > 0 || command.parsed.redirects.length > 0) return undefined;
  return { words: command.words, hasWildcard: beforeWildcard !== undefined };
}

function covers(
  { words, hasWildcard }: CommandPattern,
  command: SimpleCommand,
  source: string,
  files: ReadableFiles,
): boolean {
  const given = command.words.map(({ value }) => value);
  if (!words.every((word, at) => word === given[at]) || namesPrivate(words.slice(1), files)) return false;
  return hasWildcard ? isRestSafe(words.length, given, command, source, files) : given.length === words.length;
}

/** Whether the words that the wildcard stands for can't change what kind of command this is. */
function isRestSafe(
  patternLength: number,
  given: readonly string[],
  command: SimpleCommand,
  source: string,
  files: ReadableFiles,
): boolean {
  if (!wildcardMayCover(given, patternLength) || startedBy(programCall(command)).length > 0) return false;
  const { name, verb } = programAndVerb(given);
  const rest = given.slice(patternLength);
  if (!areSafePaths(rest, files, name === "git")) return false;
  const acceptsNoDirectory = [name, `${name} ${verb}`].some((start) => ACCEPTS_NO_DIRECTORY.test(start));
  if (acceptsNoDirectory && namesDirectory(rest, files)) return false;
  const alone = { source, commands: [command], functions: [], variables: [], evaluations: [], problems: [] };
  return dangersIn({ ...alone, tree: undefined }, files.start).length === 0;
}
