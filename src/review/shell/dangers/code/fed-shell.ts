import { isInterpreter, isShell, isSource, type ProgramCall } from "../../programs/programs.ts";
import { PARALLEL, STANDARD_INPUT, shellArguments } from "../../programs/scripts.ts";
import { readArguments, valuesOf } from "../../syntax/options.ts";
import type { Word } from "../../syntax/parsed-command.ts";
import type { CommandLine, Rule } from "../rule.ts";

const PRINTED = /[<>]\(|\$\(|`/;
const SUBSTITUTION = /^[<>]\(/;
/** Interpreter options with a value, so that the value is not read as the script. */
const VALUED = { short: "ceEmpWXrIM", long: ["require", "import", "loader"] };
/** Those of them whose value is code. */
const GIVEN = ["-c", "-e", "-E", "-m", "-p", "--eval", "--print"];

/** Runs code that nobody has seen, from a pipe, another command or the network. */
export const fedShell: Rule = {
  rule: "fed-shell",
  testAll: (line) => [...findAllPiped(line), ...findDownloaded(line)],
};

function findAllPiped({ commands }: CommandLine): string[] {
  let downloads = false;
  return commands.flatMap(({ command }) => {
    downloads ||= isDownload(command);
    return findPiped(command, downloads) ?? [];
  });
}

function isDownload({ program }: ProgramCall): boolean {
  return program === "curl" || program === "wget";
}

function findPiped(command: ProgramCall, downloads: boolean): string | undefined {
  const { program, args, hasInput, redirects } = command;
  if (!isShell(program) && !isInterpreter(program) && !isSource(program)) {
    return program === "parallel" && hasInput && readArguments(args, PARALLEL).operands.length === 0
      ? "runs every line of its input as a command (parallel)"
      : undefined;
  }
  const { file, text } = toRun(command);
  if (hasInput && !text && (file ? STANDARD_INPUT.test(file.value) : !isSource(program))) {
    return downloads ? `pipes a download into a shell (${program})` : `runs what is piped into it (${program})`;
  }
  const fromRedirect = redirects.some(
    ({ operator, target }) => operator === "<" && SUBSTITUTION.test(target?.text ?? ""),
  );
  if (fromRedirect || PRINTED.test(text?.isDynamic ? text.text : "") || (file?.isDynamic && PRINTED.test(file.text))) {
    return `runs the output of another command (${program})`;
  }
  const isUrl = program === "deno" && args.some(({ value }) => /^https?:/.test(value));
  return isUrl ? "runs code from the network (deno)" : undefined;
}

/** A file that one command downloads and another runs. */
function findDownloaded({ commands }: CommandLine): string[] {
  const fetched = new Set<string>();
  for (const { command, context } of commands) {
    const { program, words, args } = command;
    if (isDownload(command)) {
      for (const path of [...context.changed, ...args.filter(({ value }) => value.includes("://"))])
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

/** The code that is run: text on the command line, or a file. */
function toRun({ program, args }: ProgramCall): { text: Word | undefined; file: Word | undefined } {
  if (isShell(program)) {
    const { text, isCommand, operand } = shellArguments(args);
    return { text, file: isCommand ? undefined : operand };
  }
  const { options, operands } = readArguments(args, VALUED, true);
  return { text: valuesOf(options, ...GIVEN, ...(program === "php" ? ["-r"] : []))[0], file: operands[0] };
}
