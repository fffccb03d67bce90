import { RULES } from "./dangers/index.ts";
import type { Finding, Whole } from "./dangers/rule.ts";
import { changedPaths } from "./paths/changed-paths.ts";
import { after, type Directory, isTooLong, locate, pathIn, startIn, TOO_LONG } from "./paths/paths.ts";
import { addFacts, unwrapped } from "./programs/unwrapped.ts";
import type { Reading, SimpleCommand, Word } from "./syntax/parsed-command.ts";

/** No text that a person could judge runs more. */
const MAX_COMMANDS = 1_000;
/** Of the paths that it changes, each with the directory that it is seen from. */
const MAX_CHANGED_CHARS = 262_144;

/** Why a command wants a second look, in words that go on after "it". */
export type Danger = { rule: string; message: string };

/**
 * What in a command is dangerous. It errs on the side of danger: what can't be told before it runs counts too.
 * It is a help for people who look, not a wall: a program may do anything, whatever it is called.
 */
export function dangersIn(reading: Reading, workingDir: string | null, rules = RULES): Danger[] {
  const whole = wholeOf(reading, workingDir);
  const found = new Map<string, Danger>();
  for (const { rule, test, testWhole } of rules) {
    const findings = test ? whole.commands.map(({ command, place }) => test(command, place)) : [];
    if (testWhole) findings.push(testWhole(whole));
    for (const message of findings.flatMap(messagesOf)) found.set(message, { rule, message });
  }
  return [...found.values()];
}

/** The words of a command that name places outside of the working directory, for marking them. */
export function outsideWords(reading: Reading, workingDir: string | null): { pos: number; end: number }[] {
  let directory = startIn(workingDir);
  return reading.commands.flatMap((command) => {
    const here = directory;
    directory = after(command, directory);
    return pathWords(command).filter((word) => ["outside", "temporary"].includes(locate(pathIn(word) ?? "", here)));
  });
}

function wholeOf(reading: Reading, workingDir: string | null): Whole {
  const { source, functions, variables, evaluations, problems } = reading;
  const whole: Whole = {
    source,
    commands: [],
    functions: [...functions],
    variables: [...variables],
    evaluations: [...evaluations],
    problems: [...problems],
  };
  let directory = startIn(workingDir);
  const readable = pathReader();
  for (const outer of reading.commands) {
    const inner = unwrapped(outer, MAX_COMMANDS - whole.commands.length);
    for (const command of inner.commands) {
      const { changed, problem } = readable(changedPaths(command), directory);
      if (problem) whole.problems.push(problem);
      whole.commands.push({ command, place: { directory, changed } });
      directory = after(command, directory);
    }
    addFacts(whole, inner);
    if (whole.commands.length >= MAX_COMMANDS) break;
  }
  return whole;
}

/** Passes on the paths that can be judged, for as long as there are not too many of them in one text. */
function pathReader() {
  let chars = 0;
  return (paths: Word[], { at }: Directory): { changed: Word[]; problem: string | undefined } => {
    const changed = paths.filter(({ value }) => !isTooLong(value));
    for (const { value } of changed) chars += at.length + value.length;
    if (chars > MAX_CHANGED_CHARS) return { changed: [], problem: "changes too many files to look at all of them" };
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
