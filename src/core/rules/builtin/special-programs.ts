import { isAbsent, isFile, isQuestion, isSearchable, isTree, type Scene } from "../scene.ts";
import { isBoundedFormat, readArguments } from "./arguments.ts";
import { isFindExpression } from "./find-expression.ts";

type Proof = (words: readonly string[], scene: Scene) => boolean;

const PROGRAM_NAME = /^[A-Za-z0-9_][\w.+-]*$/;
const NUMBER = /^\d{1,9}$/;
const ANY = /^/;

/** Programs whose words have a grammar of their own. */
const SPECIAL = new Map<string, Proof>([
  ["grep", isSearch],
  ["egrep", isSearch],
  ["fgrep", isSearch],
  ["find", isFindExpression],
  ["tree", isPictureOfTree],
  ["printf", isPlainFormat],
  ["sed", isExcerpt],
  ["date", isClock],
  ["test", isFileTest],
  ["[", (words, scene) => words.at(-1) === "]" && isFileTest(words.slice(0, -1), scene)],
  ["which", (words) => words.length > 0 && words.every((word) => word === "-a" || PROGRAM_NAME.test(word))],
  ["type", (words) => words.length > 0 && words.every((word) => /^-[at]$/.test(word) || PROGRAM_NAME.test(word))],
  [
    "command",
    ([option, ...names]) =>
      /^-[vV]$/.test(option ?? "") && names.length > 0 && names.every((word) => PROGRAM_NAME.test(word)),
  ],
]);

export function isSpecialReader(name: string, words: readonly string[], scene: Scene): boolean {
  return SPECIAL.get(name)?.(words, scene) ?? false;
}

const GREP = {
  flags: "rinvwxlLchHoqsEFGPaIb",
  valued: { A: NUMBER, B: NUMBER, C: NUMBER, m: NUMBER, e: ANY, f: ANY },
  long: /^--(?:recursive|ignore-case|line-number|invert-match|word-regexp|line-regexp|files-with-matches|files-without-match|count|no-filename|with-filename|only-matching|quiet|no-messages|extended-regexp|fixed-strings|basic-regexp|perl-regexp|color(?:=(?:auto|always|never))?|(?:max-count|context|after-context|before-context)=\d{1,9}|(?:include|exclude|exclude-dir|regexp)=.*)$/,
  isNumeric: true,
} as const;

/**
 * Claude Code's shell has a `grep` of its own in the place of the usual one (ugrep), which searches the directory
 * where the usual one would wait for input: so without files, that must be harmless too.
 */
function isSearch(words: readonly string[], scene: Scene): boolean {
  const read = readArguments(words, GREP, (word) => isAbsent(word, scene));
  if (!read) return false;
  const { given, operands } = read;
  const patterns = given.get("f") ?? [];
  if (!patterns.every((word) => isFile(word, scene))) return false;
  const hasPattern = patterns.length > 0 || given.has("e") || given.has("--regexp");
  if (!hasPattern && operands.length === 0) return false;
  const places = hasPattern ? operands : operands.slice(1);
  const descends = given.has("r") || given.has("--recursive");
  if (places.length === 0) return (scene.isFed && !descends) || isSearchable(".", scene);
  // With `-r`, ugrep takes `-` for the directory as well.
  return places.every((word) => (descends ? isSearchable(word, scene) : isFile(word, scene)));
}

/** It takes the value of an option from the next word, never from the same. */
function isPictureOfTree(words: readonly string[], scene: Scene): boolean {
  const places: string[] = [];
  for (let at = 0; at < words.length; at++) {
    const word = words[at] ?? "";
    if (word === "-L" && NUMBER.test(words[at + 1] ?? "")) at++;
    else if ((word === "-I" || word === "-P") && words[at + 1] !== undefined) at++;
    else if (/^-[adfpshDCnFi]+$/.test(word) || /^--(?:noreport|dirsfirst|prune)$/.test(word)) continue;
    else if (word.startsWith("-")) return false;
    else places.push(word);
  }
  return (places.length > 0 ? places : ["."]).every((word) => isTree(word, scene));
}

/** Numbers are expressions to some shells, which can run commands; `%n` and `-v` set variables. */
function isPlainFormat([format, ...values]: readonly string[]): boolean {
  if (format === undefined || format.startsWith("-")) return false;
  const rest = format.replaceAll(/%(?:%|-?\d{0,3}[sb])/g, "");
  return !rest.includes("%") && values.length < 1_000;
}

/** Some lines of a file by their numbers: other scripts can run and write. */
function isExcerpt([quiet, script, ...files]: readonly string[], scene: Scene): boolean {
  if (quiet !== "-n" || !/^\d{1,9}(?:,(?:\d{1,9}|\$))?p$/.test(script ?? "")) return false;
  return files.every((word) => !/^-./.test(word) && isFile(word, scene));
}

/** A plain operand would set the clock, and a time zone is a file. */
function isClock(words: readonly string[]): boolean {
  return words.every((word) =>
    word.startsWith("+")
      ? isBoundedFormat(word)
      : /^(?:-u|-R|-I|--utc|--iso-8601(?:=\w+)?|--date=(?!.*TZ).*)$/i.test(word),
  );
}

function isFileTest(words: readonly string[], scene: Scene): boolean {
  const [operator, path, ...rest] = words;
  if (path === undefined || rest.length > 0) return false;
  return /^-[efdsrxLh]$/.test(operator ?? "") && isQuestion(path, scene);
}
