import { type CommandContext, isReadableFile, isReadableTree } from "../command-context.ts";
import { isBoundedFormat } from "./arguments.ts";

const NUMBER = /^\d{1,6}$/;
const SIGNED = /^[-+]?\d{1,9}$/;
const ANY = /^/;
const NAME = /^[\w.-]+$/;

/** Tests of `find` that take one value and only compare; all others can run, write or follow something. */
const TESTS = new Map<string, RegExp>([
  ["-name", ANY],
  ["-iname", ANY],
  ["-path", ANY],
  ["-ipath", ANY],
  ["-wholename", ANY],
  ["-regex", ANY],
  ["-iregex", ANY],
  ["-type", /^[bcdpfls](?:,[bcdpfls])*$/],
  ["-maxdepth", NUMBER],
  ["-mindepth", NUMBER],
  ["-size", /^[-+]?\d{1,12}[bcwkMG]?$/],
  ["-mtime", SIGNED],
  ["-mmin", SIGNED],
  ["-atime", SIGNED],
  ["-amin", SIGNED],
  ["-ctime", SIGNED],
  ["-cmin", SIGNED],
  ["-links", SIGNED],
  ["-perm", /^[-/]?[0-7]{1,4}$/],
  ["-user", NAME],
  ["-group", NAME],
]);
const ALONE = new Set(
  "-print -print0 -ls -prune -quit -empty -true -false -xdev -mount -not -o -or -a -and ! ( )".split(" "),
);

/** Whether `find` with these words only lists files below readable directories. It does not follow links there. */
export function isFindExpression(words: readonly string[], context: CommandContext): boolean {
  const start = words.findIndex((word) => word.startsWith("-") || word === "!" || word === "(");
  const roots = start < 0 ? words : words.slice(0, start);
  if (!(roots.length > 0 ? roots : ["."]).every((word) => isReadableTree(word, context))) return false;
  const expression = start < 0 ? [] : words.slice(start);
  for (let at = 0; at < expression.length; at++) {
    const word = expression[at] ?? "";
    if (ALONE.has(word)) continue;
    const value = expression[++at];
    if (value === undefined) return false;
    if (!isComparison(word, value, context)) return false;
  }
  return true;
}

function isComparison(test: string, value: string, context: CommandContext): boolean {
  if (test === "-newer") return isReadableFile(value, context);
  // `%Y` reveals the target of a link.
  if (test === "-printf") return isBoundedFormat(value) && !/%[^%A-Za-z]*Y/.test(value);
  return TESTS.get(test)?.test(value) ?? false;
}
