import { isInterpreter, isShell, isSource, type Subject } from "../../programs/programs.ts";
import { scriptsOf, shellArguments } from "../../programs/scripts.ts";
import type { Word } from "../../syntax/parsed-command.ts";
import type { Finding, Rule } from "../rule.ts";

/** Runs a program or a text that is only known once it runs. */
export const unknownProgram: Rule = { rule: "unknown-program", test: findUnknown };

function findUnknown(command: Subject): Finding {
  const { program, args, words } = command;
  const [first] = words;
  if (first?.isDynamic) return `runs a program that is not known before (${first.text})`;
  if (scriptsOf(command).some(({ isDynamic }) => isDynamic)) {
    return `runs a command that is not known before (${program})`;
  }
  const file = isShell(program) ? shellFile(args) : isInterpreter(program) || isSource(program) ? args[0] : undefined;
  return file?.isDynamic && !/^[<>]\(/.test(file.text)
    ? `runs a script that is not known before (${program} ${file.text})`
    : undefined;
}

function shellFile(args: Word[]): Word | undefined {
  const { isCommand, operand } = shellArguments(args);
  return isCommand ? undefined : operand;
}
