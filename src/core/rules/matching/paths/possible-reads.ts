import type { ProgramCall } from "../../../../review/shell/programs/programs.ts";
import { readArguments } from "../../../../review/shell/syntax/options.ts";
import type { Word } from "../../../../review/shell/syntax/parsed-command.ts";
import { familyOf } from "../commands/same-commands.ts";
import { searchesHere } from "../commands/search-operands.ts";
import { aboveWildcard, atFront, BUILDING, CHANGES_KNOWN, COPYING, unknownIn } from "./possible-changes.ts";

/** Programs that read only names and attributes of the files that their words name. */
const NAMES_ONLY = new Set(
  (
    "ls cd chdir pushd popd pwd mkdir mkfifo rmdir touch rm unlink shred truncate chmod chown chgrp df du stat find fd tree test [ basename " +
    "dirname realpath readlink echo printf which type true false sleep seq date kill ps export declare local readonly unset set alias exit " +
    "return"
  ).split(" "),
);
/** Programs that print, copy or send the contents of the files that their words name. */
const CONTENTS = new Set(
  (
    "cat tac head tail less more bat nl rev sort uniq cut paste tr wc grep egrep fgrep zgrep rg ag ack sed awk diff cmp comm xxd od hexdump " +
    "strings base64 base32 jq yq cp mv install dd rsync scp tar zip gzip bzip2 xz curl wget openssl ln source . mapfile readarray tee xargs"
  ).split(" "),
);

/**
 * The directories in which a program may read files: those that it names, and those above a pattern or above a word
 * that is unknown until it runs.
 */
export function possiblyReadTrees(command: ProgramCall): Word[] {
  const program = familyOf(command.program);
  const inputs = command.redirects.flatMap(({ operator, target }) => (operator.startsWith("<") ? (target ?? []) : []));
  // git-contents.ts checks what git has stored.
  if (program === "git" || NAMES_ONLY.has(program) || BUILDING.has(program)) return unknownIn(inputs);
  const named = sourcesOf(program, command).filter(({ isDynamic }) => !isDynamic);
  const patterns = CHANGES_KNOWN.has(program) || CONTENTS.has(program) ? [] : named.flatMap(aboveWildcard);
  const here = searchesHere(
    program,
    command.args.map(({ value }) => value),
  )
    ? command.words.slice(0, 1).map(atFront)
    : [];
  return [...named, ...patterns, ...here, ...unknownIn(CONTENTS.has(program) ? [...inputs, ...command.args] : inputs)];
}

/** All words; for a program that copies, all except its target. */
function sourcesOf(program: string, { args }: ProgramCall): Word[] {
  return COPYING.has(program) ? readArguments(args).operands.slice(0, -1) : args;
}

/** Whether a command prints, copies or sends files that its words name. */
export function readsByName(command: ProgramCall): boolean {
  return CONTENTS.has(familyOf(command.program)) && command.args.some(({ value }) => !value.startsWith("-"));
}
