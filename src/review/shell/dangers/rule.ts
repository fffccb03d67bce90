import type { Directory } from "../paths/paths.ts";
import type { ProgramCall } from "../programs/programs.ts";
import type { Word } from "../syntax/parsed-command.ts";

/** What a rule reports, as verb phrases that follow "it"; `undefined` if there is no danger. */
export type Finding = string | string[] | undefined;

/** The directory in which a command runs, and the paths that it would create, change or remove. */
export type CommandContext = { directory: Directory; changed: Word[] };

/** A whole command line, including the commands that other commands start. */
export type CommandLine = {
  source: string;
  commands: { command: ProgramCall; context: CommandContext }[];
  functions: string[];
  variables: string[];
  evaluations: string[];
  problems: string[];
};

/** A rule checks each command, or all of them together. */
export type Rule = {
  rule: string;
  test?: (command: ProgramCall, context: CommandContext) => Finding;
  testAll?: (line: CommandLine) => Finding;
};
