import type { Directory } from "../paths/paths.ts";
import type { Subject } from "../programs/programs.ts";
import type { Word } from "../syntax/parsed-command.ts";

/** What a rule says, in words that go on after "it"; nothing where there is no danger. */
export type Finding = string | string[] | undefined;

/** Where the shell stands when a command runs, and what the command would create, change or remove. */
export type Place = { directory: Directory; changed: Word[] };

/** All that was read, with the commands that other commands start. */
export type Whole = {
  source: string;
  commands: { command: Subject; place: Place }[];
  functions: string[];
  variables: string[];
  evaluations: string[];
  problems: string[];
};

/** A rule looks at each command, or at all of them together. */
export type Rule = {
  rule: string;
  test?: (command: Subject, place: Place) => Finding;
  testWhole?: (whole: Whole) => Finding;
};
