import { oneLine } from "../../../contract/text/one-line.ts";

/** The reasons why an allow rule does not cover a call that it seems to cover. */
export type Obstacle = keyof typeof REASONS;

/** A rule that seems to cover a call, and the obstacle, with the word or file that causes it. */
export type Doubt = { id: string; obstacle: Obstacle; about?: string | undefined };

const MAX_MATCH_CHARS = 80;
const MAX_ABOUT_CHARS = 60;

/** Each text follows "the rule does not cover it:"; `about` holds words of the call. */
const REASONS = {
  arguments: (about: string) => `it has arguments that always ask${named(about)}`,
  lacks: (about: string) => `it lacks an argument that the tool needs${named(about)}`,
  type: (about: string) => `it has an argument of another type than the tool takes${named(about)}`,
  shell_tool: () => "a command of another tool than Bash always asks",
  syntax: (about: string) =>
    `it is not only literal words${named(about)}: variables, patterns, substitutions, & and other syntax of a shell always ask`,
  place: () => "where it would run is not known",
  own_programs: () => "PATH leads into the project, so that any program could be the project's own",
  unreadable: () => "not all that it would start can be read",
  suspect: () => "a rule against something may be meant, so only exact words allow it",
  uncovered: (about: string) => `no rule covers another part of it${named(about)}`,
  redirect: (about: string) => `it writes to ${about || "a file"} (redirect)`,
  directory: () => "it changes the directory, where the same words could run something else",
  line: () => "a part of it could change what another part reads or writes",
  program: (about: string) => `a rule for all commands covers only programs by their plain names${named(about)}`,
  exact: (about: string) => `only its exact words are covered${without(about)}`,
  runner: (about: string) =>
    `a wildcard never covers a shell, an interpreter, or a program, verb or option that runs others${named(about)}`,
  option: (about: string) => `a wildcard covers only options that are known to be harmless${without(about)}`,
  danger: (about: string) => `it is dangerous, which only exact words cover${about && `: it ${about}`}`,
  wildcard_danger: (about: string) => `it is dangerous, which no wildcard covers${about && `: it ${about}`}`,
  dangerous: () => "it is dangerous, which a rule for all such calls does not cover",
  network: (about: string) =>
    `a rule for all commands covers no program that connects to other machines${named(about)}: name it`,
  target: (about: string) => `it names another target than the pattern${named(about)}`,
  search: () => "it searches where not everything may be read",
  path: (about: string) => `it names a path that may lead elsewhere, or a file that runs later${named(about)}`,
  outside: (about: string) =>
    `it names a path outside of the session's directories, whose code it could load${named(about)}`,
  stored: () => "it may print what a file that may not be read has contained",
  names_directory: (about: string) => `it names a directory, whose own code or links would count${named(about)}`,
  writes: (about: string) => `it writes a file that its words name${named(about)}`,
  repository: () => "it may work on another repository",
  private: () => "it leads to a file that no child may read",
  unfollowed: () => "its path can't be followed",
  missing: () => "there is no such file",
  elsewhere: (about: string) => `its path really leads to ${about || "another place"}`,
  control_file: () => "the file controls programs or holds credentials: only a pattern that names it covers it",
  address: () => "its address is not plain: http or https, the usual port, and no user name",
  answered: () => "somebody answers such a call each time",
  server: () => "a star covers tools of an MCP server only where it names the server",
  unknown_tool: () => "a star covers only tools that Plexus knows",
  several: () => "its parts need rules of their own: no single one covers all of it",
  unproven: () => "it can't be proven what it would do",
  shadow: () => "it is in shadow mode, and only records",
  grant: () => "the grant of whoever made it does not cover the call",
} as const satisfies Record<string, (about: string) => string>;

/** One sentence on why a rule with this match does not cover a call; it may quote the call. */
export function whyNotCovered(match: string, doubt: Omit<Doubt, "id">): string {
  return `${oneLine(match, MAX_MATCH_CHARS)} does not cover it: ${reasonOf(doubt)}`;
}

/** The same without the match. */
export function reasonOf({ obstacle, about = "" }: Omit<Doubt, "id">): string {
  return REASONS[obstacle](oneLine(about, MAX_ABOUT_CHARS));
}

function named(about: string): string {
  return about && ` (${about})`;
}

function without(about: string): string {
  return about && `, not ${about}`;
}
