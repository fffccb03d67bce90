import { changedPaths } from "../../../../review/shell/paths/changed-paths.ts";
import { gitArguments } from "../../../../review/shell/programs/git-arguments.ts";
import type { ProgramCall } from "../../../../review/shell/programs/programs.ts";
import { readArguments } from "../../../../review/shell/syntax/options.ts";
import type { Word } from "../../../../review/shell/syntax/parsed-command.ts";
import { READING_PROGRAMS } from "../../builtin/programs.ts";
import { SPECIAL_PROGRAMS } from "../../builtin/special-programs.ts";
import { familyOf } from "../commands/same-commands.ts";

/** Programs that change none of the files that their words name, unless one of the words matches the expression. */
const READERS = new Map<string, RegExp | undefined>([
  ...[...READING_PROGRAMS, ...SPECIAL_PROGRAMS].map((name): [string, undefined] => [name, undefined]),
  ...names("rg ag ack ugrep zgrep less more bat jq shellcheck mypy pylint flake8 hadolint du df ps kill pwd cd"),
  ["sort", /^-[A-Za-z]*o|^--o/],
  ["file", /^-[A-Za-z]*C|^--c/],
  ["tree", /^-[A-Za-z]*o|^--o/],
  ["diff", /^--o/],
  ["yq", /^-[A-Za-z]*[is]|^--(?:inp|split)/],
  ["gh", /^(?:clone|download|checkout|co)$/],
  ["eslint", /^--fix|^-[A-Za-z]*o|^--o/],
  ["prettier", /^-[A-Za-z]*w|^--w/],
  ["markdownlint", /^-[A-Za-z]*[fo]|^--[fo]/],
  ["cspell", /^--/],
]);
/** Programs whose changes are known: they only read their other words. */
export const CHANGES_KNOWN: ReadonlySet<string> = new Set(
  "rm rmdir unlink shred mv tee touch mkdir mkfifo truncate chmod chown chgrp cp ln dd sed awk gawk mawk find scp".split(
    " ",
  ),
);
/** Programs that put a file into a directory under its own name. */
export const COPYING: ReadonlySet<string> = new Set("cp mv ln install scp rsync".split(" "));
/** Verbs of git that leave the working tree unchanged. */
const GIT_READS = new Set(
  "add stage blame branch cat-file commit count-objects describe diff fetch for-each-ref grep log ls-files ls-remote ls-tree merge-base name-rev push range-diff reflog remote rev-list rev-parse shortlog show show-ref status tag".split(
    " ",
  ),
);
/** Programs that build or test a project, and change nothing else in a directory. */
export const BUILDING: ReadonlySet<string> = new Set(
  "npm pnpm yarn bun cargo go make gradle mvn pytest jest vitest mocha tsc ctest turbo nx docker".split(" "),
);

/** The words that may name a file which the command changes, as far as its program is known. */
export function possiblyChanged(command: ProgramCall): Word[] {
  const program = familyOf(command.program);
  if (COPYING.has(program)) return [...copiesOf(command), ...(CHANGES_KNOWN.has(program) ? [] : command.args)];
  return CHANGES_KNOWN.has(program) || leavesFiles(program, command) ? [] : command.args;
}

/** The same for directories that may change with everything below them. */
export function possiblyChangedTrees(command: ProgramCall): Word[] {
  const words = possiblyChanged(command);
  const named = BUILDING.has(familyOf(command.program)) ? [] : words;
  return [...named, ...words.flatMap(aboveWildcard), ...unknownIn(changedPaths(command))];
}

/** Whether a command creates, changes or removes files that its words name. */
export function changesByName(command: ProgramCall): boolean {
  return changedPaths(command).length > 0;
}

/** The directories before the first part that is unknown until the command runs. */
export function unknownIn(words: readonly Word[]): Word[] {
  return words.filter(({ isDynamic }) => isDynamic).map(atFront);
}

export function atFront(word: Word): Word {
  const known = /^[^$`*?[{]*\//.exec(word.value)?.[0] ?? ".";
  return { ...word, isDynamic: false, value: known };
}

/** The directory in which a program would expand a pattern that the shell left alone. */
export function aboveWildcard(word: Word): Word[] {
  const at = word.isDynamic ? -1 : word.value.search(/[*?[{]/);
  if (at < 0) return [];
  const front = word.value.slice(0, at).replace(/^--?[\w-]+=/, "");
  return [{ ...word, value: front.slice(0, front.lastIndexOf("/") + 1) || "." }];
}

function leavesFiles(program: string, command: ProgramCall): boolean {
  const { args } = command;
  const has = (option: RegExp) => args.some(({ value }) => option.test(value));
  if (program === "git") return GIT_READS.has(gitArguments(command).verb) && !has(/^--ou|^-o/);
  if (program === "uniq") return readArguments(args, { short: "fsw" }).operands.length < 2;
  if (!READERS.has(program)) return false;
  const writing = READERS.get(program);
  return writing === undefined || !has(writing);
}

/** The paths of the copies: the target directory joined with the name of each source. */
function copiesOf(command: ProgramCall): Word[] {
  const sources = readArguments(command.args).operands;
  return changedPaths(command).flatMap((target) =>
    sources.map((source) => ({
      ...target,
      value: `${target.value}/${source.value.replace(/\/+$/, "").split("/").at(-1) ?? ""}`,
    })),
  );
}

function names(text: string): [string, undefined][] {
  return text.split(" ").map((name) => [name, undefined]);
}
