import { RULES } from "./dangers/index.ts";
import type { CommandLine, Finding } from "./dangers/rule.ts";
import { changedPaths } from "./paths/changed-paths.ts";
import { after, type Directory, isTooLong, locate, pathIn, startIn, TOO_LONG } from "./paths/paths.ts";
import { addFacts, unwrapped } from "./programs/unwrapped.ts";
import type { ParsedCommand, SimpleCommand, Word } from "./syntax/parsed-command.ts";

/** No command line that a person could review runs more. */
const MAX_COMMANDS = 1_000;
/** For all changed paths together, each with the directory that it starts from. */
const MAX_CHANGED_CHARS = 262_144;

/** Why a command needs a second look, as a verb phrase that follows "it". */
export type Danger = { rule: string; message: string };

/**
 * The dangers of a command. In doubt it reports one: what can't be known before the command runs counts as dangerous.
 * It helps people who review; it does not stop anything, since a program may do anything, whatever its name.
 */
export function dangersIn(parsed: ParsedCommand, workingDir: string | null, rules = RULES): Danger[] {
  const line = commandLineOf(parsed, workingDir);
  const found = new Map<string, Danger>();
  for (const { rule, test, testAll } of rules) {
    const findings = test ? line.commands.map(({ command, context }) => test(command, context)) : [];
    if (testAll) findings.push(testAll(line));
    for (const message of findings.flatMap(messagesOf)) found.set(message, { rule, message });
  }
  return [...found.values()];
}

/** The words of a command that name paths outside the working directory, to mark them. */
export function outsideWords(parsed: ParsedCommand, workingDir: string | null): { pos: number; end: number }[] {
  let directory = startIn(workingDir);
  return parsed.commands.flatMap((command) => {
    const here = directory;
    directory = after(command, directory);
    return pathWords(command).filter((word) => ["outside", "temporary"].includes(locate(pathIn(word) ?? "", here)));
  });
}

function commandLineOf(parsed: ParsedCommand, workingDir: string | null): CommandLine {
  const { source, functions, variables, evaluations, problems } = parsed;
  const line: CommandLine = {
    source,
    commands: [],
    functions: [...functions],
    variables: [...variables],
    evaluations: [...evaluations],
    problems: [...problems],
  };
  let directory = startIn(workingDir);
  const checkable = pathFilter();
  for (const outer of parsed.commands) {
    const inner = unwrapped(outer, MAX_COMMANDS - line.commands.length);
    for (const command of inner.commands) {
      const { changed, problem } = checkable(changedPaths(command), directory);
      if (problem) line.problems.push(problem);
      line.commands.push({ command, context: { directory, changed } });
      directory = after(command, directory);
    }
    addFacts(line, inner);
    if (line.commands.length >= MAX_COMMANDS) break;
  }
  return line;
}

/** Returns the paths that can be checked, up to a limit for the whole command line. */
function pathFilter() {
  let chars = 0;
  return (paths: Word[], { at }: Directory): { changed: Word[]; problem: string | undefined } => {
    const changed = paths.filter(({ value }) => !isTooLong(value));
    for (const { value } of changed) chars += at.length + value.length;
    if (chars > MAX_CHANGED_CHARS) return { changed: [], problem: "changes too many files to check them all" };
    return { changed, problem: changed.length < paths.length ? TOO_LONG : undefined };
  };
}

function pathWords({ words, redirects }: SimpleCommand) {
  const targets = redirects.flatMap(({ target }) => target ?? []);
  return [...words, ...targets].filter((word) => pathIn(word) !== undefined);
}

function messagesOf(finding: Finding): string[] {
  if (finding === undefined) return [];
  return typeof finding === "string" ? [finding] : finding;
}
