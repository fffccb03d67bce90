import type { ChangedPath } from "../paths/changed-paths.ts";
import type { Directory } from "../paths/paths.ts";
import type { ProgramCall } from "../programs/programs.ts";
import type { Word } from "../syntax/parsed-command.ts";

/** What a rule reports, as verb phrases that follow "it"; `undefined` if there is no danger. */
export type Finding = string | string[] | undefined;

/** Where a command runs, and what it does there. */
export type CommandContext = {
  directory: Directory;
  /** The paths that it would create, change or remove, or make a link to: as written, and where they really lead. */
  changed: ChangedPath[];
  /** Where any path that it names really leads, if that is elsewhere. */
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
