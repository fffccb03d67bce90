import { isWithin } from "../../../../files/real-path.ts";
import { dangersIn } from "../../../../review/shell/index.ts";
import { isInterpreter, isShell, programCall } from "../../../../review/shell/programs/programs.ts";
import { scriptsOf } from "../../../../review/shell/programs/scripts.ts";
import { startedBy } from "../../../../review/shell/programs/wrappers.ts";
import { isHarmlessLine } from "../../harmless-command.ts";
import type { LiteralCommand } from "../../literal-command.ts";
import type { ReadableFiles } from "../../readable-files.ts";
import { isRunner } from "../commands/wildcard-limits.ts";
import type { JudgedCall } from "../judged-call.ts";
import { wildcardAfter } from "./useful-wildcards.ts";

/** Programs that are too dangerous to allow by habit. */
const NEVER = new Set("rm rmdir unlink dd kill pkill killall export set curl wget ssh scp".split(" "));

/**
 * Patterns for the only command of a line that needs a rule: with a wildcard if that is useful, and its exact words.
 */
export function suggestedCommands(judged: JudgedCall): string[] {
  const files = judged.files();
  const needed = neededCommands(judged);
  if (!files) return [];
  const isWriting = needed.some(({ writes }) => writes.length > 0);
  if (isWriting && needed.every((command) => isHarmless({ ...command, writes: [] }, files)))
    return writtenFiles(needed, files);
  const texts = [...new Set(needed.map(({ words }) => written(words)))];
  const [first] = needed;
  if (!first || texts.length !== 1 || first.writes.length > 0 || !maySuggest(first, files.start)) return [];
  const length = wildcardAfter(first.words);
  const wide = length === undefined ? [] : [`Bash(${written(first.words.slice(0, length))} *)`];
  return [...wide, `Bash(${texts[0]})`];
}

/** The commands of a line that need a rule. */
export function neededCommands(judged: JudgedCall): readonly LiteralCommand[] {
  const files = judged.files();
  const commands = judged.literal() ?? [];
  const others = files ? commands.filter((command) => !isHarmless(command, files)) : [];
  // All commands are harmless, but in `strict` they need approval anyway.
  return others.length > 0 ? others : commands;
}

/** For commands that only read: a pattern for the single file that they write. */
function writtenFiles(commands: readonly LiteralCommand[], { start, find }: ReadableFiles): string[] {
  const [path, ...others] = new Set(commands.flatMap(({ writes }) => writes));
  const found = path === undefined || others.length > 0 ? undefined : find(path, start);
  return found && isWithin(start, found.real) ? [`Edit(./${found.real.slice(start.length + 1)})`] : [];
}

function isHarmless(command: LiteralCommand, files: ReadableFiles): boolean {
  return isHarmlessLine([{ ...command, separator: undefined }], files, () => false);
}

function maySuggest({ words, parsed }: LiteralCommand, start: string): boolean {
  const call = programCall(parsed);
  if (isShell(call.program) || isInterpreter(call.program) || isRunner(call.program) || NEVER.has(call.program))
    return false;
  if (words.length === 1 && (call.program === "git" || call.program === "npm")) return false;
  if (startedBy(call).length > 0 || scriptsOf(call).length > 0) return false;
  const alone = { source: "", commands: [parsed], functions: [], variables: [], evaluations: [], problems: [] };
  return dangersIn({ ...alone, tree: undefined }, start).length === 0;
}

/** The words in the spelling of a pattern. */
function written(words: readonly string[]): string {
  return words.map((word) => (/^[\w./:,+@%=-]+$/.test(word) ? word : quoted(word))).join(" ");
}

function quoted(word: string): string {
  return word.includes("'") ? `"${word.replaceAll(/[$`"\\]/g, "\\$&")}"` : `'${word}'`;
}
