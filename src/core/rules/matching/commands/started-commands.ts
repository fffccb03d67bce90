import { after, type Directory, startIn } from "../../../../review/shell/paths/paths.ts";
import { isShell, isSource, type ProgramCall } from "../../../../review/shell/programs/programs.ts";
import { STANDARD_INPUT, shellArguments } from "../../../../review/shell/programs/scripts.ts";
import { unwrapped } from "../../../../review/shell/programs/unwrapped.ts";
import { parseCommand } from "../../../../review/shell/syntax/parsed-command.ts";

/** A command with the directory in which it would run, as far as the text shows. */
export type StartedCommand = { command: ProgramCall; directory: Directory };

/** More commands than a person could review in one line. */
const MAX_COMMANDS = 1_000;
/** A text with more separators or blanks takes too long to parse. */
const MAX_SEPARATORS = 4_000;
const MAX_BLANKS = 8_000;
/** For all commands together: each wrapper repeats the words of the command that it runs. */
const MAX_WORDS = 20_000;

/** A proof requires `isComplete`: a command that is missing here might be one that a rule denies. */
export type StartedCommands = { commands: readonly StartedCommand[]; isComplete: boolean };

/** Every command that a text would start, however nested, wrapped or quoted, as far as its words are known. */
export function startedCommands(source: string, workingDir: string | undefined): StartedCommands {
  const commands: StartedCommand[] = [];
  if (isTooMuch(source)) return { commands, isComplete: false };
  let directory = startIn(workingDir ?? null);
  let words = 0;
  let isComplete = true;
  const addAll = (text: string) => {
    const parsed = parseCommand(text);
    isComplete &&= parsed.problems.length === 0;
    for (const outer of parsed.commands) {
      const inner = unwrapped(outer, MAX_COMMANDS - commands.length);
      isComplete &&= inner.problems.length === 0;
      for (const command of inner.commands) {
        words += command.words.length;
        if (commands.length >= MAX_COMMANDS || words > MAX_WORDS) {
          isComplete = false;
          return;
        }
        commands.push({ command, directory });
        directory = after(command, directory);
      }
    }
  };
  addAll(source);
  for (const text of textsForShells(commands)) if (isComplete) addAll(text);
  return { commands, isComplete };
}

function isTooMuch(source: string): boolean {
  if (source.length <= MAX_SEPARATORS) return false;
  return source.split(/[;|&\n(`<>]/).length > MAX_SEPARATORS || source.split(/[ \t]/).length > MAX_BLANKS;
}

/** The texts that the line may pipe into a shell: here-documents and printed words. */
function textsForShells(commands: readonly StartedCommand[]): string[] {
  if (!commands.some(({ command }) => readsInput(command))) return [];
  return commands.flatMap(({ command: { program, args, redirects } }) => [
    ...redirects.flatMap(({ body }) => (body ? [body.value] : [])),
    ...(program === "echo" || program === "printf" ? [printed(args.map(({ value }) => value))] : []),
  ]);
}

function readsInput({ program, args, hasInput }: ProgramCall): boolean {
  if (!hasInput || !isShell(program)) return false;
  const { isCommand, operand } = shellArguments(args);
  return !isCommand && (operand === undefined || STANDARD_INPUT.test(operand.value));
}

/** Whether a shell runs the output of another command, or a file that is not known yet. A here-document is known. */
export function runsUnknownText(command: ProgramCall): boolean {
  const { program, args } = command;
  const file = isShell(program) ? shellArguments(args).operand : isSource(program) ? args[0] : undefined;
  if (file?.isDynamic) return true;
  return readsInput(command) && !command.redirects.some(({ body }) => body !== undefined && !body.isDynamic);
}

/** The text that `echo` or `printf` prints, with `\n` turned into line breaks. */
function printed(words: readonly string[]): string {
  return words
    .filter((word) => !/^-[neE]+$/.test(word))
    .join(" ")
    .replaceAll("\\n", "\n");
}
