import { commandLineOf } from "./command-line.ts";
import { RULES } from "./dangers/index.ts";
import type { CommandLine, Finding } from "./dangers/rule.ts";
import type { ParsedCommand } from "./syntax/parsed-command.ts";

/** Why a command needs a second look, as a verb phrase that follows "it". */
export type Danger = { rule: string; message: string };

/**
 * Returns the dangers of a command. In doubt it reports one: anything unknown before the command runs counts as
 * dangerous. It helps people review; it does not stop anything, because a program may do anything, whatever its name.
 */
export function dangersIn(parsed: ParsedCommand, workingDir: string | null, rules = RULES): Danger[] {
  return dangersOfLine(commandLineOf(parsed, workingDir), rules);
}

export function dangersOfLine(line: CommandLine, rules = RULES): Danger[] {
  const found = new Map<string, Danger>();
  for (const { rule, test, testAll } of rules) {
    const findings = test ? line.commands.map(({ command, context }) => test(command, context)) : [];
    if (testAll) findings.push(testAll(line));
    for (const message of findings.flatMap(messagesOf)) found.set(message, { rule, message });
  }
  return [...found.values()];
}

function messagesOf(finding: Finding): string[] {
  if (finding === undefined) return [];
  return typeof finding === "string" ? [finding] : finding;
}
