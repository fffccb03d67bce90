import type { ChangedPath } from "../paths/changed-paths.ts";
import type { Directory } from "../paths/paths.ts";
import type { ProgramCall } from "../programs/programs.ts";
import type { Word } from "../syntax/parsed-command.ts";

/** The result of a rule, as verb phrases that follow "it"; `undefined` if there is no danger. */
export type Finding = string | string[] | undefined;

/** A command's directory, and the paths that it touches. */
export type CommandContext = {
  directory: Directory;
  /** The paths that it would create, change, remove or link to, both as written and as real paths. */
  changed: ChangedPath[];
  /** The real paths of all paths that it names, if they differ. */
  real: Word[];
};

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
