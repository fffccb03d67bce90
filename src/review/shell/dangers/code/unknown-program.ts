import { isInterpreter, isShell, isSource, type ProgramCall } from "../../programs/programs.ts";
import { scriptsOf, shellArguments } from "../../programs/scripts.ts";
import type { Word } from "../../syntax/parsed-command.ts";
import type { Finding, Rule } from "../rule.ts";

/** Runs a program or a text that is known only at run time. */
export const unknownProgram: Rule = { rule: "unknown-program", test: findUnknown };

function findUnknown(command: ProgramCall): Finding {
  const { program, args, words } = command;
  const [first] = words;
  if (first?.isDynamic) return `runs a program that is known only at run time (${first.text})`;
  if (scriptsOf(command).some(({ isDynamic }) => isDynamic)) {
    return `runs a command that is known only at run time (${program})`;
  }
  const file = isShell(program) ? shellFile(args) : isInterpreter(program) || isSource(program) ? args[0] : undefined;
  return file?.isDynamic && !/^[<>]\(/.test(file.text)
    ? `runs a script that is known only at run time (${program} ${file.text})`
    : undefined;
}

function shellFile(args: Word[]): Word | undefined {
  const { isCommand, operand } = shellArguments(args);
  return isCommand ? undefined : operand;
}
