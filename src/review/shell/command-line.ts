import type { CommandContext, CommandLine } from "./dangers/rule.ts";
import { type ChangedPath, changedPaths } from "./paths/changed-paths.ts";
import { followed, type Links, placesOf } from "./paths/links.ts";
import { after, type Directory, isTooLong, startIn, TOO_LONG } from "./paths/paths.ts";
import type { ProgramCall } from "./programs/programs.ts";
import { addFacts, unwrapped } from "./programs/unwrapped.ts";
import type { ParsedCommand, SimpleCommand } from "./syntax/parsed-command.ts";

/** A person could not review a command line that runs more. */
const MAX_COMMANDS = 1_000;
/** The limit for all changed paths together, each with its starting directory. */
const MAX_CHANGED_CHARS = 262_144;

/** Returns everything that a command line runs, as it is written. */
export function commandLineOf(parsed: ParsedCommand, workingDir: string | null): CommandLine {
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
      line.commands.push({ command, context: { directory, changed, real: [] } });
      directory = after(command, directory);
    }
    addFacts(line, inner);
    if (line.commands.length >= MAX_COMMANDS) break;
  }
  return line;
}

/** Returns the same with the real paths added, as if they were written there too. */
export function throughLinks(line: CommandLine, links: Links): CommandLine {
  if (links.size === 0) return line;
  const real: CommandLine = { ...line, commands: [], problems: [...line.problems] };
  const checkable = pathFilter();
  const add = (command: ProgramCall, { directory, changed }: CommandContext): void => {
    const found = followed(command, changed, directory, links);
    const led = checkable(found.changed, directory);
    if (led.problem) real.problems.push(led.problem);
    for (const word of found.lost) real.problems.push(`names ${word}, and where that leads is not known`);
    const context = { directory, changed: [...changed, ...led.changed], real: [...found.named, ...led.changed] };
    real.commands.push({ command, context });
  };
  for (const { command, context } of line.commands) {
    add(command, context);
    const run = programThroughLink(command, context.directory, links);
    if (!run) continue;
    const inner = unwrapped(run, MAX_COMMANDS - real.commands.length);
    for (const one of inner.commands) add(one, { ...context, changed: changedPaths(one) });
    addFacts(real, inner);
  }
  return real;
}

/** Returns the same command with the real path of its program, if a link leads there. */
function programThroughLink(command: ProgramCall, directory: Directory, links: Links): SimpleCommand | undefined {
  const [run, ...args] = command.words;
  if (!run?.value.includes("/")) return undefined;
  const [real] = placesOf(run, directory).flatMap(({ path }) => links.get(path) ?? []);
  return real === undefined ? undefined : { ...command, words: [{ ...run, value: real, text: real }, ...args] };
}

/** Returns the paths that can be checked, up to a limit for the whole command line. */
function pathFilter() {
  let chars = 0;
  return (paths: ChangedPath[], { at }: Directory): { changed: ChangedPath[]; problem: string | undefined } => {
    const changed = paths.filter(({ value }) => !isTooLong(value));
    for (const { value } of changed) chars += at.length + value.length;
    if (chars > MAX_CHANGED_CHARS) return { changed: [], problem: "changes too many files to check them all" };
    return { changed, problem: changed.length < paths.length ? TOO_LONG : undefined };
  };
}
