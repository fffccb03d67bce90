import { dangersIn, type SimpleCommand } from "../../../review/shell/index.ts";
import { subjectOf } from "../../../review/shell/programs/programs.ts";
import { startedBy } from "../../../review/shell/programs/wrappers.ts";
import { isHarmless } from "../chain.ts";
import type { Ground } from "../ground.ts";
import { literalCommands } from "../literal-command.ts";
import { namesDirectory, namesPrivate, staysPut } from "./named-paths.ts";
import { mayStandFor, programAndVerb } from "./wildcard-limits.ts";

/** Words that a command must be, or with a wildcard begin with. */
type CommandPattern = { words: readonly string[]; isOpen: boolean };

/** A copy into a directory goes through the links in it; a repository or a package that is a directory runs what it says. */
const TAKES_NO_DIRECTORY = /^(?:cp|git (?:push|fetch|pull)|p?npm (?:install|i|add)|yarn add)$/;

/** Whether the patterns, or what is harmless anyway, cover the whole command line. */
export function areCommandsCovered(patterns: readonly string[], source: string, ground: Ground): boolean {
  const known = patterns.flatMap((pattern) => readPattern(pattern) ?? []);
  return isHarmless(
    source,
    ground,
    // In another directory the same words run what that one says.
    (command, dir) => dir === ground.start && known.some((pattern) => covers(pattern, command, source, ground)),
  );
}

/** `npm test` is these words; `npm run *` and `npm run:*` are these and any that follow. */
function readPattern(text: string): CommandPattern | undefined {
  const open = /^(.*?)(?: |:)\*$/s.exec(text)?.[1];
  const [command, ...others] = literalCommands(open ?? text) ?? [];
  if (!command || others.length > 0 || command.parsed.redirects.length > 0) return undefined;
  return { words: command.words, isOpen: open !== undefined };
}

function covers({ words, isOpen }: CommandPattern, command: SimpleCommand, source: string, ground: Ground): boolean {
  const said = command.words.map(({ value }) => value);
  if (!words.every((word, at) => word === said[at]) || namesPrivate(words.slice(1), ground)) return false;
  return isOpen ? isOpenFor(words.length, said, command, source, ground) : said.length === words.length;
}

/** Whether what follows the named words can only be more of the same. */
function isOpenFor(
  named: number,
  said: readonly string[],
  command: SimpleCommand,
  source: string,
  ground: Ground,
): boolean {
  if (!mayStandFor(said, named) || startedBy(subjectOf(command)).length > 0) return false;
  const { name, verb } = programAndVerb(said);
  const further = said.slice(named);
  if (!staysPut(further, ground, name === "git")) return false;
  const isByFile = [name, `${name} ${verb}`].some((start) => TAKES_NO_DIRECTORY.test(start));
  if (isByFile && namesDirectory(further, ground)) return false;
  const alone = { source, commands: [command], functions: [], variables: [], evaluations: [], problems: [] };
  return dangersIn({ ...alone, tree: undefined }, ground.start).length === 0;
}
