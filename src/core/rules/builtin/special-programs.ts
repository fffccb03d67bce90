import {
  type CommandContext,
  isAbsent,
  isReadableFile,
  isReadableTree,
  isSearchable,
  mayTestExistence,
} from "../command-context.ts";
import { isBoundedFormat, readArguments } from "./arguments.ts";
import { isFindExpression } from "./find-expression.ts";

type Proof = (words: readonly string[], context: CommandContext) => boolean;

const PROGRAM_NAME = /^[A-Za-z0-9_][\w.+-]*$/;
const NUMBER = /^\d{1,9}$/;
const ANY = /^/;

/** Programs whose arguments have their own grammar. */
const SPECIAL = new Map<string, Proof>([
  ["grep", isGrep],
  ["egrep", isGrep],
  ["fgrep", isGrep],
  ["find", isFindExpression],
  ["tree", isTreeListing],
  ["printf", isPlainFormat],
  ["sed", isSedExcerpt],
  ["date", isDateQuery],
  ["test", isFileTest],
  ["[", (words, context) => words.at(-1) === "]" && isFileTest(words.slice(0, -1), context)],
  ["which", (words) => words.length > 0 && words.every((word) => word === "-a" || PROGRAM_NAME.test(word))],
  ["type", (words) => words.length > 0 && words.every((word) => /^-[at]$/.test(word) || PROGRAM_NAME.test(word))],
  [
    "command",
    ([option, ...names]) =>
      /^-[vV]$/.test(option ?? "") && names.length > 0 && names.every((word) => PROGRAM_NAME.test(word)),
  ],
]);

/** The names of these programs, for the docs. */
export const SPECIAL_PROGRAMS: readonly string[] = [...SPECIAL.keys()];

export function isSpecialReader(name: string, words: readonly string[], context: CommandContext): boolean {
  return SPECIAL.get(name)?.(words, context) ?? false;
}

const GREP = {
  flags: "rinvwxlLchHoqsEFGPaIb",
  valued: { A: NUMBER, B: NUMBER, C: NUMBER, m: NUMBER, e: ANY, f: ANY },
  long: /^--(?:recursive|ignore-case|line-number|invert-match|word-regexp|line-regexp|files-with-matches|files-without-match|count|no-filename|with-filename|only-matching|quiet|no-messages|extended-regexp|fixed-strings|basic-regexp|perl-regexp|color(?:=(?:auto|always|never))?|(?:max-count|context|after-context|before-context)=\d{1,9}|(?:include|exclude|exclude-dir|regexp)=.*)$/,
  isNumeric: true,
} as const;

/**
 * Claude Code's shell replaces `grep` with ugrep. Without operands, ugrep searches the directory where grep reads its
 * input, so searching the directory must be harmless too.
 */
function isGrep(words: readonly string[], context: CommandContext): boolean {
  const read = readArguments(words, GREP, (word) => isAbsent(word, context));
  if (!read) return false;
  const { given, operands } = read;
  const patterns = given.get("f") ?? [];
  if (!patterns.every((word) => isReadableFile(word, context))) return false;
  const hasPattern = patterns.length > 0 || given.has("e") || given.has("--regexp");
  if (!hasPattern && operands.length === 0) return false;
  const roots = hasPattern ? operands : operands.slice(1);
  const descends = given.has("r") || given.has("--recursive");
  if (roots.length === 0) return (context.hasInput && !descends) || isSearchable(".", context);
  // With `-r`, ugrep reads `-` as the directory too.
  return roots.every((word) => (descends ? isSearchable(word, context) : isReadableFile(word, context)));
}

/** `tree` takes the value of an option from the next word, never from the same one. */
function isTreeListing(words: readonly string[], context: CommandContext): boolean {
  const roots: string[] = [];
  for (let at = 0; at < words.length; at++) {
    const word = words[at] ?? "";
    if (word === "-L" && NUMBER.test(words[at + 1] ?? "")) at++;
    else if ((word === "-I" || word === "-P") && words[at + 1] !== undefined) at++;
    else if (/^-[adfpshDCnFi]+$/.test(word) || /^--(?:noreport|dirsfirst|prune)$/.test(word)) continue;
    else if (word.startsWith("-")) return false;
    else roots.push(word);
  }
  return (roots.length > 0 ? roots : ["."]).every((word) => isReadableTree(word, context));
}

/** Some shells evaluate number formats as expressions, which can run commands; `%n` and `-v` set variables. */
function isPlainFormat([format, ...values]: readonly string[]): boolean {
  if (format === undefined || format.startsWith("-")) return false;
  const rest = format.replaceAll(/%(?:%|-?\d{0,3}[sb])/g, "");
  return !rest.includes("%") && values.length < 1_000;
}

/** Accepts only scripts that print lines by number; other scripts can run commands and write files. */
function isSedExcerpt([quiet, script, ...files]: readonly string[], context: CommandContext): boolean {
  if (quiet !== "-n" || !/^\d{1,9}(?:,(?:\d{1,9}|\$))?p$/.test(script ?? "")) return false;
  return files.every((word) => !/^-./.test(word) && isReadableFile(word, context));
}

/** Accepts only formats and dates: a plain operand would set the clock, and a time zone is read from a file. */
function isDateQuery(words: readonly string[]): boolean {
  return words.every((word) =>
    word.startsWith("+")
      ? isBoundedFormat(word)
      : /^(?:-u|-R|-I|--utc|--iso-8601(?:=\w+)?|--date=(?!.*TZ).*)$/i.test(word),
  );
}

function isFileTest(words: readonly string[], context: CommandContext): boolean {
  const [operator, path, ...rest] = words;
  if (path === undefined || rest.length > 0) return false;
  return /^-[efdsrxLh]$/.test(operator ?? "") && mayTestExistence(path, context);
}
