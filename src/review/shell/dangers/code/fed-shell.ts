import { isInterpreter, isShell, isSource, type Subject } from "../../programs/programs.ts";
import { PARALLEL, STANDARD_INPUT, shellArguments } from "../../programs/scripts.ts";
import { readArguments, valuesOf } from "../../syntax/options.ts";
import type { Word } from "../../syntax/parsed-command.ts";
import type { Rule, Whole } from "../rule.ts";

const PRINTED = /[<>]\(|\$\(|`/;
const SUBSTITUTION = /^[<>]\(/;
/** Options of interpreters that take a value, so that the value is not taken for a script. */
const VALUED = { short: "ceEmpWXrIM", long: ["require", "import", "loader"] };
/** Those of them by which it gets something else to run. */
const GIVEN = ["-c", "-e", "-E", "-m", "-p", "--eval", "--print"];

/** Runs what comes through a pipe, from another command or from the net: nobody has seen what will run. */
export const fedShell: Rule = {
  rule: "fed-shell",
  testWhole: (whole) => [...findAllFed(whole), ...findDownloaded(whole)],
};

function findAllFed({ commands }: Whole): string[] {
  let downloads = false;
  return commands.flatMap(({ command }) => {
    downloads ||= isDownload(command);
    return findFed(command, downloads) ?? [];
  });
}

function isDownload({ program }: Subject): boolean {
  return program === "curl" || program === "wget";
}

function findFed(command: Subject, downloads: boolean): string | undefined {
  const { program, args, isFed, redirects } = command;
  if (!isShell(program) && !isInterpreter(program) && !isSource(program)) {
    return program === "parallel" && isFed && readArguments(args, PARALLEL).operands.length === 0
      ? "runs every line that it is fed as a command (parallel)"
      : undefined;
  }
  const { file, text } = toRun(command);
  if (isFed && !text && (file ? STANDARD_INPUT.test(file.value) : !isSource(program))) {
    return downloads ? `pipes a download into a shell (${program})` : `runs what is piped into it (${program})`;
  }
  const fromRedirect = redirects.some(
    ({ operator, target }) => operator === "<" && SUBSTITUTION.test(target?.text ?? ""),
  );
  if (fromRedirect || PRINTED.test(text?.isDynamic ? text.text : "") || (file?.isDynamic && PRINTED.test(file.text))) {
    return `runs what another command prints (${program})`;
  }
  const isUrl = program === "deno" && args.some(({ value }) => /^https?:/.test(value));
  return isUrl ? "runs code from the net (deno)" : undefined;
}

/** A file that one command fetches and another runs. */
function findDownloaded({ commands }: Whole): string[] {
  const fetched = new Set<string>();
  for (const { command, place } of commands) {
    const { program, words, args } = command;
    if (isDownload(command)) {
      for (const path of [...place.changed, ...args.filter(({ value }) => value.includes("://"))])
        fetched.add(baseOf(path));
    } else {
      const isRunning = isShell(program) || isInterpreter(program) || isSource(program);
      const run = isRunning ? args.find(({ value }) => fetched.has(baseOf({ value }))) : words[0];
      if (run && fetched.has(baseOf(run))) return [`runs a file that it downloads (${run.value})`];
    }
  }
  return [];
}

function baseOf({ value }: Pick<Word, "value">): string {
  return value.slice(value.lastIndexOf("/") + 1);
}

/** The text on the command line, or the file that is run. */
function toRun({ program, args }: Subject): { text: Word | undefined; file: Word | undefined } {
  if (isShell(program)) {
    const { text, isCommand, operand } = shellArguments(args);
    return { text, file: isCommand ? undefined : operand };
  }
  const { options, operands } = readArguments(args, VALUED, true);
  return { text: valuesOf(options, ...GIVEN, ...(program === "php" ? ["-r"] : []))[0], file: operands[0] };
}
